/* tuner/writes/predict: from the options of `predict write` to what the model says. It prints nothing. */
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

/* Refuses options that contradict each other, reads the host, and reads or makes the load. predict_done frees
 * it, also after a failure. 0, -EINVAL, or the errno of what cannot be read. */
int predict_open(struct predict *predict, const struct settings *settings, struct err *err);

/* Asks the model: once as wished, once naively, and, where there are extensions, once without them. */
int predict_run(struct predict *predict, struct err *err);

void predict_done(struct predict *predict);
