/* The history of a disk, as JSON. */
#include "tuner/nightly/disk_history.h"

#include "tuner/base/replace.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "fstune/disk-history/1"

/* A kind with a setting that is possible here; others are left out. */
static int take_kind(struct disk *disk, const json_t *entry)
{
    const char *name, *words;
    double gain;
    struct image_way way;
    if (json_unpack((json_t *)(uintptr_t)entry, "{s:s, s:s, s:F}", "kind", &name, "setting", &words, "gain",
                    &gain) != 0 ||
        kind_find(name) == KIND_NONE || disk_ways_parse(words, &way) < 0 || !isfinite(gain) || gain <= 0)
        return -EINVAL;
    struct online_setting setting = disk_ways_to_setting(way);
    online_remember(&disk->online, kind_find(name), &setting, gain);
    return 0;
}

static int take(struct disk *disk, const json_t *document)
{
    const char *format = json_string_value(json_object_get(document, "format"));
    const json_t *kinds = json_object_get(document, "kinds");
    if (format == NULL || strcmp(format, FORMAT) != 0 || !json_is_array(kinds))
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(kinds); i++) {
        if (take_kind(disk, json_array_get(kinds, i)) < 0)
            return -EINVAL;
    }
    return 0;
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
    return json_pack("{s:s, s:o}", "format", FORMAT, "kinds", kinds);
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
