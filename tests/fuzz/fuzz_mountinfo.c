/* Lines of /proc/PID/mountinfo: what was understood, written with every byte escaped, is understood again. */
#include "tests/fuzz/fuzz.h"

#include "bench/host/hostinfo_internal.h"

#include <inttypes.h>

static void escape(char *to, const char *word)
{
    for (; *word != '\0'; word++)
        to += sprintf(to, "\\%03o", (unsigned char)*word);
    *to = '\0';
}

/* A word is cut before its escapes are removed, so that only short ones survive being escaped. */
static int is_short(const char *word, size_t size)
{
    size_t n = strnlen(word, size);
    FUZZ_CHECK(n < size);
    return n > 0 && 4 * n < size;
}

#define IS_SHORT(mount, field) is_short((mount)->field, sizeof((mount)->field))

static void check_again(const struct hostinfo_mount *mount)
{
    char words[5][512], line[4096];
    struct hostinfo_mount again;
    int short_words = IS_SHORT(mount, mount_point) + IS_SHORT(mount, mount_options) +
                      IS_SHORT(mount, file_system) + IS_SHORT(mount, source) + IS_SHORT(mount, super_options);
    if (short_words < 5)
        return;
    escape(words[0], mount->mount_point);
    escape(words[1], mount->mount_options);
    escape(words[2], mount->file_system);
    escape(words[3], mount->source);
    escape(words[4], mount->super_options);
    snprintf(line, sizeof(line), "%" PRIu64 " 1 %u:%u / %s %s shared:1 - %s %s %s\n", mount->id,
             mount->major_number, mount->minor_number, words[0], words[1], words[2], words[3], words[4]);
    FUZZ_CHECK(hostinfo_parse_mount(line, &again));
    FUZZ_CHECK(again.id == mount->id && again.major_number == mount->major_number);
    FUZZ_CHECK(again.minor_number == mount->minor_number);
    FUZZ_CHECK(strcmp(again.mount_point, mount->mount_point) == 0);
    FUZZ_CHECK(strcmp(again.mount_options, mount->mount_options) == 0);
    FUZZ_CHECK(strcmp(again.file_system, mount->file_system) == 0);
    FUZZ_CHECK(strcmp(again.source, mount->source) == 0);
    FUZZ_CHECK(strcmp(again.super_options, mount->super_options) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hostinfo_mount mount;
    char *line = fuzz_text(data, size);
    if (hostinfo_parse_mount(line, &mount))
        check_again(&mount);
    free(line);
    return 0;
}
