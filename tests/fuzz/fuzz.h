/* tests/fuzz: what the fuzz targets share. A target is one program with one LLVMFuzzerTestOneInput; a broken
 * promise ends it, and libFuzzer keeps the input. */
#ifndef FSTUNE_TESTS_FUZZ_FUZZ_H
#define FSTUNE_TESTS_FUZZ_FUZZ_H

#include "bench/base/err.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_PATH_SIZE 32

/* The name of what failed in the last line but one of the log. */
#define FUZZ_CHECK(condition) fuzz_check((condition), #condition, __FILE__, __LINE__)

static inline void fuzz_check(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

/* The input as a string of its own allocation, so that reading past its end is seen. The caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* A file that holds the input and has no name; `path` opens it. The caller closes the descriptor. */
static inline int fuzz_file(const void *data, size_t size, char path[FUZZ_PATH_SIZE])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, FUZZ_PATH_SIZE, "/proc/self/fd/%d", fd);
    return fd;
}

/* A failure has a code and one printable line. */
static inline void fuzz_check_error(int code, const struct err *err)
{
    FUZZ_CHECK(code < 0 && err->code == code);
    FUZZ_CHECK(memchr(err->text, '\0', sizeof(err->text)) != NULL && err->text[0] != '\0');
    for (const char *c = err->text; *c != '\0'; c++)
        FUZZ_CHECK(!iscntrl((unsigned char)*c));
}

#endif
