/* The history of a disk, as JSON. */
#include "tuner/nightly/disk_history.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT     "fstune/disk-history/1"
#define MOST_BYTES 65536U
#define PATH_SIZE  4096

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

/* NULL with errno set. */
static json_t *read_document(const char *path)
{
    char *text = NULL;
    size_t n = 0;
    json_t *document = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (file == NULL)
        return NULL;
    text = malloc(MOST_BYTES);
    if (text != NULL)
        n = fread(text, 1, MOST_BYTES, file);
    if (n > 0 && n < MOST_BYTES)
        document = json_loadb(text, n, 0, NULL);
    fclose(file);
    free(text);
    errno = EINVAL;
    return document;
}

void disk_history_load(struct disk *disk)
{
    const char *path = disk->options.history;
    json_t *document = read_document(path);
    if (document == NULL && errno == ENOENT)
        return;
    if (document == NULL || take(disk, document) < 0) {
        online_forget(&disk->online);
        disk_say(disk, true,
                 "%s: is no history of this program, or a damaged one; it stays as it is, and nothing is "
                 "kept: remove it or give another one",
                 path);
        disk->options.history = NULL;
    }
    json_decref(document);
}

static json_t *make_document(const struct disk *disk)
{
    json_t *kinds = json_array();
    char text[DISK_WAYS_TEXT_SIZE];
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        const struct online_mind *mind = &disk->online.mind[kind];
        if (mind->is_settled)
            json_array_append_new(kinds, json_pack("{s:s, s:s, s:f}", "kind", kind_name(kind), "setting",
                                                   disk_ways_format(disk_ways_of_setting(&mind->best), text),
                                                   "gain", mind->gain));
    }
    return json_pack("{s:s, s:o}", "format", FORMAT, "kinds", kinds);
}

static int write_text(const char *path, const char *text, bool durable)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    size_t n = strlen(text);
    ssize_t written = write(fd, text, n);
    int code = written < 0 ? -errno : (size_t)written < n ? -ENOSPC : durable && fsync(fd) != 0 ? -errno : 0;
    close(fd);
    return code;
}

char *disk_history_text(const struct disk *disk)
{
    json_t *document = make_document(disk);
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(1)) : NULL;
    json_decref(document);
    return text;
}

void disk_history_save(const struct disk *disk, const char *text, bool durable)
{
    char beside[PATH_SIZE];
    const char *path = disk->options.history;
    int n = snprintf(beside, sizeof(beside), "%s.new", path);
    int code = text == NULL                           ? -ENOMEM
               : n < 0 || (size_t)n >= sizeof(beside) ? -ENAMETOOLONG
                                                      : write_text(beside, text, durable);
    if (code == 0 && rename(beside, path) != 0)
        code = -errno;
    if (code < 0)
        disk_say(disk, true, "%s: the history cannot be written: %s", path, strerror(-code));
}
