/* tuner/commands/history_disk: what a disk that tunes itself has kept for its next session. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>

/* Prints the kinds of load that the file tells of, as a table or as JSON. 0 or a negative errno. */
int history_disk_print(const char *path, bool json, struct err *err);
