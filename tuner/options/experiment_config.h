/* tuner/options/experiment_config: what a file of an experiment has beyond the settings that are options:
 * several tests in one file.
 *
 *   pattern = ["read", "write"];
 *   tests = ( { name = "SEQ1M Q8T1"; request_size = "1m"; queue_depth = 8; },
 *             { name = "RND4K Q1T1"; request_size = "4k"; pattern = ["randread", "randwrite"]; } );
 *
 * Each test is a full factorial of its own levels and, for factors that it does not give, of the file's; the
 * runs of all tests are made in one random order. A factor of the command line holds for all of them. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

struct config_setting_t; /* libconfig's */

/* Reads the list `tests` into settings->experiment. 0, or -EINVAL with the test's line. */
int experiment_config_tests(struct settings *settings, const struct config_setting_t *list, struct err *err);

/* What the command line alone says: argv[1..] holds the file of the experiment and options. 0; 1 when --help
 * was asked for; -EINVAL. */
int experiment_config_scan(struct settings *line, int argc, char **argv, struct err *err);

/* The file, or `text` where it is not NULL, and over it the same command line. 0, -EINVAL and other negative
 * errno. */
int experiment_config_read(struct settings *settings, const struct settings *line, int argc, char **argv,
                           const char *text, struct err *err);

/* Levels that test number `test` asks for of a factor (enum factor) or a condition (FACTOR_N + enum
 * condition); n = 0: none. */
const struct levels *experiment_config_levels(const struct settings *settings, size_t test, size_t factor);

/* 1 where there is no list of tests. */
size_t experiment_config_n_tests(const struct settings *settings);
