/* tuner/writes/write_advice: what the model alone says about a burst of writes, for `advise write`:
 * predicted, never measured. */
#pragma once

#include "bench/base/err.h"
#include "models/cawl/cawl_advice.h"
#include "tuner/options/settings.h"
#include "tuner/picture/plot.h"
#include "tuner/writes/host_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define WRITE_ADVICE_MAX_POINTS 256
#define WRITE_ADVICE_LINE_SIZE  1024

/* The first way need not lose to have no point any more: beyond some size its lead is not worth a word. */
#define WRITE_ADVICE_CLEAR_LEAD 1.1

/* Of a way with direct writes. */
struct write_advice_crossings {
    enum cawl_advice_way first;
    struct cawl_advice_crossing at[CAWL_ADVICE_MAX_CROSSINGS]; /* where one becomes the faster one */
    size_t n;
    struct cawl_advice_crossing clear[CAWL_ADVICE_MAX_CROSSINGS]; /* the first has WRITE_ADVICE_CLEAR_LEAD */
    size_t n_clear;
};

struct write_advice {
    const struct settings *settings; /* borrowed */
    const struct host_file *host;    /* borrowed */
    struct cawl_options options;
    struct cawl_advice_burst burst;
    struct cawl_advice_cost cost;
    bool has_untouched; /* the host file knows memory that nobody has touched yet */
    struct cawl_advice_cost untouched;
    double free_run_bytes;                      /* INFINITY: no limit */
    struct write_advice_crossings crossings[2]; /* of buffered and of flushed */
    double low_bytes, high_bytes;               /* of the burst, where crossings were looked for */
    struct cawl_advice_memo memo;
    size_t n_points; /* of the curve over the burst's size, ascending */
    double bytes[WRITE_ADVICE_MAX_POINTS];
    struct cawl_advice_cost curve[WRITE_ADVICE_MAX_POINTS];
};

/* Reads the host file and calculates. -EINVAL with one line where an option is missing or does not fit, or
 * the errno of the file. ret_host is filled, and borrowed by ret. */
int write_advice_make(const struct settings *settings, struct host_file *ret_host, struct write_advice *ret,
                      struct err *err);

/* "fstune/write-advice/1"; NULL when memory ran out. */
json_t *write_advice_json(const struct write_advice *advice);
json_t *write_advice_crossings_json(const struct write_advice_crossings *crossings);
void write_advice_text(FILE *out, const struct write_advice *advice);

/* The script for gnuplot of a picture: rates of the ways over the size of the burst. */
int write_advice_draw(FILE *script, const struct plot_request *request, const void *advice, struct err *err);

/* Finds the crossings; as cawl_advice_crossings. */
int write_advice_find(const struct cawl_advice_burst *burst, enum cawl_advice_way first,
                      struct cawl_advice_memo *memo, struct write_advice_crossings *ret);

/* "buffered is 2.40 times as fast as direct for a burst of 500 MB, and the faster one up to about 3.1 GB per
 * burst; beyond, direct": of the crossings of two ways, all of them, and of their costs at some size of the
 * burst. A buffer of WRITE_ADVICE_LINE_SIZE. */
void write_advice_line(const struct write_advice_crossings *crossings, const struct cawl_advice_burst *burst,
                       const struct cawl_advice_cost *cost, char *text, size_t size);

/* What a way is called in a sentence. */
extern const char *const write_advice_words[CAWL_ADVICE_N_WAYS];
