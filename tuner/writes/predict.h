/* tuner/writes/predict: from the options of `predict write` to what the model says. Nothing is printed here.
 */
#pragma once

#include "bench/base/err.h"
#include "models/cawl/cawl.h"
#include "tuner/options/settings.h"
#include "tuner/writes/host_file.h"
#include "tuner/writes/write_load.h"

#include <stdbool.h>
#include <stdint.h>

struct predict {
    const struct settings *settings;
    struct host_file host;
    enum cawl_mode mode;
    struct cawl_options options;
    bool extended; /* some option goes beyond the paper's model */
    uint64_t seed; /* of random writes */
    struct write_load load;
    struct cawl_prediction prediction;
    double naive_total_s, plain_total_s; /* of the same load; plain: without the extensions */
};

/* Refuses options that contradict each other or mean nothing here. 0 or -EINVAL with one line. */
int predict_check(const struct settings *settings, struct err *err);

/* Reads the host, and reads or makes the load. predict_done frees it, also after a failure. 0, -EINVAL, or
 * the errno of what cannot be read. */
int predict_open(struct predict *predict, const struct settings *settings, struct err *err);

/* Asks the model: once as wished, once naively, and, where there are extensions, once without them. */
int predict_run(struct predict *predict, struct err *err);

void predict_done(struct predict *predict);

/* What passed in one state. */
struct predict_state {
    size_t n_writes, n_times; /* entered so often */
    uint64_t bytes;
    double cost_s;
};

/* Sums of every state; all 0 in modes without a page cache. */
void predict_states(const struct predict *predict, struct predict_state ret_states[CAWL_N_RUNS]);

/* The largest of prediction.dirty_bytes and left_bytes, 0 without writes. */
double predict_dirty_peak(const struct cawl_prediction *prediction);

/* The state of chunk i; cursor, 0 at first, remembers the place while i ascends. NULL in modes without a page
 * cache. */
const char *predict_state_name(const struct cawl_prediction *prediction, size_t i, size_t *cursor);
