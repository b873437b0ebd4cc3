/* fstune emit udev: limits of the disk's queue that stand in the measured setting's way.
 *
 * A rule is written only where the value in force was recorded and is too low. Meanings of the attributes:
 * Linux, Documentation/ABI/stable/sysfs-block. */
#include "tuner/emit/snippet.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define READ_AHEAD_MOST_KB 8192U
#define NR_REQUESTS_MOST   2048U /* block/blk-mq: what a scheduler takes at most */
#define MAX_RULES          3
#define KIB(bytes)         (((bytes) + 1023) / 1024)

struct rule {
    const char *attribute;
    uint64_t value;
};

struct rules {
    size_t n;
    struct rule rule[MAX_RULES];
};

/* Names of devices whose queue is not a disk's: begin, and what they are. */
static const char *const stacked[][2] = {
    {"dm-", "a mapped device (LVM, LUKS)"}, {"md", "a software RAID"},   {"loop", "a loop device"},
    {"zram", "compressed memory"},          {"ram", "memory"},           {"bcache", "a cache device"},
    {"drbd", "a replicated device"},        {"nbd", "a network device"}, {"rbd", "a network device"},
};

static int check_device(const struct recommendation *recommendation, const char *device, struct err *err)
{
    if (recommendation->simulated)
        return err_set(err, -EINVAL,
                       "the answer comes from a simulated surface, which has no disk; measure one");
    if (device == NULL || device[0] == '\0')
        return err_set(err, -EINVAL, "the answer names no disk below %s, so there is no queue to set",
                       recommendation->file_system[0] != '\0' ? recommendation->file_system
                                                              : "the file system");
    for (const char *c = device; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr("-_.", *c) == NULL)
            return err_set(err, -EINVAL, "the disk's name holds '%c', which a rule would read as a pattern",
                           isprint((unsigned char)*c) ? *c : '?');
    }
    for (size_t i = 0; i < sizeof stacked / sizeof stacked[0]; i++) {
        if (strncmp(device, stacked[i][0], strlen(stacked[i][0])) == 0)
            return err_set(
                err, -EINVAL,
                "%.60s is %s: its limits come from what lies below; set those of the disks by hand", device,
                stacked[i][1]);
    }
    return 0;
}

static void add_rule(struct rules *rules, const char *attribute, uint64_t value)
{
    rules->rule[rules->n++] = (struct rule){attribute, value};
}

/* NaN and negative values are "not recorded". */
static bool is_recorded(struct snippet_writer *writer, const char *attribute, double in_force)
{
    if (in_force >= 0)
        return true;
    snippet_comment(writer, "%s: the value in force was not recorded, so there is no rule for it", attribute);
    return false;
}

/* Buffered sequential reads: the kernel reads ahead in the place of the requests in flight. */
static void judge_read_ahead(struct snippet_writer *writer, const struct recommendation *recommendation,
                             struct rules *rules)
{
    const struct point *point = &recommendation->point;
    double in_force = recommendation_fact_number(recommendation, "read_ahead_kb");
    if (point->direct || recommendation->pattern.percent[PATTERN_SEQ_READ] == 0 ||
        !is_recorded(writer, "read_ahead_kb", in_force))
        return;
    if (strcmp(recommendation->file_system, "btrfs") == 0) {
        snippet_comment(writer,
                        "read_ahead_kb: no rule, because btrfs has one of its own (/sys/class/bdi/btrfs-*) "
                        "and does not look at the disk's");
        return;
    }
    uint64_t wanted = KIB(point->request_size_bytes * point->queue_depth);
    if (wanted > READ_AHEAD_MOST_KB)
        wanted = READ_AHEAD_MOST_KB;
    if ((double)wanted <= in_force)
        return;
    snippet_comment(
        writer,
        "read_ahead_kb: %.0f was in force; %" PRIu64 " covers what was best in flight%s. It acts on "
        "buffered reads only, and takes memory for every file that is read in order",
        in_force, wanted, wanted == READ_AHEAD_MOST_KB ? ", or 8 MiB, the most that is advised" : "");
    add_rule(rules, "read_ahead_kb", wanted);
}

/* Direct requests reach the disk as they are; of buffered ones the page cache makes others. */
static void judge_request(struct snippet_writer *writer, const struct recommendation *recommendation,
                          struct rules *rules)
{
    uint64_t wanted = KIB(factors_largest_size_bytes(&recommendation->point));
    double in_force = recommendation_fact_number(recommendation, "max_sectors_kb");
    double most = recommendation_fact_number(recommendation, "max_hw_sectors_kb");
    if (!recommendation->point.direct || !is_recorded(writer, "max_sectors_kb", in_force) ||
        (double)wanted <= in_force)
        return;
    if (!(most >= 1)) {
        snippet_comment(writer,
                        "max_sectors_kb: %.0f was in force and splits requests of %" PRIu64
                        " KiB; the hardware's limit was not recorded, so there is no rule: see "
                        "queue/max_hw_sectors_kb",
                        in_force, wanted);
        return;
    }
    if (most <= in_force) {
        snippet_comment(writer,
                        "max_sectors_kb: %.0f is the hardware's limit; requests of %" PRIu64
                        " KiB are split, and were when this was measured",
                        in_force, wanted);
        return;
    }
    if ((double)wanted > most)
        wanted = (uint64_t)most;
    snippet_comment(writer,
                    "max_sectors_kb: %.0f was in force and splits the requests; the hardware takes %.0f",
                    in_force, most);
    add_rule(rules, "max_sectors_kb", wanted);
}

static void judge_depth(struct snippet_writer *writer, const struct recommendation *recommendation,
                        struct rules *rules)
{
    const struct point *point = &recommendation->point;
    const char *scheduler = recommendation_fact_text(recommendation, "scheduler");
    uint64_t wanted = (uint64_t)point->queue_depth * point->threads;
    double in_force = recommendation_fact_number(recommendation, "nr_requests");
    if (!point->direct && !pattern_reads(&recommendation->pattern))
        return;
    if (!is_recorded(writer, "nr_requests", in_force) || (double)wanted <= in_force)
        return;
    if (scheduler == NULL || strcmp(scheduler, "none") == 0) {
        snippet_comment(writer,
                        "nr_requests: %.0f is less than the %" PRIu64
                        " in flight, but without a scheduler the hardware's tags are the limit: no rule",
                        in_force, wanted);
        return;
    }
    if (wanted > NR_REQUESTS_MOST)
        wanted = NR_REQUESTS_MOST;
    if ((double)wanted <= in_force)
        return;
    snippet_comment(writer,
                    "nr_requests: %.0f was in force, fewer than were in flight. It counts reads and writes "
                    "apart, and a scheduler set later puts its own value",
                    in_force);
    add_rule(rules, "nr_requests", wanted);
}

static void print_rules(struct snippet_writer *writer, const char *device, const struct rules *rules)
{
    snippet_comment(writer, "measured with the values in force: measure again once these are");
    snippet_comment(writer,
                    "a name such as %s can move to another disk at the next boot; ENV{ID_SERIAL} in the "
                    "place of KERNEL is safer",
                    device);
    fprintf(writer->out, "ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"%s\"", device);
    for (size_t i = 0; i < rules->n; i++)
        fprintf(writer->out, ", ATTR{queue/%s}=\"%" PRIu64 "\"", rules->rule[i].attribute,
                rules->rule[i].value);
    fputc('\n', writer->out);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    const struct recommendation *recommendation = request->recommendation;
    const char *device = recommendation_fact_text(recommendation, "device_whole");
    const char *scheduler = recommendation_fact_text(recommendation, "scheduler");
    struct rules rules = {0};
    int result = check_device(recommendation, device, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    snippet_comment(writer,
                    "goes to /etc/udev/rules.d/99-fstune.rules; udevadm control --reload; udevadm trigger "
                    "/sys/block/%s",
                    device);
    snippet_comment(writer, "not mapped: request size, queue depth, direct, API, threads - set them in the "
                            "application; a queue's values only stop being in their way");
    snippet_comment(writer, "scheduler: %s was in force; schedulers were not compared, so there is no rule",
                    scheduler != NULL ? scheduler : "not known which");
    judge_read_ahead(writer, recommendation, &rules);
    judge_request(writer, recommendation, &rules);
    judge_depth(writer, recommendation, &rules);
    if (rules.n == 0)
        snippet_comment(writer, "nothing needs a rule: no recorded value stands in the setting's way");
    else
        print_rules(writer, device, &rules);
    return 0;
}

const struct snippet_ops snippet_udev = {
    .name = "udev",
    .title = "a udev rule for limits of the disk's queue that are in the way",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_PARTLY,
    .queue_depth = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_ALL,
    .hint = "udevadm verify FILE (systemd 254 and later), or udevadm test /sys/block/DISK",
    .emit = emit,
};
