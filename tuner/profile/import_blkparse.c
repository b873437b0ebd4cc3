/* tuner/profile/import_blkparse: what blkparse prints of a block device: "8,0 1 42 0.000123456 1234 D R 2048
 * + 8 [fio]". Requests count when the driver gets them (D), after the kernel has merged them; devices that
 * have no such step (device mapper, loops) count when they are queued (Q). */
#include "tuner/profile/import_feed.h"

#include <errno.h>
#include <string.h>

#define SECTOR 512ULL

struct blkparse {
    bool issues;       /* a D was seen: Q counts no more */
    uint64_t n_queued; /* that counted until then, and come again as a D */
};

struct event {
    char *device, *action, *kind;
    uint64_t time_ns, process, sector, n_sectors;
    bool has_sectors;
};

static bool read_event(char *line, struct event *event)
{
    char *at = line, *cpu, *sequence, *time, *process, *sector, *plus, *n_sectors;
    event->device = import_feed_word(&at);
    cpu = import_feed_word(&at);
    sequence = import_feed_word(&at);
    time = import_feed_word(&at);
    process = import_feed_word(&at);
    event->action = import_feed_word(&at);
    event->kind = import_feed_word(&at);
    if (event->kind == NULL || strchr(event->device, ',') == NULL ||
        !import_feed_number(&cpu, &event->process) || !import_feed_number(&sequence, &event->process) ||
        !import_feed_seconds(&time, &event->time_ns) || !import_feed_number(&process, &event->process))
        return false;
    sector = import_feed_word(&at);
    plus = import_feed_word(&at);
    n_sectors = import_feed_word(&at);
    event->has_sectors = n_sectors != NULL && strcmp(plus, "+") == 0 &&
                         import_feed_number(&sector, &event->sector) &&
                         import_feed_number(&n_sectors, &event->n_sectors) &&
                         event->sector < UINT64_MAX / SECTOR && event->n_sectors < UINT64_MAX / SECTOR;
    return true;
}

static bool is_transfer(const struct event *event)
{
    return strpbrk(event->kind, "RW") != NULL && event->has_sectors && event->n_sectors > 0 &&
           strchr(event->kind, 'D') == NULL;
}

/* A flush stands before the letter of the transfer, or alone; a durable write has an F behind it. */
static void take_event(struct import_feed *feed, const struct event *event)
{
    const char *letter = strpbrk(event->kind, "RW");
    uint64_t file = import_feed_file(feed, event->device, strlen(event->device));
    if (event->kind[0] == 'F')
        import_feed_flush(feed, file, 0);
    if (letter == NULL || !is_transfer(event))
        return;
    bool durable = *letter == 'W' && strchr(letter, 'F') != NULL;
    const struct profile_request request = {.start_ns = event->time_ns,
                                            .file = file,
                                            .handle = (uint32_t)event->process,
                                            .thread = (uint32_t)event->process,
                                            .offset_bytes = event->sector * SECTOR,
                                            .n_bytes = event->n_sectors * SECTOR,
                                            .direction = *letter == 'W' ? PROFILE_WRITE : PROFILE_READ,
                                            .flags = durable ? PROFILE_DURABLE : 0};
    import_feed_begin(feed);
    import_feed_take(feed, &request);
}

/* What blkparse sums up behind the events. */
static bool is_sum(const char *line)
{
    static const char *const words[] = {"CPU",        "Total",  "Reads", "Writes", "Read", "Write",
                                        "Throughput", "Events", "Skips", "IO",     "PC",   "Trace"};
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return true;
    }
    return *line == '\0' || strchr(line, ':') != NULL;
}

static int take_line(struct import_feed *feed, char *line)
{
    struct blkparse *blkparse = feed->state;
    struct event event = {0};
    if (is_sum(line))
        return 0;
    if (!read_event(line, &event))
        return -EINVAL;
    import_feed_time(feed, event.time_ns);
    bool is_issue = strcmp(event.action, "D") == 0, is_queue = strcmp(event.action, "Q") == 0;
    for (; is_issue && blkparse->n_queued > 0; blkparse->n_queued--)
        import_feed_end_at(feed, event.time_ns);
    blkparse->issues = blkparse->issues || is_issue;
    blkparse->n_queued += is_queue && !blkparse->issues && is_transfer(&event);
    if (is_issue || (is_queue && !blkparse->issues))
        take_event(feed, &event);
    if (strcmp(event.action, "C") == 0 && is_transfer(&event))
        import_feed_end_at(feed, event.time_ns);
    return 0;
}

const struct import_format import_blkparse = {
    .name = "blkparse", .state_size = sizeof(struct blkparse), .knows_flushes = true, .take_line = take_line};
