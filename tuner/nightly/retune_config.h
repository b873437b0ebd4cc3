/* tuner/nightly/retune_config: the configuration of `fstune retune`: what is tuned every night, and what may
 * be done with the answer (libconfig; configs/retune.conf is an example).
 *
 * At the top stand the options of the command (db, prometheus, json, quiet) and `targets`, a list of groups.
 * A target takes every key of `recommend` and those of the table here. A key of a target that stands at the
 * top is the default of all targets. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of a target: letters, digits, "._-", beginning with a letter or digit; the zero included. */
#define RETUNE_CONFIG_NAME_SIZE   64
#define RETUNE_CONFIG_MAX_TARGETS 256

/* Above (for uptime: below) these a night is postponed; infinity: no limit. */
struct retune_ready_limits {
    double io_pressure_share;  /* of the last minute: some task waited for I/O */
    double cpu_pressure_share; /* the same for a processor */
    double load_share;         /* load of the last minute per processor */
    double dirty_bytes;        /* dirty and under writeback */
    double uptime_seconds;     /* at least */
    bool on_battery;           /* measure there too */
};

struct retune_target {
    /* First, because the setters of options find their places from it. budget_ns is a night's;
     * max_write_bytes too; current is the setting before the first change. */
    struct settings settings;
    char name[RETUNE_CONFIG_NAME_SIZE];
    unsigned line;                    /* in the file */
    char snippet[SETTINGS_TEXT_SIZE]; /* an absolute path; "": the advice is recorded and printed only */
    char check[SETTINGS_TEXT_SIZE];   /* commands for /bin/sh; "" : none */
    char apply[SETTINGS_TEXT_SIZE];
    char rollback[SETTINGS_TEXT_SIZE];
    uint64_t hook_timeout_ns;
    uint64_t first_budget_ns; /* of the first tune */
    double alarm_share;
    uint32_t nights; /* that have to agree before a change */
    bool keep_file;  /* the file that is read stays in the directory for later nights */
    /* Storage that other hosts have, too, and what its nights have to do with theirs (see retune_turn). "":
     * the server and export of a file system from the network, else none. */
    char backend[RETUNE_CONFIG_NAME_SIZE];
    uint32_t backend_nights;  /* at once */
    uint64_t backend_wait_ns; /* for one's turn */
    struct retune_ready_limits limits;
};

struct retune_config {
    struct settings command; /* what stands at the top and is an option of `retune`; the rest are defaults */
    struct retune_target *targets;
    size_t n_targets; /* at least 1 */
};

/* Reads and checks FILE. 0; -EPERM where somebody else than root and us could have written it; -EINVAL and
 * one line "FILE:LINE: key: what is wrong; what to do"; -ENOMEM, or the errno of reading. retune_config_done
 * accepts a zeroed one. */
int retune_config_read(struct retune_config *config, const char *path, struct err *err);
void retune_config_done(struct retune_config *config);

/* NULL when there is none of this name. */
const struct retune_target *retune_config_find(const struct retune_config *config, const char *name);

/* The keys that only a target has, one by one; NULL behind the last. Their setters write into struct
 * retune_target. */
const struct option_row *retune_config_key(size_t i);

/* Those keys with their defaults, in the layout of --help. */
void retune_config_print_keys(FILE *out);

/* Tables of keys of a configuration: rows that are no options of a command. They are
 * printed as above. */
#define RETUNE_CONFIG_KEY(NAME, ARGUMENT, RANGE, STANDARD, SET, PLACE, HELP)                                 \
    {                                                                                                        \
        .name = (NAME), .argument = (ARGUMENT), .range = (RANGE), .default_text = (STANDARD),                \
        .help = (HELP), .in_config = true, .set = (SET), .place = (PLACE)                                    \
    }
void retune_config_print_rows(FILE *out, const struct option_row *rows, size_t n);
/* Sets the defaults that the rows state. */
void retune_config_take_defaults(struct settings *settings, const struct option_row *rows, size_t n);
/* place: char[RETUNE_CONFIG_NAME_SIZE], a name of letters, digits, "._-"; and char[SETTINGS_TEXT_SIZE], an
 * absolute path of a file. */
option_setter retune_config_set_name, retune_config_set_path;

/* A target as it is before its group is read. */
void retune_config_init_target(struct retune_target *target);

/* --- retune_snippet: the lines that a target's `emit` makes of an answer --- */

/* Of a night's answer; the caller frees the text. 0, or why the format refuses it. */
int retune_snippet_make(const struct retune_target *target, const json_t *answer, char **ret_text,
                        struct err *err);

/* Finds out before a night what would fail after it: whether the target's `emit`, with its image, bus and
 * version, can express an answer of its pattern. 0; -EINVAL where it refuses whatever answer a night may
 * find, with its reason; -ENOMEM. */
int retune_snippet_check(const struct retune_target *target, struct err *err);
