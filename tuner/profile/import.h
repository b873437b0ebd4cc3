/* tuner/profile/import: requests that other tools recorded, line by line, into the same store. */
#pragma once

#include "bench/base/err.h"
#include "tuner/profile/record.h"

#include <stdint.h>

struct events;
struct events_run;

/* Reads the file, "-" for standard input, in constant memory. format: fio-iolog, blkparse, strace, msr,
 * alibaba. 0; -EINVAL where no line of it is of that format; or the errno of reading. */
int import_file(struct recording *recording, const char *format, const char *path, uint64_t store_bytes,
                struct err *err);

/* A recording of a database of events as fstune profile would have had it. The caller closes it. 0 or a
 * negative errno. */
int import_events(struct recording *recording, struct events *events, const struct events_run *run,
                  uint64_t store_bytes, struct err *err);
