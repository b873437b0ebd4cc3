/* tuner/impact/atoms_figures: what the atomic tests say of a machine, measured here or read from a file. */
#pragma once

#include "bench/atoms/atoms.h"
#include "bench/base/err.h"
#include "models/impact/atomic.h"
#include "tuner/options/settings.h"

#include <jansson.h>
#include <stddef.h>

#define ATOMS_NAME_SIZE    40
#define ATOMS_TEXT_SIZE    160
#define ATOMS_NARROW_SHARE 0.05 /* of the median: half of an interval that is narrow enough */

enum atoms_status { ATOMS_MEASURED, ATOMS_UNRESOLVED, ATOMS_NOT_HERE, ATOMS_NOT_LINEAR, ATOMS_N_STATUS };

/* "measured", "unresolved", "not here", "not linear": as in JSON. */
extern const char *const atoms_status_names[ATOMS_N_STATUS];

struct atoms_figure {
    char name[ATOMS_NAME_SIZE], per[ATOMS_TEXT_SIZE];
    enum atoms_status status;     /* unresolved: the interval of the median contains 0; the figures stand. Not
                                 linear: delays showed that, and it is not used */
    double mean_s, low_s, high_s; /* Student's interval of the mean */
    double median_s, median_low_s, median_high_s; /* by order statistics */
    unsigned replays;
};

struct atoms_figures {
    struct atoms_figure figure[ATOMS_MAX];
    size_t n;
    char machine[ATOMS_TEXT_SIZE]; /* "x86_64" */
    unsigned word_bits, n_workers; /* n_workers: activities under way at a time, >= 1 */
    json_t *system;                /* owned */
};

/* The figures of tests that were measured. */
void atoms_figures_of(const struct atoms *atoms, double confidence_share, struct atoms_figures *ret);

/* How many more timings the interval of the median lacks until it is narrow, if it shrinks with the root of
 * their number; 0: it is. */
double atoms_figures_wanted(const double *values_s, size_t n, double confidence_share);

/* Tests whose interval is narrow. */
size_t atoms_figures_count_narrow(const struct atoms_figures *figures);

/* NULL: the file has none of that name that was measured. */
const struct atoms_figure *atoms_figures_find(const struct atoms_figures *figures, const char *name);

/* The same, also where the figure is unresolved; it may then be below 0. */
const struct atoms_figure *atoms_figures_find_any(const struct atoms_figures *figures, const char *name);

/* Its median. */
struct atomic_cost atoms_figures_cost(const struct atoms_figure *figure);

/* The document fstune/atoms/1; NULL: no memory. */
json_t *atoms_figures_json(const struct atoms_figures *figures, bool is_interrupted);

/* Reads such a document. 0; -EINVAL with file and reason; other negative errno. */
int atoms_figures_read(const char *path, struct atoms_figures *ret, struct err *err);

/* What --host-atoms and --guest-atoms name; both are freed by the caller in any case. 0; -EINVAL with one
 * line: one is missing or damaged, or they are of programs of different words; other negative errno. */
int atoms_figures_read_both(const struct settings_vm *asked, struct atoms_figures *ret_host,
                            struct atoms_figures *ret_guest, struct err *err);

/* Accepts a zeroed one. */
void atoms_figures_free(struct atoms_figures *figures);
