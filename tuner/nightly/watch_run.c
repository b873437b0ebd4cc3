/* The loop of fstune watch. */
#include "tuner/nightly/watch_run.h"

#include "bench/base/clock.h"
#include "bench/host/hostinfo.h"
#include "bench/profile/group.h"
#include "bench/profile/trace.h"
#include "models/profile/store.h"
#include "tuner/base/interrupt.h"
#include "tuner/nightly/watch.h"
#include "tuner/profile/record.h"
#include "tuner/profile/trace_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_MS  50 /* the kernel's ring holds what comes in as long, up to a million requests a second */
#define GROUP_NS 1000000000ULL /* how often a group is asked for new members; their children are known */

struct watching {
    struct watch *watch;
    const struct watch_options *options;
    struct recording recording;
    struct trace *trace;
    struct trace_feed *feed;
    char place[PATH_MAX];                /* the directory, or the group's */
    uint64_t slice_ns, end_ns, group_ns; /* on the monotonic clock: beginning, end of the slice; next look */
    double start_s;                      /* the slice's, since 1970 */
    uint64_t n_lost;
};

static int attach_one(void *data, pid_t pid, struct err *err)
{
    (void)err;
    trace_attach_one(data, pid);
    return 0;
}

/* Of the root directory everything is below "". */
static int attach_directory(struct watching *watching, struct err *err)
{
    unsigned major_number, minor_number;
    const char *directory = watching->options->directory;
    int fd = realpath(directory, watching->place) == NULL
                 ? -1
                 : open(watching->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "--path %.300s", directory);
    int code = hostinfo_find_super(fd, &major_number, &minor_number);
    close(fd);
    if (code < 0)
        return err_set(err, code, "--path %.300s: its mount is not in /proc/self/mountinfo", directory);
    if (strcmp(watching->place, "/") == 0)
        watching->place[0] = '\0';
    watching->feed->below = watching->place;
    return trace_attach_files(watching->trace, major_number, minor_number, err);
}

static int look_at_group(struct watching *watching, uint64_t now_ns, struct err *err)
{
    if (watching->options->group == NULL || now_ns < watching->group_ns)
        return 0;
    watching->group_ns = now_ns + GROUP_NS;
    int code = group_each(watching->place, attach_one, watching->trace, err);
    /* The group of a service goes with it, and comes back when it is started again. */
    return code == -ENOENT ? 0 : code;
}

static void begin_slice(struct watching *watching, uint64_t now_ns)
{
    uint64_t wall_ns = clock_realtime_ns(), length_ns = watching->options->slice_ns;
    watching->slice_ns = now_ns;
    watching->start_s = (double)wall_ns / 1e9;
    watching->end_ns = now_ns + (length_ns - wall_ns % length_ns);
}

static int end_slice(struct watching *watching, uint64_t now_ns, struct err *err)
{
    struct trace_counts counts = {0};
    trace_count(watching->trace, &counts);
    uint64_t n_lost = counts.lost + counts.foreign;
    store_count(watching->recording.store, STORE_LOST_REQUESTS, n_lost - watching->n_lost);
    watching->n_lost = n_lost;
    int code = watch_slice(watching->watch, &watching->recording, watching->start_s,
                           (double)(now_ns - watching->slice_ns) / 1e9, now_ns, err);
    begin_slice(watching, now_ns);
    return code;
}

static int begin(struct watching *watching, struct err *err)
{
    const struct watch_options *options = watching->options;
    watching->feed = calloc(1, sizeof *watching->feed);
    if (watching->feed == NULL)
        return err_set(err, -ENOMEM, "no memory");
    watching->recording = (struct recording){.source = "trace",
                                             .knows_calls = true,
                                             .knows_flushes = true,
                                             .is_part = true,
                                             .overhead_share = NAN};
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    int code = record_open(&watching->recording, options->store_bytes, now_ns, err);
    watching->feed->store = watching->recording.store;
    if (code == 0)
        code = trace_open(&watching->trace, trace_feed_take, watching->feed, err);
    if (code == 0 && options->group != NULL)
        code = group_find(options->group, watching->place, sizeof watching->place, err);
    if (code == 0)
        code =
            options->group != NULL ? look_at_group(watching, now_ns, err) : attach_directory(watching, err);
    begin_slice(watching, now_ns);
    return code;
}

static int go_on(struct watching *watching, struct err *err)
{
    const uint64_t duration_ns = watching->options->duration_ns, start_ns = watching->slice_ns;
    bool is_over = false;
    int code = 0;
    while (code == 0 && !is_over) {
        is_over = !interrupt_wait(-1, POLL_MS);
        uint64_t now_ns = clock_now_ns(&clock_monotonic);
        is_over = is_over || (duration_ns > 0 && now_ns - start_ns >= duration_ns);
        trace_poll(watching->trace);
        code = look_at_group(watching, now_ns, err);
        if (code == 0 && (is_over || now_ns >= watching->end_ns))
            code = end_slice(watching, now_ns, err);
    }
    return code;
}

int watch_run(struct watch *watch, const struct watch_options *options, uint64_t *ret_lost, struct err *err)
{
    struct watching watching = {.watch = watch, .options = options};
    int code = begin(&watching, err);
    if (code == 0)
        code = go_on(&watching, err);
    *ret_lost = watching.n_lost;
    trace_close(watching.trace);
    record_close(&watching.recording);
    free(watching.feed);
    return code;
}
