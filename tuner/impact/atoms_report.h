/* tuner/impact/atoms_report: figures of atomic tests for people, and whether tests are linear. */
#pragma once

#include "bench/atoms/atoms.h"
#include "bench/base/err.h"
#include "tuner/impact/atoms_figures.h"

#include <stdio.h>

int atoms_report_text(FILE *out, const struct atoms_figures *figures, struct err *err);

/* A test's time over the delay that was put into its activity. */
struct atoms_line {
    const struct atom *atom;
    double slope, intercept_s, r_squared, residual_s; /* the last: root mean square */
    double longest_s;                                 /* delay */
    size_t n;
    bool is_linear; /* R^2 >= ATOMS_LINEAR_R2 and the slope as it must be, within ATOMS_SLOPE_SHARE */
};

#define ATOMS_LINEAR_R2   0.99
#define ATOMS_SLOPE_SHARE 0.1

/* n delays and times of one test; n >= 3. 0 or a negative errno. */
int atoms_line_of(const struct atom *atom, const double *delays_s, const double *times_s, size_t n,
                  struct atoms_line *ret);

/* A test whose line is not linear is not used: its figure says so. */
void atoms_lines_judge(const struct atoms_line *lines, size_t n, struct atoms_figures *figures);

int atoms_lines_text(FILE *out, const struct atoms_line *lines, size_t n, struct err *err);
json_t *atoms_lines_json(const struct atoms_line *lines, size_t n);
