/* tuner/config: configuration files (libconfig) for the same settings as the command line (interfaces, section 9). */
#ifndef FSTUNE_TUNER_CONFIG_H
#define FSTUNE_TUNER_CONFIG_H

#include "bench/err.h"
#include "tuner/settings.h"

/* Reads FILE into settings; every key is an option's name with underscores. Unknown keys, wrong types, repeated keys and integers that libconfig 1.5
 * would misread are -EINVAL, "FILE:LINE: key: what is wrong; what to write". -ENOENT and other negative errno when it cannot be read. */
int config_read(const char *path, struct settings *settings, unsigned command, struct err *err);

/* Scan of a libconfig text for bare integers beyond 31 bits without the suffix L, which libconfig 1.5 reads wrongly without a word, and for
 * floats that overflow. 0, or -EINVAL with the 1-based line. Understands comments (#, //, C) and strings. */
int config_scan_numbers(const char *text, size_t length, unsigned *ret_line, struct err *err);

/* Any libconfig file, scanned and parsed; used for simulated surfaces too. On 0 the caller destroys config (a config_t *). */
int config_load(void *config, const char *path, struct err *err);

#endif
