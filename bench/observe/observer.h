/* bench/observe/observer: sees when given files are opened, by whomever, without asking the one who opens.
 *
 * fanotify (root) and inotify give an event for an open; the kernel stamps none, so a thread of ours takes
 * the time when it reads the event. Events are notifications: nobody waits for us. Only the given files are
 * marked, so that other opens cost nothing. */
#pragma once

#include "bench/base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OBSERVER_MAX_POINTS 64

enum observer_kind {
    OBSERVER_FANOTIFY,
    OBSERVER_INOTIFY,
    OBSERVER_SELF, /* nobody looks: the reference notes the times itself */
    OBSERVER_N
};

extern const char *const observer_names[OBSERVER_N];

struct observer {
    enum observer_kind kind;
    int fd, wake_fd;
    pthread_t thread;
    size_t n_points;
    pid_t group; /* with fanotify: only opens by this process group count; 0: by anybody */
    struct {
        dev_t device; /* fanotify */
        ino_t inode;
        int watch; /* inotify */
    } key[OBSERVER_MAX_POINTS];
    uint64_t seen_ns[OBSERVER_MAX_POINTS]; /* of the first open since observer_begin; 0: none */
    int result;                            /* of the thread: 0, -EOVERFLOW or another negative errno */
};

/* Watches the files behind n <= OBSERVER_MAX_POINTS descriptors. kind OBSERVER_N: the first that works here.
 * 0 or a negative errno. */
int observer_open(struct observer *observer, enum observer_kind kind, const int *fds, size_t n,
                  struct err *err);

/* Forgets what was seen and looks from here on. */
int observer_begin(struct observer *observer, struct err *err);

/* Stops looking. 0; -EOVERFLOW: the kernel dropped events, so that the run says nothing; other negative
 * errno. Call it after every observer_begin that returned 0. */
int observer_end(struct observer *observer, struct err *err);

/* Accepts a closed one. */
void observer_close(struct observer *observer);
