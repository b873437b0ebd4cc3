/* tuner/options/options_set: the setters that the table of options is made of, one for each kind of value.
 *
 * Each has the contract of `set` in struct option_row. Limits are read from row->range, so that what is
 * checked is what --help prints. */
#ifndef FSTUNE_TUNER_OPTIONS_OPTIONS_SET_H
#define FSTUNE_TUNER_OPTIONS_OPTIONS_SET_H

#include "bench/base/err.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"

/* place: uint64_t; for a duration in ns; an alignment is a size that is a multiple of 512. */
int options_set_alignment(struct settings *settings, const struct option_row *row, const char *text,
                          struct err *err);
int options_set_size(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err);
int options_set_duration(struct settings *settings, const struct option_row *row, const char *text,
                         struct err *err);
int options_set_seed(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err);

/* place: uint32_t. */
int options_set_count(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err);

/* place: double. A range that begins with '>' does not hold its lower end. */
int options_set_share(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err);

/* place: char[SETTINGS_TEXT_SIZE]. */
int options_set_text(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err);

/* place: bool. NULL and "true" set it, "false" clears it. */
int options_set_flag(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err);

/* One of the choices in row->argument ("cold|warm"): as text into the place, char[SETTINGS_NAME_SIZE], or its
 * number into the place, an enum without negative values. */
int options_set_name(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err);
int options_set_choice(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err);

int options_set_pattern(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err);

/* place: the factor. Values and ranges with commas between; they become ascending and distinct. */
int options_set_levels(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err);

/* One more file with prior knowledge; options of the command line come behind those of a configuration. */
int options_set_prior(struct settings *settings, const struct option_row *row, const char *text,
                      struct err *err);

/* One more answer to read, as options_set_prior. */
int options_set_from(struct settings *settings, const struct option_row *row, const char *text,
                     struct err *err);

/* As options_set_duration, and with the unit d (24 h). */
int options_set_age(struct settings *settings, const struct option_row *row, const char *text,
                    struct err *err);

/* A format of tuner/emit/snippet; as options_set_name. */
int options_set_snippet(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err);

/* place: unsigned[2]. "9", "9.2" or "9.2.1", of which the last does not count. */
int options_set_version(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err);

/* place: unsigned[2]. "900x560". */
int options_set_picture_size(struct settings *settings, const struct option_row *row, const char *text,
                             struct err *err);

/* place: uint64_t[2]. "256m,512m", the first below the second. */
int options_set_dirty_limits(struct settings *settings, const struct option_row *row, const char *text,
                             struct err *err);

/* Codes of tuner/session/warnings with commas between. */
int options_set_accept(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err);

/* Of `experiment`: several values with commas between. Of patterns, each mix of shares ends where it sums to
 * 100; they stay in the order given. */
int options_set_patterns(struct settings *settings, const struct option_row *row, const char *text,
                         struct err *err);
int options_set_caches(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err);
int options_set_file_sizes(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err);
int options_set_file_counts(struct settings *settings, const struct option_row *row, const char *text,
                            struct err *err);
int options_set_alignments(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err);

/* "full", "fractional", or "sobol:16" and its like. */
int options_set_design(struct settings *settings, const struct option_row *row, const char *text,
                       struct err *err);

/* Of `predict` and `advise`: write or randwrite; bytes within range_prediction. */
int options_set_write_pattern(struct settings *settings, const struct option_row *row, const char *text,
                              struct err *err);
int options_set_write_size(struct settings *settings, const struct option_row *row, const char *text,
                           struct err *err);

/* "request_size=64k,direct=0": one value for each factor that is named. */
int options_set_current(struct settings *settings, const struct option_row *row, const char *text,
                        struct err *err);

#endif
