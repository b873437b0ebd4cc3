/* bench/io/pump: keeps one queue full and records what comes back. One pump per thread; no locks, no
 * allocation while it runs.
 *
 * A phase issues requests until its end condition, then drains the queue. What it counts lies between two
 * completions of each slot of the queue (struct pump_window), or is everything.
 *
 * With a struct verify, blocks are stamped before a write and compared after a read, and a block that is not
 * what was written makes its request a failed one. That work is not timed at depths above 1, but takes the
 * thread's time in any case. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/histogram.h"
#include "bench/base/pattern.h"
#include "bench/base/rng.h"
#include "bench/io/content.h"
#include "bench/io/ioapi.h"
#include "bench/io/offsets.h"
#include "bench/io/pace.h"
#include "bench/io/verify.h"
#include "bench/io/warmup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUMP_N_WINDOWS 128
#define PUMP_SAMPLED_NS                                                                                      \
    2000 /* requests faster than this are sampled: stamping each would cost a noticeable share */

/* Completed bytes by time since the phase began. When the last window is passed, neighbours are merged and
 * the width doubles. */
struct pump_windows {
    uint64_t width_ns;
    size_t n; /* windows begun */
    uint64_t bytes[PUMP_N_WINDOWS];
};

/* Bytes that came back `age_ns` after the beginning; width_ns must be set. */
void pump_windows_add(struct pump_windows *windows, uint64_t age_ns, uint64_t bytes);

/* Adds those of another pump that began at the same time with the same width: windows that both have. */
void pump_windows_merge(struct pump_windows *into, const struct pump_windows *from);

/* What came back. */
struct pump_count {
    uint64_t n_requests;
    uint64_t bytes_read, bytes_written;
    uint64_t n_sampled;        /* latencies recorded: n_requests unless sampled */
    struct histogram *latency; /* owned by the caller */
};

struct pump_stats {
    struct pump_count counted; /* in the windows of slots; without a pump_window, everything */
    struct pump_count
        outside; /* before them and after them; its histogram may be NULL without pump_window and pace */
    /* Sum over the slots of how long each counted. Rate of all pumps: their slots x their counted bytes /
     * their slot_ns. 0 without a pump_window. */
    double slot_ns;
    /* What slots completed until they opened, and the sum of the times that this took them. */
    uint64_t warmup_bytes;
    double warmup_slot_ns;
    uint64_t n_late;    /* of an open loop: requests that were due when it stopped, and had not begun */
    bool windowed;      /* every slot has opened and closed: slot_ns is whole */
    uint64_t start_ns;  /* the phase's beginning, of all pumps that run it together; not after ... */
    uint64_t opened_ns; /* the run's window, which is the phase without a pump_window; 0: never */
    uint64_t first_submit_ns, last_complete_ns;
    double depth_area; /* integral of calls in flight over time, ns; with works_in_submit, calls that submit
                          worked off count one after another */
    double depth_ns;   /* the time it is about: the window's, or from the first submission on */
    bool sampled;      /* requests are under 2 us: a random sample was timed singly */
    struct batch_stats batches; /* sums of latencies of N consecutive completions */
    /* Since the beginning; in a run with a warm-up, since the run's window opened. */
    struct pump_windows windows;
};

/* The window of a run, shared by its pumps. A queue's slot (one of its calls) opens with its first completion
 * after the warm-up and closes with its first one when the run has lasted; queues stay full until all slots
 * have closed. Both moments are ends of a request of the slot, so that the mean of what lies between does not
 * depend on where the requests of other slots are, nor on their number (Wald's identity, docs/statistics.md).
 */
struct pump_window {
    atomic_uint n_to_open, n_to_close; /* slots, of all pumps; both set by the caller to their number */
    atomic_ullong latest_open_ns;      /* of the slots that have opened so far */
    atomic_ullong opened_ns;           /* when the last slot opened; 0: not yet */
    atomic_int
        abandoned; /* a pump has ended without, as by its bytes: the others go on as without a window */
    /* Where other machines have the same window: slots close after this time of the clock, however much was
     * counted, and queues stay full as long again as closing took here, since it may take others longer. 0:
     * nobody else has it. */
    uint64_t close_ns;
    atomic_ullong closed_ns;  /* when the last slot closed; 0: not yet */
    atomic_ullong stopped_ns; /* when the first pump sent its last request; 0: not yet */
};

/* After so long, a run that is closing no longer refills its queues: their requests are so slow that it would
 * cost more than it tells. */
#define PUMP_CLOSING_NS 1000000000ULL

/* Where a limit lets through so much at a time, nothing comes back until its next turn: a gap between two
 * completions of a pump that is at least this, and half its longest so far, is such a pause. A window that
 * begins and ends behind pauses has whole turns in it, and what the limit had saved up is before it. */
#define PUMP_PAUSE_NS 5000000ULL

/* For a timed phase whose batches nobody counts. */
#define PUMP_BATCHES_PER_STAMP 4

/* When a phase stops issuing. All of duration, requests and bytes are floors and caps of this pump alone. */
struct pump_end {
    /* NULL: everything counts, from the first submission to the last completion. */
    struct pump_window *window;
    uint64_t warmup_limit_ns;  /* with a window: no slot opens earlier, unless ... */
    uint64_t warmup_max_bytes; /* ... so much has moved (0: no such condition) ... */
    bool (*is_warm)(void *context, double batch_latency_ns); /* ... or so it says after a batch; or NULL */
    uint64_t duration_ns;   /* stop at this time after the beginning, or close after this in a window ... */
    uint64_t min_requests;  /* ... but not before so many requests, those that close included */
    uint64_t max_bytes;     /* never beyond this; 0: no cap */
    uint64_t pause_wait_ns; /* slots open behind a pause if one comes within this, and close so if there were
                               any; 0: whenever they may */
    /* An open loop: a call begins when it is due, one step of the pace a call, as soon as one of the queue is
     * free, and its latency counts from when it was due. Without a window; what begins before the warm-up's
     * time is over, or its bytes have been issued, counts outside. What was due when the phase stops and has
     * not begun adds to the latencies the time by which it is late. NULL: a call begins when another has come
     * back. */
    const struct pace *pace;
    const atomic_int *interrupted; /* non-zero: stop at once, keep what is done; may be NULL */
    uint64_t start_ns; /* when the phase began, for pumps that run it together; 0: with this pump's first
                          submission */
    /* Called after every batch of N requests; true stops the phase, or closes the window. NULL: no such
     * condition. */
    bool (*after_batch)(void *context, double batch_latency_ns);
    void *context;
    uint32_t batches_per_stamp; /* of requests that are sampled: so many batches end together and share their
                                   time, since a look at the clock costs what can be seen; 0 is 1 */
};

/* Whether the requests of a phase at depth 1 took less than PUMP_SAMPLED_NS on average. */
enum pump_speed { PUMP_SPEED_UNKNOWN, PUMP_SPEED_SLOW, PUMP_SPEED_FAST };

struct pump {
    const struct clock *clock;
    const struct ioapi_ops *ops;
    void *io; /* opened state of ops */
    struct pattern pattern;
    enum pattern_kind only_kind; /* of a pattern that is not a mix, on one file, and nothing is verified; else
                                    PATTERN_N_KINDS */
    struct offsets offsets;
    struct rng rng; /* mix, buffer stamps, latency sampling */
    uint32_t n_calls;
    uint64_t request_size_bytes;
    uint64_t call_bytes[2];   /* of a call that reads, that writes */
    uint64_t most_call_bytes; /* the larger of them */
    uint32_t requests_per_call;
    uint32_t rounds_per_call;
    uint32_t batch_requests; /* N */
    bool works_in_submit;
    const int *fds; /* n_files of them */
    uint32_t n_files;
    uint64_t shift_bytes;
    struct content content;    /* of writes */
    struct verify *verify;     /* what is written and read is checked; NULL: it is not */
    enum pump_speed speed;     /* of the last phase */
    struct io_call *calls;     /* n_calls */
    uint64_t *slots_opened_ns; /* n_calls; of the phase */
    struct io_call **idle;     /* stack of calls not in flight; n_calls */
    struct io_call **ready;    /* prepared but not yet accepted, then reaped; n_calls */
};

struct pump_config {
    const struct clock *clock;
    const struct ioapi_ops *ops;
    struct pattern pattern;
    uint64_t base_bytes, region_bytes; /* part of the file this pump works on */
    const int *fds;                    /* borrowed; NULL: simulated */
    /* Several files: the region is that of a file as long as all of them, whose calls of the larger size
     * are dealt out to the files in turn. */
    uint32_t n_files;     /* 0 is 1 */
    uint64_t shift_bytes; /* added to the offset in each of several files */
    uint32_t n_calls;
    uint64_t request_size_bytes;
    uint64_t write_size_bytes; /* of requests that write; 0: the same. With real buffers, two sizes allow one
                                  request per call */
    uint32_t requests_per_call, rounds_per_call;
    unsigned char *buffers; /* n_calls buffers of the larger size x requests_per_call bytes, touched;
                               borrowed; NULL: simulated */
    uint32_t batch_requests;
    bool works_in_submit;   /* submit may do the I/O itself before it returns: see depth_area */
    struct skew skew;       /* of random requests */
    struct content content; /* of writes; other than plain only of patterns that do not read */
    struct verify *verify;  /* borrowed; NULL without, and with simulated buffers */
    uint64_t seed;
};

/* 0, -ENOMEM, -EINVAL. pump_done accepts a zeroed or half-made pump. */
int pump_init(struct pump *pump, const struct pump_config *config, struct err *err);
void pump_done(struct pump *pump);

/* Runs one phase on the opened API `io`. Statistics are reset, then filled, also on failure. 0, or the
 * negative errno of the first failed or short request with its kind, offset, size and thread-independent
 * text; the queue is drained all the same. */
int pump_phase(struct pump *pump, const struct pump_end *end, struct pump_stats *stats, struct err *err);
