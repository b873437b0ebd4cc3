/* tuner/options/config: configuration files (libconfig) for the same settings as the command line
 * (interfaces, section 9).
 *
 * Strings for everything; integers for counts and sizes up to 31 bits (more with the suffix L); booleans for
 * flags and `direct`; arrays or lists of strings or integers for levels; a fraction like 0.03 for a share. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

#include <stddef.h>

struct config_t; /* libconfig's */
struct config_setting_t;
struct option_row;

/* Reads FILE into settings, which stay untouched on failure; every key is an option's name with underscores,
 * and one that only another command knows is read too. Unknown keys, wrong types, repeated keys and integers
 * that libconfig 1.5 would misread are -EINVAL, "FILE:LINE: key: what is wrong; what to write". -ENOENT and
 * other negative errno when it cannot be read. text: what stands in it, NULL: what FILE holds. (Not
 * `config_read`: libconfig exports that name.) */
int config_read_settings(const char *path, const char *text, struct settings *settings, unsigned command,
                         struct err *err);

/* One setting of a file through the row's setter, as the command line would: 0, or -EINVAL with what is wrong
 * and what to write, without file, line and key. */
int config_set(struct settings *settings, const struct option_row *row,
               const struct config_setting_t *setting, struct err *err);

/* -EINVAL for a key that nobody knows, with the nearest name of the options that may stand in a file and of
 * `more` (dashed). */
int config_refuse_unknown(const char *key, const char *const *more, size_t n_more, struct err *err);

/* One setting of a file, as config_read_settings; errors are without file, line and key. */
int config_take_setting(struct settings *settings, const struct config_setting_t *setting, unsigned command,
                        struct err *err);

/* Scan of a libconfig text for bare integers beyond 31 bits without the suffix L, which libconfig 1.5 reads
 * wrongly without a word, for those beyond 63 bits with it, and for floats that overflow; refuses @include,
 * whose file the scan would not see. 0, or -EINVAL with the 1-based line and "key: what is wrong; what to
 * write". Understands comments (#, //, C) and strings. */
int config_scan_numbers(const char *text, unsigned *ret_line, struct err *err);

/* Any libconfig file, scanned and parsed; for simulated surfaces too. On 0 the caller destroys config. */
int config_load(struct config_t *config, const char *path, struct err *err);
