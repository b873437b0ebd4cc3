/* tuner/doctor/doctor_noise: how much short runs of one setting scatter here, and what that means for
 * budgets. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "bench/io/pump.h"
#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOCTOR_NOISE_RUNS          20
#define DOCTOR_NOISE_DURATION_NS   100000000ULL
#define DOCTOR_NOISE_CONFIDENCE    0.95
#define DOCTOR_NOISE_LIMIT_SECONDS 20.0 /* slow disks get fewer runs rather than minutes */

struct session;

struct doctor_noise {
    size_t n;           /* runs made */
    struct point point; /* what they measured: random reads */
    double mean_bps;
    struct interval interval; /* of the mean; NaN for n < 3 */
    double half_width_share;  /* of the interval, of the mean */
    double run_cv;            /* between runs */
    double window_cv;         /* inside runs, between tenths of a run; NaN: runs too short */
    bool warm;                /* the file was cached: it cannot be read cold for long enough */
    double run_seconds;       /* length of a run, on average */
    bool failed;
    char why[ERR_TEXT_SIZE]; /* failed or not tried */
};

/* Makes the runs on the session's file: random reads, psync, depth 1, direct where that is proved. Fewer
 * where they take too long; with a warm cache, also for the rest of the session, where a cold run ends too
 * soon. An interrupted or failed series leaves what it has, `failed` and why. */
void doctor_noise_measure(struct session *session, struct doctor_noise *ret_noise);

/* Fills the figures from n throughputs. */
void doctor_noise_summarise(struct doctor_noise *noise, const double *throughput_bps, size_t n);

/* Coefficient of variation between tenths of a run, the last one left out; NaN for fewer than 3. */
double doctor_noise_window_cv(const struct pump_windows *windows);

/* Smallest difference of two settings, as a share of the throughput, that n replays of each tell from none:
 * half a t interval of a difference of means, t(2n - 2) * cv * sqrt(2 / n). NaN for n < 2. */
double doctor_noise_resolves(double cv, size_t n);

/* Fewest replays of each that resolve this difference; at most 100000. */
size_t doctor_noise_replays_for(double cv, double difference_share);
