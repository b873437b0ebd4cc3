/* tuner/store/events_internal: what writing and reading of events share. */
#pragma once

#include "tuner/store/events.h"
#include "tuner/store/sql_file.h"

#include <stddef.h>

#define EVENTS_WAITING 65536

struct events {
    struct sql db;
    int64_t run_id; /* that is written */
    struct sql_rows *add, *name;
    struct events_row *waiting; /* for the next transaction */
    size_t n_waiting;
    int result; /* of writing; err says why */
    struct err err;
    uint64_t n, n_lost, kept_ns;
};
