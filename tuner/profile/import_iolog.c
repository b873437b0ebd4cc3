/* tuner/profile/import_iolog: what fio writes with --write_iolog, version 2 or 3. It has no ends, so that the
 * depth stays unknown; version 2 has no times either. */
#include "tuner/profile/import_feed.h"

#include <errno.h>
#include <string.h>

#define US 1000ULL

struct iolog {
    unsigned version; /* 0: the first line was not seen */
    uint32_t handle;
};

static int take_head(struct iolog *iolog, const char *line)
{
    if (strcmp(line, "fio version 2 iolog") == 0)
        iolog->version = 2;
    if (strcmp(line, "fio version 3 iolog") == 0)
        iolog->version = 3;
    return iolog->version != 0 ? 0 : -EINVAL;
}

static bool whole_number(char *word, uint64_t *ret)
{
    return import_feed_number(&word, ret) && *word == '\0';
}

static int take_request(struct import_feed *feed, uint64_t file, enum profile_direction direction, char *rest)
{
    const struct iolog *iolog = feed->state;
    struct profile_request request = {
        .start_ns = feed->now_ns, .file = file, .handle = iolog->handle, .thread = 1, .direction = direction};
    char *offset = import_feed_word(&rest), *length = import_feed_word(&rest);
    if (offset == NULL || length == NULL || !whole_number(offset, &request.offset_bytes) ||
        !whole_number(length, &request.n_bytes))
        return -EINVAL;
    import_feed_take(feed, &request);
    return 0;
}

static int take_action(struct import_feed *feed, uint64_t file, const char *action, char *rest)
{
    static const char *const others[] = {"add", "close", "trim", "wait"};
    struct iolog *iolog = feed->state;
    if (strcmp(action, "read") == 0 || strcmp(action, "write") == 0)
        return take_request(feed, file, action[0] == 'r' ? PROFILE_READ : PROFILE_WRITE, rest);
    if (strcmp(action, "sync") == 0 || strcmp(action, "datasync") == 0)
        import_feed_flush(feed, file, 0);
    else if (strcmp(action, "open") == 0)
        iolog->handle = store_new_handle(feed->store);
    else {
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            if (strcmp(action, others[i]) == 0)
                return 0;
        }
        return -EINVAL;
    }
    return 0;
}

static int take_line(struct import_feed *feed, char *line)
{
    struct iolog *iolog = feed->state;
    uint64_t time_us = 0;
    if (iolog->version == 0)
        return take_head(iolog, line);
    char *at = line, *time = iolog->version == 3 ? import_feed_word(&at) : NULL;
    if (iolog->version == 3 && (time == NULL || !whole_number(time, &time_us) || time_us > UINT64_MAX / US))
        return -EINVAL;
    char *name = import_feed_word(&at), *action = import_feed_word(&at);
    if (name == NULL || action == NULL)
        return -EINVAL;
    import_feed_time(feed, time_us * US);
    return take_action(feed, import_feed_file(feed, name, strlen(name)), action, at);
}

const struct import_format import_iolog = {
    .name = "fio-iolog", .state_size = sizeof(struct iolog), .knows_flushes = true, .take_line = take_line};
