/* models/cawl/cawl_advice: how a burst of writes is best written by the model (models/cawl/cawl), and from
 * which size of the burst on another way is. Predicted, never measured.
 *
 * Costs are seconds of writing, without the computing between requests. */
#pragma once

#include "models/cawl/cawl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cawl_advice_way {
    CAWL_ADVICE_BUFFERED, /* into the page cache, and nothing afterwards */
    CAWL_ADVICE_FLUSHED,  /* the same and one fdatasync at the end */
    CAWL_ADVICE_DIRECT,   /* each write past the page cache, and durable */
    CAWL_ADVICE_SYNC,     /* each write through the page cache, and durable */
    CAWL_ADVICE_N_WAYS
};

extern const char *const cawl_advice_names[CAWL_ADVICE_N_WAYS]; /* "buffered", "buffered_flushed", ... */

/* On a host, by the model with these options, both borrowed. */
struct cawl_advice_burst {
    const struct cawl_host *host;
    const struct cawl_options *options;
    uint64_t bytes;         /* > 0 */
    uint64_t request_bytes; /* > 0; the last request may be smaller */
    bool random;            /* requests that pay a seek, where they go to the device one by one */
    double delay_s;         /* computing before each request, >= 0 */
    double interval_s;      /* > 0: bursts like this one come again and again, this time after the end of the
                               one before, and the cost is that of a later one; 0: it is alone */
};

struct cawl_advice_cost {
    double seconds[CAWL_ADVICE_N_WAYS];
    double dirty_bytes; /* what BUFFERED leaves to be written back */
    bool piles_up;      /* with an interval: the device cannot write back one burst before the next is over */
};

/* 0; -EINVAL for what cawl_predict refuses, an interval < 0, or a device with credit (options->burst_bytes);
 * -ENOMEM. Requests are taken together where there are thousands, at the cost of all of them. */
int cawl_advice_cost(const struct cawl_advice_burst *burst, struct cawl_advice_cost *ret);

#define CAWL_ADVICE_MEMO 512

/* Costs of one host, load and options that were worked out before, by the size of the burst; zeroed at first.
 * The first so many are remembered. */
struct cawl_advice_memo {
    size_t n;
    uint64_t bytes[CAWL_ADVICE_MEMO];
    struct cawl_advice_cost cost[CAWL_ADVICE_MEMO];
};

/* As cawl_advice_cost. */
int cawl_advice_remembered(const struct cawl_advice_burst *burst, struct cawl_advice_memo *memo,
                           struct cawl_advice_cost *ret);

/* The next larger size of the grid that crossings are looked for on, and the bytes of whole requests, one at
 * least, up to a size: smaller last ones would make the ways cross in a saw's teeth. */
double cawl_advice_step(double bytes);
uint64_t cawl_advice_whole(const struct cawl_advice_burst *burst, double bytes);

/* A size of the burst at which one way begins or ceases to be so many times as fast as another. */
struct cawl_advice_crossing {
    double bytes;     /* within 1 % */
    bool first_below; /* it is below that size, not above; else the other way round */
};

#define CAWL_ADVICE_MAX_CROSSINGS 8

/* Where the first of two ways begins or ceases to be `lead` (> 0; 1: just faster) times as fast as the
 * second, between two sizes (0 < low < high, burst->bytes does not count), ascending, the first
 * CAWL_ADVICE_MAX_CROSSINGS of them: by bisection between the points of a logarithmic grid of four an octave;
 * what crosses twice between neighbours is not seen, nor are differences under 1 %. Bursts are of whole
 * requests. memo: of this host, load and options. As cawl_advice_cost. */
int cawl_advice_crossings(const struct cawl_advice_burst *burst, enum cawl_advice_way first,
                          enum cawl_advice_way second, double lead, uint64_t low_bytes, uint64_t high_bytes,
                          struct cawl_advice_memo *memo,
                          struct cawl_advice_crossing ret[CAWL_ADVICE_MAX_CROSSINGS], size_t *ret_n);

/* Bytes of a burst alone that are written before its first request leaves free_run; INFINITY when none does
 * up to 64 times the hard limit. As cawl_advice_cost. */
int cawl_advice_free_run(const struct cawl_advice_burst *burst, double *ret_bytes);
