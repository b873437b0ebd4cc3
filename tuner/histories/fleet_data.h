/* tuner/histories/fleet_data: what many hosts measured, as tables for models/fleet.
 *
 * A host here is one storage of one host: two file systems of a machine are two. Its features are taken from
 * what was recorded of the system; of a simulated one the surface stands for the file system. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "tuner/store/history.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum fleet_feature {
    FLEET_FILE_SYSTEM,
    FLEET_DEVICE, /* nvme, sd, vd, dm, loop, ... */
    FLEET_ROTATIONAL,
    FLEET_VIRTUALISATION,
    FLEET_SCHEDULER,
    FLEET_CAPPED, /* whether a cgroup limits the device */
    FLEET_KERNEL,
    FLEET_OPTIONS, /* of the mount */
    FLEET_N_FEATURES
};

/* Those that tell kinds of hosts apart in rules; the others change under a host, and are for drift. */
#define FLEET_N_KINDS FLEET_KERNEL

extern const char *const fleet_feature_names[FLEET_N_FEATURES];

struct fleet_run {
    int64_t id, host_id;
    char fingerprint[HISTORY_FINGERPRINT_SIZE], pattern[PATTERN_NAME_SIZE];
    double started_s;
    uint32_t values[FLEET_N_FEATURES]; /* numbers of names, from 1; 0: not known */
    size_t first, n;                   /* its rates */
};

/* Mean rate of the replays of one setting in one run. */
struct fleet_rate {
    int64_t run_id;
    struct point point;
    double bps;
};

struct fleet_names {
    char (*text)[96];
    size_t n, capacity;
};

struct fleet_data {
    struct fleet_run
        *runs; /* ended ones, the oldest first in each host; by pattern, host and storage, then time */
    size_t n_runs;
    struct fleet_rate *rates; /* by run */
    size_t n_rates;
    struct fleet_names names[FLEET_N_FEATURES];
};

/* Values of a host's features from its `system` (as recorded) and the identity of its storage; a name that is
 * new is added. 0 or -ENOMEM. */
int fleet_features(struct fleet_data *data, const json_t *system, const json_t *identity,
                   uint32_t ret_values[FLEET_N_FEATURES]);
const char *fleet_value_name(const struct fleet_data *data, size_t feature, uint32_t value);

/* Nearly all of a history is replays, so those are read that somebody asks for. */
enum fleet_which {
    FLEET_NEWEST, /* the newest runs of each host and storage that compared settings, FLEET_NEWEST_RUNS of
                     them */
    FLEET_ALL     /* every run; rates only of both runs where a feature changed between two */
};
#define FLEET_NEWEST_RUNS 3

/* Reads runs that began since then (seconds since 1970); pattern "": all. fleet_data_done accepts a zeroed
 * one. */
int fleet_data_load(struct fleet_data *data, struct history *history, enum fleet_which which,
                    const char *pattern, double since_s, struct err *err);
void fleet_data_done(struct fleet_data *data);

/* Whether two runs are of one storage of one host, under one pattern. */
bool fleet_same_host(const struct fleet_run *a, const struct fleet_run *b);
