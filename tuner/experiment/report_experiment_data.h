/* tuner/experiment/report_experiment_data: the document of an experiment as numbers, for
 * tuner/experiment/report_experiment*. */
#pragma once

#include "bench/base/err.h"
#include "models/statistics/anova.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define REPORT_MAX_FACTORS ANOVA_MAX_FACTORS
#define REPORT_MAX_LEVELS  256
#define REPORT_NO_FACTOR   SIZE_MAX

/* All texts and JSON values are borrowed from the document. Names and texts of levels are printable. */
struct report_factor {
    const char *name, *unit;
    size_t n_levels;
    const json_t *level[REPORT_MAX_LEVELS]; /* a number or a text */
    const char *text[REPORT_MAX_LEVELS];    /* as people write it: "64k" */
};

struct report_point {
    size_t level[REPORT_MAX_FACTORS];                  /* of each factor */
    double mean_bps, ci_low_bps, ci_high_bps, std_bps; /* NaN: not known */
    double iops, latency_mean_ns, latency_p99_ns;      /* NaN: not known */
    size_t replays;                                    /* 0: not known */
    const char *failed;                                /* why, or NULL */
    bool measured;                                     /* has a mean above 0, and did not fail */
    bool trusted;                                      /* nothing disqualifies it */
    bool counts;                                       /* both */
    size_t first_run, n_runs;                          /* into `runs` */
};

/* What is known of a run, by its name in the document and in tables. */
enum report_figure { REPORT_BPS, REPORT_N_FIGURES = 7 };
extern const char *const report_figure_names[REPORT_N_FIGURES];

/* NaN: not known. */
struct report_run {
    size_t point;
    double number; /* in the order of execution */
    double figures[REPORT_N_FIGURES];
};

struct report_data {
    const json_t *document;
    double confidence_share, tolerance_share;
    size_t n_factors, n_points, n_runs;
    struct report_factor factors[REPORT_MAX_FACTORS];
    struct report_point *points; /* in the document's order; owned */
    size_t *order;               /* of the points, by their levels, the last factor fastest; owned */
    struct report_run *runs;     /* by point; owned */
};

/* 0; -EINVAL: no document of an experiment, damaged, or with more factors or levels than the limits above;
 * -ENOMEM. After a failure data is empty; report_experiment_data_done accepts that. */
int report_experiment_data_read(struct report_data *data, const json_t *document, struct err *err);
void report_experiment_data_done(struct report_data *data);

/* The level of a factor at a point, whether it is varied or fixed; NULL where the document does not say. */
const json_t *report_experiment_data_level(const struct report_data *data, size_t point, const char *factor);

/* The first other factor whose level decides this one's at every point, but not the other way round;
 * REPORT_NO_FACTOR where there is none. */
size_t report_experiment_data_leader(const struct report_data *data, size_t factor);

/* ---- tables for spreadsheets (RFC 4180, tuner/base/csv) ---- */

/* A line for each run in the order of execution: number, point, the varied and the fixed factors (sizes in
 * bytes), figures. 0; -ENODATA: the document has no single runs; -ENOMEM. */
int report_experiment_csv_long(FILE *out, const struct report_data *data, struct err *err);

/* A line for each point, by levels: factors, figures, then the throughput of each replay in a column. */
void report_experiment_csv_wide(FILE *out, const struct report_data *data);

/* Means in bytes per second: levels of the first factor down, of the second across. Factors that
 * another one decides (as psync and pvec can follow from the depth) do not count. 0; -EINVAL: other than two
 * factors are varied; -ENOMEM. */
int report_experiment_csv_matrix(FILE *out, const struct report_data *data, struct err *err);
