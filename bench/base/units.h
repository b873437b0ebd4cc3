/* bench/base/units: sizes, durations, shares and counts as people write them, and back.
 *
 * Strict: the whole text must match, no leading or trailing blanks, no sign, no exponent, no overflow. All
 * parsers return 0 or -EINVAL (not of that form) or -ERANGE (of that form but outside the type); outputs
 * untouched on failure. */
#pragma once

#include <stdint.h>

#define UNITS_TEXT_SIZE 32

/* "4096", "4k", "4K", "1m", "2g", "1t": powers of 1024. */
int units_parse_size(const char *text, uint64_t *ret_bytes);

/* "250ms", "60s", "10m", "2h", also "100us", "500ns" and decimals ("1.5s", rounded to whole ns); the unit is
 * required. */
int units_parse_duration(const char *text, uint64_t *ret_ns);

/* How the parser wants what was probably meant, for a hint: "10g" for "10GB", "10 GiB" or "10Gi/s", "1536m"
 * for "1.5g"; "90m" for "1h30min", "48h" for "2 days". A buffer of UNITS_TEXT_SIZE. 0, or -EINVAL where
 * nobody can tell, or where it is none. */
int units_guess_size(const char *text, char *buffer);
int units_guess_duration(const char *text, char *buffer);

/* "3%" or "0.03": a share in 0..1. A bare number above 1 ("3", "1.5") is -EINVAL, and so is a bare "1" (write
 * 100% or 1.0); "0" is 0. Shares above 100 % are -ERANGE. */
int units_parse_share(const char *text, double *ret_share);

/* The same of what may be more than all: only what is above so many percent is -ERANGE. */
int units_parse_share_to(const char *text, uint64_t most_percent, double *ret_share);

/* Decimal digits only, 0..max; -ERANGE above max. */
int units_parse_count(const char *text, uint64_t max, uint64_t *ret_count);

/* Writers fill `buffer` of UNITS_TEXT_SIZE and return it. None follows the locale. What is negative or not
 * finite is "n/a". */

/* Exact: "4k", "1m", "4608". */
const char *units_format_size(uint64_t bytes, char *buffer);

/* Three digits, decimal units: "1.21 GB/s", "873 kB/s"; "46.1 GB"; "366 k", "1.21 M", "57.3". */
const char *units_format_rate(double bytes_per_s, char *buffer);
const char *units_format_bytes(uint64_t bytes, char *buffer);
const char *units_format_count(double count, char *buffer);

/* Three digits below a minute: "183 us", "12.1 ms", "38.0 s"; then "10m 0s", "2h 5m". */
const char *units_format_duration(uint64_t ns, char *buffer);
