/* tests/fuzz: what the fuzz targets share. A target is one program with one LLVMFuzzerTestOneInput; a broken
 * promise ends it, and libFuzzer keeps the input. */
#pragma once

#include "bench/base/err.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
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

/* A file without a name, to be written, flushed, opened at `path` and read. The caller closes it. */
static inline FILE *fuzz_file(char path[FUZZ_PATH_SIZE])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    FUZZ_CHECK(file != NULL);
    snprintf(path, FUZZ_PATH_SIZE, "/proc/self/fd/%d", fd);
    return file;
}

/* What a function that is tested leaves its line in. */
static struct err fuzz_err;

/* Whether the function that returned this code has refused. Then it has left one printable line. */
static inline bool fuzz_refused(int code)
{
    struct err err = fuzz_err;
    fuzz_err = (struct err){0};
    FUZZ_CHECK(code <= 0);
    if (code == 0)
        return false;
    FUZZ_CHECK(err.code == code);
    FUZZ_CHECK(memchr(err.text, '\0', sizeof err.text) != NULL && err.text[0] != '\0');
    for (const char *c = err.text; *c != '\0'; c++)
        FUZZ_CHECK(!iscntrl((unsigned char)*c));
    return true;
}

/* A target that takes its input as a string: FUZZ_TEXT(text, size) { ... }. */
#define FUZZ_TEXT(text, size)                                                                                \
    static void fuzz_one(char *text, size_t size);                                                           \
    int LLVMFuzzerTestOneInput(const uint8_t *fuzz_data, size_t fuzz_size)                                   \
    {                                                                                                        \
        char *fuzz_input = fuzz_text(fuzz_data, fuzz_size);                                                  \
        fuzz_one(fuzz_input, fuzz_size);                                                                     \
        free(fuzz_input);                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    static void fuzz_one(char *text, __attribute__((unused)) size_t size)

/* A target that takes its input as a file: FUZZ_FILE(path) { ... }. */
#define FUZZ_FILE(path)                                                                                      \
    static void fuzz_one(const char *path);                                                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *fuzz_data, size_t fuzz_size)                                   \
    {                                                                                                        \
        char fuzz_path[FUZZ_PATH_SIZE];                                                                      \
        FILE *fuzz_input = fuzz_file(fuzz_path);                                                             \
        FUZZ_CHECK(fwrite(fuzz_data, 1, fuzz_size, fuzz_input) == fuzz_size && fflush(fuzz_input) == 0);     \
        fuzz_one(fuzz_path);                                                                                 \
        fclose(fuzz_input);                                                                                  \
        return 0;                                                                                            \
    }                                                                                                        \
    static void fuzz_one(const char *path)
