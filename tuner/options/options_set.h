/* tuner/options/options_set: the setters that the table of options is made of, one for each kind of value.
 *
 * Limits are read from row->range, so that what is checked is what --help prints. */
#pragma once

#include "tuner/options/options.h"

/* place: uint64_t; for a duration in ns; an alignment is a size that is a multiple of 512; an age is a
 * duration that may have the unit d (24 h). */
option_setter options_set_size, options_set_alignment, options_set_duration, options_set_age,
    options_set_seed;

/* place: uint32_t. */
option_setter options_set_count;

/* place: double. A range that begins with '>' does not hold its lower end. */
option_setter options_set_share;

/* place: char[SETTINGS_TEXT_SIZE]. */
option_setter options_set_text;

/* place: bool. NULL and "true" set it, "false" clears it. */
option_setter options_set_flag;

/* One of the choices in row->argument ("cold|warm"): as text into the place, char[SETTINGS_NAME_SIZE], or its
 * number into the place, an enum without negative values. */
option_setter options_set_name, options_set_choice;

/* One of the choices in row->argument, and --json, into settings->format. */
option_setter options_set_format, options_set_json;

/* --io-uring-cooperative, into what --io-uring-ring writes. */
option_setter options_set_modern_ring;

option_setter options_set_pattern;

/* place: the factor. Values and ranges with commas between; they become ascending and distinct. */
option_setter options_set_levels;

/* place: struct settings_files, which gets one more; options of the command line come behind those of a
 * configuration. */
option_setter options_set_files;

/* What the option gives a second time is another member's; else it replaces what is there. */
option_setter options_set_path, options_set_existing, options_set_destroy_device;

/* A format of tuner/emit/snippet; as options_set_name. */
option_setter options_set_snippet;

/* place: unsigned[2]. "9", "9.2" or "9.2.1", of which the last does not count. */
option_setter options_set_version;

/* place: unsigned[2]. "900x560". */
option_setter options_set_picture_size;

/* place: uint64_t[2]. "256m,512m", the first below the second. */
option_setter options_set_dirty_limits;

/* Codes of tuner/session/warnings with commas between. */
option_setter options_set_accept;

/* Of `experiment`: several values of row->condition with commas between. Of patterns, each mix of shares ends
 * where it sums to 100; they stay in the order given. */
option_setter options_set_patterns, options_set_condition;

/* "full", "fractional", or "sobol:16" and its like. */
option_setter options_set_design;

/* Of `predict` and `advise`: write or randwrite; bytes within range_prediction. */
option_setter options_set_write_pattern, options_set_write_size;
/* Of `advise`: any pattern, because it also stands for what a fleet is asked about. */
option_setter options_set_advice_pattern;
/* Whether writes of a pattern can be predicted. */
bool options_is_write_pattern(const struct pattern *pattern);

/* "write:8k,queue_depth=1,sync=each,rate=5m", one more of settings->beside; and "p99=5ms". */
option_setter options_set_beside, options_set_beside_limit;

/* place: struct levels. "1..8", "1,2,4". */
option_setter options_set_counts;

/* place: struct skew. "zipf:0.99", "hot:10%:90%". */
option_setter options_set_skew;

/* place: struct settings_rates. "10%..100%", "50m,200m", "5000iops". */
option_setter options_set_rate;

/* "request_size=64k,direct=0": one value for each factor that is named. */
option_setter options_set_current;
