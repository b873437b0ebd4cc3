/* fstune emit udev: what in the way of the setting was recorded, and which disks can be set. */
#include "tuner/emit/snippet_template.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define READ_AHEAD_MOST_KB 8192U
#define NR_REQUESTS_MOST   2048U /* block/blk-mq: what a scheduler takes at most */
#define KIB(bytes)         (((bytes) + 1023) / 1024)

/* How names of devices begin whose queue is not a disk's, and what these devices are. */
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

/* The value that was in force, "" where it was not recorded; and whether the wanted one is larger. */
static double set_limit(struct snippet_template *run, const char *attribute, uint64_t wanted)
{
    double in_force = recommendation_fact_number(run->request->recommendation, attribute);
    char name[64];
    snippet_value(run, attribute, "%s", "");
    if (in_force >= 0)
        snippet_value(run, attribute, "%.0f", in_force);
    snprintf(name, sizeof name, "%s_is_low", attribute);
    snippet_value(run, name, "%d", (double)wanted > in_force);
    return in_force;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int snippet_own_udev(struct snippet_template *run)
{
    const struct recommendation *recommendation = run->request->recommendation;
    const struct point *point = &recommendation->point;
    const char *device = recommendation_fact_text(recommendation, "device_whole"),
               *scheduler = recommendation_fact_text(recommendation, "scheduler");
    int result = check_device(recommendation, device, run->err);
    if (result < 0)
        return result;
    uint64_t ahead = least_of(KIB(point->request_size_bytes * point->queue_depth), READ_AHEAD_MOST_KB);
    uint64_t size = KIB(factors_largest_size_bytes(point)),
             depth = (uint64_t)point->queue_depth * point->threads;
    double most = recommendation_fact_number(recommendation, "max_hw_sectors_kb");
    double in_force = set_limit(run, "max_sectors_kb", size), n = 0;
    set_limit(run, "read_ahead_kb", ahead);
    n = set_limit(run, "nr_requests", depth);
    snippet_value(run, "disk", "%s", device);
    snippet_value(run, "scheduler", "%s", scheduler != NULL ? scheduler : "");
    snippet_value(run, "wanted_ahead", "%" PRIu64, ahead);
    snippet_value(run, "wanted_size", "%" PRIu64, size);
    snippet_value(run, "wanted_depth", "%" PRIu64, least_of(depth, NR_REQUESTS_MOST));
    snippet_value(run, "depth_can_grow", "%d", (double)least_of(depth, NR_REQUESTS_MOST) > n);
    snippet_value(run, "hardware_kb", "%s", "");
    if (most >= 1)
        snippet_value(run, "hardware_kb", "%.0f", most);
    snippet_value(run, "size_can_grow", "%d", most > in_force);
    snippet_value(run, "cut_size", "%" PRIu64, (double)size > most ? (uint64_t)most : size);
    return 0;
}
