/* Readers of /proc and /sys: one line, its number, escapes, lists, and files of "name: value". */
#include "tests/fuzz/fuzz.h"

#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <math.h>

static void check_line(const char *path)
{
    char whole[600], cut[9];
    memset(cut, 'x', sizeof(cut));
    int code = procfs_read_line(path, whole, sizeof(whole));
    FUZZ_CHECK(code == 0 || code == -ENODATA);
    if (code == 0)
        FUZZ_CHECK(whole[0] != '\0' && strchr(whole, '\n') == NULL && strlen(whole) < 512);
    FUZZ_CHECK(procfs_read_line(path, cut, 8) == code && cut[8] == 'x');
    if (code == 0)
        FUZZ_CHECK(strlen(cut) <= 7 && strncmp(whole, cut, strlen(cut)) == 0);
}

static void check_numbers(const char *path)
{
    double number = NAN;
    int code = procfs_read_number(path, &number);
    FUZZ_CHECK(code == 0 || code == -EINVAL || code == -ENODATA);
    FUZZ_CHECK(code == 0 ? isfinite(number) : isnan(number));
    number = NAN;
    code = hostinfo_scan(path, "MemFree", &number);
    FUZZ_CHECK(code == 0 || code == -ENOENT);
    FUZZ_CHECK(code == 0 ? isfinite(number) : isnan(number));
}

static void check_words(char *text)
{
    char *end = strchr(text, '\n');
    const char *word = end != NULL ? end + 1 : "rw";
    if (end != NULL)
        *end = '\0';
    if (procfs_list_has(text, word))
        FUZZ_CHECK(strstr(text, word) != NULL && strchr(word, ',') == NULL);
    size_t length = strlen(text);
    procfs_unescape(text);
    FUZZ_CHECK(strlen(text) <= length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_SIZE];
    char *text = fuzz_text(data, size);
    FILE *file = fuzz_file(path);
    FUZZ_CHECK(fwrite(data, 1, size, file) == size && fflush(file) == 0);
    check_line(path);
    check_numbers(path);
    check_words(text);
    fclose(file);
    free(text);
    return 0;
}
