/* tuner/nightly/disk_metrics: what the disk does and has learnt, in Prometheus' text format. Each sample has
 * the label `disk`, the path of the image, so that those of several disks stand beside one another. */
#pragma once

#include "tuner/nightly/disk.h"

/* The whole text, which the caller frees; NULL: no memory. Takes the lock. */
char *disk_metrics_text(struct disk *disk);
