/* Lines of /proc/PID/mountinfo: what was understood, written with every byte escaped, is understood again.
 * The words of a mount whose data are on a server, and the same text as /proc/PID/mountstats. */
#include "tests/fuzz/fuzz.h"

#include "bench/host/hostinfo_internal.h"
#include "bench/host/network_mount.h"

#include <inttypes.h>
#include <math.h>

static void escape(char *to, const char *word)
{
    for (; *word != '\0'; word++)
        to += sprintf(to, "\\%03o", (unsigned char)*word);
    *to = '\0';
}

/* A word is cut before its escapes are removed, so that only short ones survive being escaped. */
static bool is_short(const char *word, size_t size)
{
    size_t n = strnlen(word, size);
    FUZZ_CHECK(n < size);
    return n > 0 && 4 * n < size;
}

static void check_again(const struct hostinfo_mount *mount)
{
    char words[5][512], line[4096];
    struct hostinfo_mount again;
#define FIELD(name)                                                                                          \
    {                                                                                                        \
        mount->name, again.name, sizeof mount->name                                                          \
    }
    const struct {
        const char *text, *again;
        size_t size;
    } fields[] = {FIELD(mount_point), FIELD(mount_options), FIELD(file_system), FIELD(source),
                  FIELD(super_options)};
#undef FIELD
    for (size_t i = 0; i < 5; i++) {
        if (!is_short(fields[i].text, fields[i].size))
            return;
        escape(words[i], fields[i].text);
    }
    snprintf(line, sizeof(line), "%" PRIu64 " 1 %u:%u / %s %s shared:1 - %s %s %s\n", mount->id,
             mount->major_number, mount->minor_number, words[0], words[1], words[2], words[3], words[4]);
    FUZZ_CHECK(hostinfo_parse_mount(line, &again));
    FUZZ_CHECK(again.id == mount->id && again.major_number == mount->major_number);
    FUZZ_CHECK(again.minor_number == mount->minor_number);
    for (size_t i = 0; i < 5; i++)
        FUZZ_CHECK(strcmp(fields[i].again, fields[i].text) == 0);
}

static void check_server(const struct network_mount *server)
{
    const double numbers[] = {server->read_bytes, server->write_bytes, server->connections,
                              server->attributes_s};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        FUZZ_CHECK(isfinite(numbers[i]) && numbers[i] >= 0);
    FUZZ_CHECK(memchr(server->server, '\0', sizeof(server->server)) != NULL);
    FUZZ_CHECK(memchr(server->layout, '\0', sizeof(server->layout)) != NULL);
}

static void check_stats(const char *text, size_t size)
{
    char path[FUZZ_PATH_SIZE];
    struct network_mount server = {0};
    FILE *file = fuzz_file(path);
    FUZZ_CHECK(fwrite(text, 1, size, file) == size && fflush(file) == 0);
    network_mount_add_stats(path, "/mnt", &server);
    fclose(file);
    check_server(&server);
}

FUZZ_TEXT(line, size)
{
    struct hostinfo_mount mount;
    struct network_mount server;
    check_stats(line, size);
    if (!hostinfo_parse_mount(line, &mount))
        return;
    check_again(&mount);
    network_mount_parse(&mount, &server);
    check_server(&server);
}
