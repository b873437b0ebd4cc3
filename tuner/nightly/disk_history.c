/* The history of a disk, as JSON. */
#include "tuner/nightly/disk_history.h"

#include "tuner/base/replace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned find_kind(void *context, const char *name)
{
    (void)context;
    return kind_find(name);
}

static const char *name_kind(void *context, unsigned kind)
{
    (void)context;
    return kind_name(kind);
}

static int read_way(void *context, const char *words, struct online_setting *ret_setting)
{
    struct image_way way;
    (void)context;
    if (disk_ways_parse(words, &way) < 0)
        return -EINVAL;
    *ret_setting = disk_ways_to_setting(way);
    return 0;
}

static const char *write_way(void *context, const struct online_setting *setting,
                             char buffer[static DISK_HISTORY_SETTING_SIZE])
{
    (void)context;
    return disk_ways_format(disk_ways_of_setting(setting), buffer);
}

static const struct disk_history_words of_disk = {.format = DISK_HISTORY_FORMAT,
                                                  .find_kind = find_kind,
                                                  .name_kind = name_kind,
                                                  .read = read_way,
                                                  .write = write_way};

_Static_assert(DISK_WAYS_TEXT_SIZE <= DISK_HISTORY_SETTING_SIZE, "the words of a way fit");

/* A kind with a setting that is possible here. */
static int read_kind(const struct disk_history_words *words, const json_t *entry, unsigned *ret_kind,
                     struct online_setting *ret_setting, double *ret_gain)
{
    const char *name, *text;
    unsigned kind = KIND_NONE;
    if (json_unpack((json_t *)(uintptr_t)entry, "{s:s, s:s, s:F}", "kind", &name, "setting", &text, "gain",
                    ret_gain) == 0)
        kind = words->find_kind(words->context, name);
    *ret_kind = kind;
    return kind != KIND_NONE && words->read(words->context, text, ret_setting) == 0 && isfinite(*ret_gain) &&
                   *ret_gain > 0
               ? 0
               : -EINVAL;
}

/* NULL: the document is no such history. */
static const json_t *kinds_of(const struct disk_history_words *words, const json_t *document)
{
    const char *format = json_string_value(json_object_get(document, "format"));
    const json_t *kinds = json_object_get(document, "kinds");
    return format != NULL && strcmp(format, words->format) == 0 && json_is_array(kinds) ? kinds : NULL;
}

static int take(const struct disk_history_words *words, struct online *online, const json_t *document)
{
    const json_t *kinds = kinds_of(words, document);
    struct online_setting setting;
    unsigned kind;
    double gain;
    for (size_t i = 0; i < json_array_size(kinds); i++) {
        if (read_kind(words, json_array_get(kinds, i), &kind, &setting, &gain) < 0)
            return -EINVAL;
        online_remember(online, kind, &setting, gain);
    }
    return kinds != NULL ? 0 : -EINVAL;
}

int disk_history_parse(const json_t *document, struct disk_history_kind ret_kinds[static KIND_N])
{
    const json_t *kinds = kinds_of(&of_disk, document);
    struct online_setting setting;
    unsigned kind;
    double gain;
    memset(ret_kinds, 0, KIND_N * sizeof(*ret_kinds));
    for (size_t i = 0; i < json_array_size(kinds); i++) {
        if (read_kind(&of_disk, json_array_get(kinds, i), &kind, &setting, &gain) < 0)
            return -EINVAL;
        ret_kinds[kind] = (struct disk_history_kind){true, disk_ways_of_setting(&setting), gain};
    }
    return kinds != NULL ? 0 : -EINVAL;
}

int disk_history_take(const struct disk_history_words *words, const char *path, struct online *online,
                      struct err *err)
{
    struct replace_text text = {0};
    int code = replace_load(path, REPLACE_SHARED, &text, err);
    if (code < 0 || text.bytes == NULL)
        return code;
    json_t *document = json_loadb(text.bytes, text.n, 0, NULL);
    if (document == NULL || take(words, online, document) < 0) {
        online_forget(online);
        code = err_set(err, -EINVAL,
                       "it is no history of this program, or a damaged one; remove it or give another one");
    }
    json_decref(document);
    free(text.bytes);
    return code;
}

void disk_history_load(struct disk *disk)
{
    const char *path = disk->options.history;
    struct err err;
    if (disk_history_take(&of_disk, path, &disk->online, &err) < 0) {
        disk_say(disk, true, "%s: nothing is kept: %s", path, err.text);
        disk->options.history = NULL;
    }
}

static json_t *make_document(const struct disk_history_words *words, const struct online *online)
{
    json_t *kinds = json_array();
    char text[DISK_HISTORY_SETTING_SIZE];
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        const struct online_mind *mind = &online->mind[kind];
        if (mind->is_settled &&
            json_array_append_new(
                kinds, json_pack("{s:s, s:s, s:f}", "kind", words->name_kind(words->context, kind), "setting",
                                 words->write(words->context, &mind->best, text), "gain", mind->gain)) != 0) {
            json_decref(kinds);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "format", words->format, "kinds", kinds);
}

char *disk_history_make(const struct disk_history_words *words, const struct online *online)
{
    json_t *document = make_document(words, online);
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(1)) : NULL;
    json_decref(document);
    return text;
}

char *disk_history_text(const struct disk *disk)
{
    return disk_history_make(&of_disk, &disk->online);
}

int disk_history_put(const char *path, const char *text, struct err *err)
{
    return text != NULL ? replace_file(path, REPLACE_SHARED, text, strlen(text), err)
                        : err_set(err, -ENOMEM, "no memory");
}

void disk_history_save(const struct disk *disk, const char *text)
{
    struct err err;
    const char *path = disk->options.history;
    if (disk_history_put(path, text, &err) < 0)
        disk_say(disk, true, "%s: the history cannot be written: %s", path, err.text);
}
