/* tuner/disk/history: what was found for each kind of load, in a file for the next session. */
#pragma once

#include "tuner/disk/served.h"

/* A file that is missing is the first session's; one that cannot be used is said, and left as it is: nothing
 * is kept then. */
void history_load(struct served *served);
/* Written beside it and put in its place in one step. durable: waits until it is on the disk. */
void history_save(struct served *served, bool durable);
