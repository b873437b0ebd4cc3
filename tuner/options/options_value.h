/* tuner/options/options_value: sizes and counts within the limits that an option's range states. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_VALUE_SIZE 32

/* Halves of "LOW..HIGH", up to a comma; false when there are no dots or a half is too long. */
bool options_value_split(const char *text, char low[OPTIONS_VALUE_SIZE], char high[OPTIONS_VALUE_SIZE]);

/* Copies what stands before the next comma; the cursor comes behind that comma, or is NULL after the last
 * part. 0, or -EINVAL for an empty or too long part. */
int options_value_part(const char **cursor, char part[2 * OPTIONS_VALUE_SIZE], struct err *err);

/* Whether the value lies in the range, whose ends `parse` reads. */
bool options_value_within(const char *range, int (*parse)(const char *text, uint64_t *ret_value),
                          uint64_t value);

/* 0, or -EINVAL with what to write. */
int options_value_size(const char *text, const char *range, uint64_t *ret_bytes, struct err *err);
/* A size that is a multiple of 512. */
int options_value_blocks(const char *text, const char *range, uint64_t *ret_bytes, struct err *err);
int options_value_count(const char *text, const char *range, uint64_t *ret_count, struct err *err);

/* The number of the text among choices, "a|b|c" or "a, b, c". 0, or -EINVAL with what to write. */
int options_value_choice(const char *text, const char *choices, uint64_t *ret_number, struct err *err);
