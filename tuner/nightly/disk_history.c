/* The history of a disk, as JSON. */
#include "tuner/nightly/disk_history.h"

#include "tuner/base/replace.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int parse_kind(const json_t *entry, struct disk_history_kind kinds[static KIND_N])
{
    const char *name, *words;
    struct disk_history_kind read = {.is_known = true};
    if (json_unpack((json_t *)(uintptr_t)entry, "{s:s, s:s, s:F}", "kind", &name, "setting", &words, "gain",
                    &read.gain) != 0 ||
        kind_find(name) == KIND_NONE || disk_ways_parse(words, &read.way) < 0 || !isfinite(read.gain) ||
        read.gain <= 0)
        return -EINVAL;
    kinds[kind_find(name)] = read;
    return 0;
}

int disk_history_parse(const json_t *document, struct disk_history_kind ret_kinds[static KIND_N])
{
    struct disk_history_kind found[KIND_N] = {0};
    const char *format = json_string_value(json_object_get(document, "format"));
    const json_t *kinds = json_object_get(document, "kinds");
    if (format == NULL || strcmp(format, DISK_HISTORY_FORMAT) != 0 || !json_is_array(kinds))
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(kinds); i++) {
        if (parse_kind(json_array_get(kinds, i), found) < 0)
            return -EINVAL;
    }
    memcpy(ret_kinds, found, sizeof(found));
    return 0;
}

/* Settings that are not possible here are left out by online. */
static int take(struct disk *disk, const json_t *document)
{
    struct disk_history_kind kinds[KIND_N];
    int code = disk_history_parse(document, kinds);
    for (unsigned kind = 0; kind < KIND_N && code == 0; kind++) {
        struct online_setting setting = disk_ways_to_setting(kinds[kind].way);
        if (kinds[kind].is_known)
            online_remember(&disk->online, kind, &setting, kinds[kind].gain);
    }
    return code;
}

void disk_history_load(struct disk *disk)
{
    const char *path = disk->options.history;
    struct replace_text text = {0};
    struct err err;
    int code = replace_load(path, REPLACE_SHARED, &text, &err);
    if (code == 0 && text.bytes != NULL) {
        json_t *document = json_loadb(text.bytes, text.n, 0, NULL);
        if (document == NULL || take(disk, document) < 0)
            code =
                err_set(&err, -EINVAL,
                        "it is no history of this program, or a damaged one; remove it or give another one");
        json_decref(document);
        free(text.bytes);
    }
    if (code < 0) {
        online_forget(&disk->online);
        disk_say(disk, true, "%s: nothing is kept: %s", path, err.text);
        disk->options.history = NULL;
    }
}

static json_t *make_document(const struct disk *disk)
{
    json_t *kinds = json_array();
    char text[DISK_WAYS_TEXT_SIZE];
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        const struct online_mind *mind = &disk->online.mind[kind];
        if (mind->is_settled &&
            json_array_append_new(kinds, json_pack("{s:s, s:s, s:f}", "kind", kind_name(kind), "setting",
                                                   disk_ways_format(disk_ways_of_setting(&mind->best), text),
                                                   "gain", mind->gain)) != 0) {
            json_decref(kinds);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "format", DISK_HISTORY_FORMAT, "kinds", kinds);
}

char *disk_history_text(const struct disk *disk)
{
    json_t *document = make_document(disk);
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(1)) : NULL;
    json_decref(document);
    return text;
}

void disk_history_save(const struct disk *disk, const char *text)
{
    struct err err;
    const char *path = disk->options.history;
    int code = text != NULL ? replace_file(path, REPLACE_SHARED, text, strlen(text), &err)
                            : err_set(&err, -ENOMEM, "no memory");
    if (code < 0)
        disk_say(disk, true, "%s: the history cannot be written: %s", path, err.text);
}
