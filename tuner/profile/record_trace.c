/* tuner/profile/record_trace: the kernel's records brought into the store while the program runs. */
#include "tuner/profile/record.h"

#include "bench/base/clock.h"
#include "bench/profile/hardware_counters.h"
#include "bench/profile/program.h"
#include "bench/profile/trace.h"
#include "models/profile/store.h"
#include "tuner/base/interrupt.h"
#include "tuner/profile/record_events.h"
#include "tuner/profile/record_memory.h"
#include "tuner/profile/trace_feed.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLL_MS 10 /* the kernel's ring holds some millions of requests a second for so long */

struct tracing {
    struct trace *trace;
    struct trace_feed *feed;
    struct record_events *kept;
    struct record_memory *memory;
    struct hardware_counters *hardware;
    const struct record_options *options;
    uint64_t duration_ns, start_ns;
    bool is_over;
};

static int begin(struct tracing *tracing, struct recording *recording, const struct record_options *options,
                 struct err *err)
{
    tracing->hardware = recording->hardware;
    tracing->feed = calloc(1, sizeof *tracing->feed);
    if (tracing->feed == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int code = trace_open(&tracing->trace, trace_feed_take, tracing->feed, err);
    tracing->options = options;
    /* The loading took its time. */
    tracing->duration_ns = options->duration_ns;
    tracing->start_ns = clock_now_ns(&clock_monotonic);
    if (code == 0)
        code = record_open(recording, options->store_bytes, tracing->start_ns, err);
    tracing->feed->store = recording->store;
    if (code == 0 && options->events != NULL && options->events[0] != '\0')
        code = record_events_open(&tracing->kept, options->events, recording, err);
    tracing->feed->events = record_events_database(tracing->kept);
    if (code == 0 && options->memory)
        code = record_memory_open(&tracing->memory, recording->command[0], tracing->start_ns, err);
    recording->source = "trace";
    recording->knows_calls = recording->knows_flushes = true;
    recording->overhead_share = NAN;
    return code;
}

/* The memory that is shared with the program is no file that it mapped. */
static void leave_out_tables(const struct tracing *tracing, struct trace_counts *counts)
{
    uint64_t bytes, n = record_memory_maps(tracing->memory, &bytes);
    if (counts->maps < n || counts->mapped_bytes / bytes < n)
        return;
    counts->maps -= n;
    counts->mapped_bytes -= n * bytes;
}

static void end(struct tracing *tracing, struct recording *recording)
{
    struct trace_counts counts = {0};
    double seconds = (double)(clock_now_ns(&clock_monotonic) - tracing->start_ns) / 1e9;
    hardware_counters_take(tracing->hardware);
    if (tracing->trace != NULL && tracing->feed->store != NULL) {
        trace_count(tracing->trace, &counts);
        leave_out_tables(tracing, &counts);
        trace_feed_count(tracing->feed, &counts, trace_sees_rings(tracing->trace));
    }
    uint64_t n_lost = record_memory_end(tracing->memory, record_events_sink(tracing->kept));
    record_events_end(tracing->kept, recording, seconds, counts.lost + counts.foreign + n_lost);
    record_memory_close(tracing->memory);
    trace_close(tracing->trace);
    free(tracing->feed);
}

static bool is_time_over(struct tracing *tracing)
{
    tracing->is_over =
        tracing->is_over || (tracing->duration_ns > 0 &&
                             clock_now_ns(&clock_monotonic) - tracing->start_ns >= tracing->duration_ns);
    return tracing->is_over;
}

static void show(struct tracing *tracing)
{
    struct trace_counts counts;
    if (tracing->options->look == NULL)
        return;
    trace_count(tracing->trace, &counts);
    tracing->options->look(tracing->options->look_data, tracing->feed->store, counts.lost + counts.foreign);
}

/* What comes after the time is left in the ring. */
static void look(void *data)
{
    struct tracing *tracing = data;
    if (!tracing->is_over) {
        trace_poll(tracing->trace);
        record_memory_poll(tracing->memory, record_events_sink(tracing->kept));
        record_events_poll(tracing->kept);
    }
    if (is_time_over(tracing)) {
        hardware_counters_take(tracing->hardware);
        __atomic_fetch_or(&tracing->feed->store->is_stopped, STORE_OVER, __ATOMIC_RELAXED);
    }
    show(tracing);
}

int record_trace_program(struct recording *recording, const char *const *command,
                         const struct record_options *options, struct err *err)
{
    struct tracing tracing = {0};
    char path[PATH_MAX];
    recording->command = command;
    int code = program_find_path(command[0], path, sizeof path, err);
    if (code == 0)
        code = begin(&tracing, recording, options, err);
    if (code == 0) {
        trace_follow_children(tracing.trace);
        struct launch launch = {.path = path,
                                .argv = command,
                                .output_to_stderr = options->output_to_stderr,
                                .look = look,
                                .data = &tracing,
                                .poll_ms = POLL_MS,
                                .duration_ns = options->duration_ns,
                                .is_over = &recording->store->is_stopped,
                                .interrupted = &interrupt_signal};
        record_memory_prepare(tracing.memory, &launch);
        hardware_counters_start(tracing.hardware);
        code = launch_run(&launch, &recording->end, err);
        recording->is_part = tracing.is_over;
    }
    end(&tracing, recording);
    return code;
}

static int wait_for(struct tracing *tracing, pid_t pid, struct err *err)
{
    int ended_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (ended_fd < 0)
        return err_sys(err, -errno, "--pid %ld", (long)pid);
    trace_attach(tracing->trace, pid);
    hardware_counters_start(tracing->hardware);
    while (interrupt_wait(ended_fd, POLL_MS) && !tracing->is_over)
        look(tracing);
    look(tracing);
    close(ended_fd);
    return 0;
}

int record_trace_process(struct recording *recording, pid_t pid, const struct record_options *options,
                         struct err *err)
{
    struct tracing tracing = {0};
    recording->pid = pid;
    int code = begin(&tracing, recording, options, err);
    recording->is_part = true;
    if (code == 0) {
        store_count(recording->store, STORE_PROCESSES, 1);
        code = wait_for(&tracing, pid, err);
    }
    end(&tracing, recording);
    return code;
}
