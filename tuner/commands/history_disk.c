/* The file `history=` of nbdkit's plugin, for people and programs. */
#include "tuner/commands/history_disk.h"

#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/nightly/disk_history.h"

#include <errno.h>

static int read_kinds(const char *path, struct disk_history_kind kinds[static KIND_N], struct err *err)
{
    json_t *document = json_read_file(path, err);
    int result = document != NULL ? disk_history_parse(document, kinds) : -EINVAL;
    if (document != NULL && result < 0)
        err_set(err, result,
                "%.200s: it is not what a disk has learnt, or a damaged file; name the one that history= of "
                "nbdkit's plugin names",
                path);
    json_decref(document);
    return result;
}

static json_t *make_document(const struct disk_history_kind kinds[static KIND_N])
{
    char words[DISK_WAYS_TEXT_SIZE];
    json_t *rows = json_array();
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        if (kinds[kind].is_known)
            json_array_append_new(rows, json_pack("{s:s, s:s, s:f}", "kind", kind_name(kind), "setting",
                                                  disk_ways_format(kinds[kind].way, words), "gain",
                                                  kinds[kind].gain));
    }
    return json_pack("{s:s, s:o}", "schema", DISK_HISTORY_FORMAT, "kinds", rows);
}

static void print_table(const struct disk_history_kind kinds[static KIND_N])
{
    char words[DISK_WAYS_TEXT_SIZE];
    unsigned n = 0;
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        if (!kinds[kind].is_known)
            continue;
        if (n++ == 0)
            printf("%-20s  %-24s  %s\n", "load", "setting", "rate over that of the first setting");
        printf("%-20s  %-24s  %.2f\n", kind_name(kind), disk_ways_format(kinds[kind].way, words),
               kinds[kind].gain);
    }
    if (n == 0)
        puts("no kind of load is settled yet");
}

int history_disk_print(const char *path, bool json, struct err *err)
{
    struct disk_history_kind kinds[KIND_N];
    int result = read_kinds(path, kinds, err);
    if (result < 0)
        return result;
    if (json)
        return json_print(stdout, make_document(kinds), err);
    print_table(kinds);
    return text_finish(stdout, err);
}
