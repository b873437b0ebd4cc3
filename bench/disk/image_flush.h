/* bench/disk/image_flush: the flushes of a served image, which come from many threads at once.
 *
 * One goes on at a time, because the kernel tells a loss to one of several. Those that come meanwhile share
 * the next one, which the first of them makes. After a loss none succeeds any more, because what was lost is
 * gone. */
#pragma once

#include "bench/disk/image_path.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct image_flush_waiter {
    struct image_flush_waiter *next;
    sem_t woken;
    int code; /* for *ret_code of those that share a flush */
};

struct image_flush {
    const struct image *image;
    atomic_int lost_code;        /* of the first loss; 0: nothing was lost */
    pthread_mutex_t turn;        /* for the next one, so that nobody waits for two write-outs */
    pthread_mutex_t writing_out; /* held from before a loss until it is known here */
    pthread_mutex_t lock;        /* guards what follows */
    bool is_under_way;
    struct image_flush_waiter *sharers;              /* of the one under way */
    struct image_flush_waiter *maker, *next_sharers; /* of the next one */
};

void image_flush_init(struct image_flush *flush, const struct image *image);

/* True: it is the caller's turn, and until it calls image_flush_make, all others wait; *ret_code is not set.
 * False: another thread made a flush that began after this call did; *ret_code is 0 or the negative errno of
 * the first loss. */
bool image_flush_wait(struct image_flush *flush, int *ret_code);
/* 0 or the negative errno of the first loss. */
int image_flush_make(struct image_flush *flush);
/* As image_write_out; a loss fails the flush that goes on, and all later ones. */
int image_flush_write_out(struct image_flush *flush);
