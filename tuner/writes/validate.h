/* tuner/writes/validate: a predicted load of writes, made for real and compared (`fstune predict write
 * --validate`).
 */
#pragma once

#include "tuner/writes/predict.h"

/* Makes the load of an opened prediction in a nameless file below --path (--max-write, --repetitions, --seed,
 * --no-lock, --quiet, --dry-run, --json, --csv and --plot are obeyed), compares it with the model and prints.
 * The mode is one that can be made: not CAWL_NAIVE, which is always compared with. Returns the exit code of
 * the command; 5: it was refused by what the machine cannot do. */
int validate_write(const struct predict *predict);
