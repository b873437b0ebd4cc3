/* tuner/nightly/disk_control: a socket that takes one command a connection, and answers in lines.
 *
 *   status         what runs, what was learnt, what it has cost
 *   metrics        the same in Prometheus' text format
 *   freeze, thaw   nothing is tried any more; it may be again
 *   pin SETTING    this setting runs, whatever the load ("cached,ahead=4m", "direct"); unpin
 *   forget         all that was learnt
 *
 * The socket is its owner's alone. */
#pragma once

#include "tuner/nightly/disk.h"

#include <stddef.h>

struct disk_control {
    struct disk *disk;
    pthread_t thread;
    int fd;
    char path[108];
};

/* The words of an answer to a command; always terminated. Of all commands but metrics, whose text has any
 * length (disk_metrics.h). */
void disk_control_answer(struct disk *disk, const char *command, char *answer, size_t size);

int disk_control_open(struct disk_control *control, struct disk *disk, const char *path, struct err *err);
void disk_control_close(struct disk_control *control);
