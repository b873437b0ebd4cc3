/* tuner/store/journal_line: one run as an object of JSON, and back. */
#pragma once

#include "tuner/store/journal.h"

/* A new reference; NULL when memory ran out. */
json_t *journal_line_make(const struct journal_run *run);

/* 0; -EINVAL when something is missing, of another type or out of its range. */
int journal_line_read(const json_t *object, struct journal_run *ret_run);
