/* bench/run/calibrate_internal: what the calibrate*.c files share. */
#pragma once

#include "bench/run/calibrate.h"
#include "bench/run/replay.h"

/* A nameless empty file in the directory, open for reading and writing; the caller closes it. */
int calibrate_scratch(const struct calibrate *calibrate, int *ret_fd, struct err *err);

/* n_calls writes of size_bytes, one after the other from offset on. 0; -EINTR; the errno of a write. */
int calibrate_write(const struct calibrate *calibrate, int fd, uint64_t offset_bytes, uint64_t size_bytes,
                    size_t n_calls);

/* Makes the writes for real, into n_files new files, from when the machine is calm on where that is wanted.
 * replay_done(ret) in any case. */
int calibrate_replay(const struct calibrate *calibrate, enum replay_mode mode, bool calm,
                     const struct replay_write *writes, size_t n, uint32_t n_files, struct replay_result *ret,
                     struct err *err);

/* err_sys with words for a write or a cut that failed. */
int calibrate_fail(struct err *err, int code);

/* n_times groups of n_group such writes; times_s gets the mean seconds of a call of each group. What a file
 * system does only now and then (a larger page, an extent) must fall into every group. */
int calibrate_write_timed(const struct calibrate *calibrate, int fd, uint64_t offset_bytes,
                          uint64_t size_bytes, size_t n_group, size_t n_times, double *times_s);

/* Mean of the middle half: what somebody else did to a few groups is not their cost. Reorders; n >= 1. */
double calibrate_middle(double *values, size_t n);

double calibrate_seconds(const struct calibrate *calibrate, uint64_t start_ns);

bool calibrate_is_interrupted(const struct calibrate *calibrate);
