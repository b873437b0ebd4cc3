/* tuner/disk/control: a socket that takes one command a connection, and answers in lines.
 *
 *   status         what runs, what was learnt, what it has cost
 *   freeze, thaw   nothing is tried any more; it may be again
 *   pin SETTING    this setting runs, whatever the load ("cached,ahead=4m", "direct"); unpin
 *   forget         all that was learnt
 *
 * The socket is its owner's alone. */
#pragma once

#include "tuner/disk/served.h"

#include <stddef.h>

struct control {
    struct served *served;
    pthread_t thread;
    int fd;
    char path[108];
};

/* The words of an answer to a command; always terminated. */
void control_answer(struct served *served, const char *command, char *answer, size_t size);

int control_open(struct control *control, struct served *served, const char *path, struct err *err);
void control_close(struct control *control);
