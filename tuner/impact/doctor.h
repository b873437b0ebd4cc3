/* tuner/impact/doctor: what can be measured on this machine, and what would blur it.
 *
 * Facts are collected first (cmd_doctor.c); a check is one row of a table and looks at the facts alone. */
#pragma once

#include "bench/base/factors.h"
#include "bench/host/hostinfo.h"
#include "bench/io/pump.h"
#include "bench/target/target.h"
#include "models/statistics/student.h"
#include "tuner/session/drive_health.h"
#include "tuner/session/members_study.h"
#include "tuner/session/session.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DOCTOR_TEXT_SIZE 320
#define DOCTOR_MAX       64 /* findings of all severities */

/* ok: as it should be. note: worth knowing, nothing to be done or little to be gained. finding: something is
 * missing, or figures will be worse for it. */
enum doctor_severity { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_FINDING };

#define DOCTOR_NOISE_RUNS          20
#define DOCTOR_NOISE_DURATION_NS   100000000ULL
#define DOCTOR_NOISE_CONFIDENCE    0.95
#define DOCTOR_NOISE_LIMIT_SECONDS 20.0 /* slow disks get fewer runs rather than minutes */

/* Where the requests of the disk all end on some of the processors: half of the runs are made there. */
struct doctor_placement {
    cpu_set_t there; /* empty: no such processors, no others, or they are forbidden */
    double there_bps, elsewhere_bps;
    struct interval ratio; /* of the two; NaN: too few runs */
};

/* How much short runs of one setting scatter here, and what that means for budgets. */
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
    struct doctor_placement placement;
    bool failed;
    char why[ERR_TEXT_SIZE]; /* failed or not tried */
};

struct doctor_api {
    bool works;
    char why_not[DOCTOR_TEXT_SIZE];
};

/* What is not known stays zero, NaN or absent from `host`. */
struct doctor_facts {
    const struct hostinfo *host;
    struct doctor_api apis[API_N];
    bool interrupted;
    bool is_existing; /* a file or device of the user's, which is only read */
    bool has_target;  /* the test file was made and filled, or that file opened */
    int target_code;  /* else a negative errno and why; 0: not tried */
    char target_why[DOCTOR_TEXT_SIZE];
    enum target_proof direct_read, direct_write;
    uint32_t direct_align_bytes;
    char direct_why[DOCTOR_TEXT_SIZE];
    uint64_t file_bytes; /* that `recommend` would take by default; 0: none fits */
    char file_why[DOCTOR_TEXT_SIZE];
    double steal_share; /* of all processors' time while doctor ran; NaN: unknown */
    bool never_quiet;   /* the device was busy after every run */
    struct drive_health health;
    struct doctor_noise noise;
    const struct members_study *members; /* of several places; NULL: not looked for */
    char members_why[ERR_TEXT_SIZE];     /* they could not be measured to the end; "" */
};

struct doctor_item {
    const char *name, *group;
    enum doctor_severity severity;
    char found[DOCTOR_TEXT_SIZE];
    const char *recommendation; /* NULL with DOCTOR_OK */
};

struct doctor_report {
    size_t n, n_findings;
    struct doctor_item items[DOCTOR_MAX]; /* what does not fit is left out */
    const char *name, *group;             /* of the check that is running */
};

struct doctor_check {
    const char *name;
    /* Says nothing where it does not apply, and may say several things. */
    void (*run)(const struct doctor_facts *facts, struct doctor_report *report);
};

/* A group of checks; each is one file. */
struct doctor_group {
    const char *title;
    const struct doctor_check *checks;
    size_t n;
};

extern const struct doctor_group doctor_ability, doctor_storage, doctor_quiet;

/* Runs every check of every group. */
void doctor_examine(const struct doctor_facts *facts, struct doctor_report *ret_report);

/* For checks: what is, and what to do about it (NULL with DOCTOR_OK). */
void doctor_say(struct doctor_report *report, enum doctor_severity severity, const char *recommendation,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* 0 or the errno of a failed write. */
int doctor_report_text(FILE *out, const struct session *session, const struct doctor_facts *facts,
                       const struct doctor_report *report, struct err *err);
int doctor_report_json(FILE *out, const struct session *session, const struct doctor_facts *facts,
                       const struct doctor_report *report, struct err *err);

/* Makes the runs on the session's file: random reads, psync, depth 1, direct where that is proved. Fewer
 * where they take too long; with a warm cache, also for the rest of the session, where a cold run ends too
 * soon. An interrupted or failed series leaves what it has, `failed` and why. */
void doctor_noise_measure(struct session *session, struct doctor_noise *ret_noise);

/* Runs are made there and elsewhere in turn, by the number of the run. */
void doctor_placement_find(const struct hostinfo_device *device, struct doctor_placement *placement);
void doctor_placement_go(struct doctor_placement *placement, size_t run);
void doctor_placement_leave(void);
/* Rates and ratio of n runs. Takes the difference between the two out of the throughputs, so that what is
 * left is the scatter of runs in one place. Nothing where there is no such place. */
void doctor_placement_compare(struct doctor_placement *placement, double *throughput_bps, size_t n);

/* Several places: random reads on all of them together and on each alone. Nothing where there is one. `why`
 * gets what went wrong. */
void doctor_members_measure(struct session *session, struct members_study *study, char why[ERR_TEXT_SIZE]);
/* Of the table of storage. */
void doctor_members_check(const struct doctor_facts *facts, struct doctor_report *report);

/* Fills the figures from n throughputs. */
void doctor_noise_summarise(struct doctor_noise *noise, const double *throughput_bps, size_t n);

/* Coefficient of variation between tenths of a run, the last one left out; NaN for fewer than 3. */
double doctor_noise_window_cv(const struct pump_windows *windows);

/* Smallest difference of two settings, as a share of the throughput, that n replays of each tell from none:
 * half a t interval of a difference of means, t(2n - 2) * cv * sqrt(2 / n). NaN for n < 2. */
double doctor_noise_resolves(double cv, size_t n);

/* Fewest replays of each that resolve this difference; at most 100000. */
size_t doctor_noise_replays_for(double cv, double difference_share);
