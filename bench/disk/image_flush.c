/* One flush for all who wait. Each thread is woken alone: threads that are woken together would wait for one
 * lock, and so would the requests behind them. */
#include "bench/disk/image_flush.h"

void image_flush_init(struct image_flush *flush, const struct image *image)
{
    *flush = (struct image_flush){.image = image,
                                  .lock = PTHREAD_MUTEX_INITIALIZER,
                                  .turn = PTHREAD_MUTEX_INITIALIZER,
                                  .writing_out = PTHREAD_MUTEX_INITIALIZER};
}

/* Whether the caller is the first one to wait for the next flush. With the lock held. */
static bool join(struct image_flush *flush, struct image_flush_waiter *waiter)
{
    sem_init(&waiter->woken, 0, 0);
    if (flush->maker == NULL) {
        flush->maker = waiter;
        return true;
    }
    waiter->next = flush->next_sharers;
    flush->next_sharers = waiter;
    return false;
}

static void wait_until_woken(struct image_flush_waiter *waiter)
{
    while (sem_wait(&waiter->woken) != 0) {
    }
    sem_destroy(&waiter->woken);
}

bool image_flush_wait(struct image_flush *flush, int *ret_code)
{
    struct image_flush_waiter waiter = {.next = NULL};
    pthread_mutex_lock(&flush->lock);
    if (flush->is_under_way) {
        bool is_maker = join(flush, &waiter);
        pthread_mutex_unlock(&flush->lock);
        wait_until_woken(&waiter);
        if (!is_maker) {
            *ret_code = waiter.code;
            return false;
        }
        pthread_mutex_lock(&flush->lock);
        flush->sharers = flush->next_sharers;
        flush->next_sharers = flush->maker = NULL;
    }
    flush->is_under_way = true;
    pthread_mutex_unlock(&flush->lock);
    return true;
}

static void wake(struct image_flush_waiter *waiter, int code)
{
    while (waiter != NULL) {
        struct image_flush_waiter *next = waiter->next;
        waiter->code = code;
        sem_post(&waiter->woken);
        waiter = next;
    }
}

/* Of several losses the first one is told. */
static void lose(struct image_flush *flush, int code)
{
    int none = 0;
    atomic_compare_exchange_strong(&flush->lost_code, &none, code);
}

/* With one mutex the next write-out would overtake the flush that waits for this one. */
static void begin_writing_out(struct image_flush *flush)
{
    pthread_mutex_lock(&flush->turn);
    pthread_mutex_lock(&flush->writing_out);
    pthread_mutex_unlock(&flush->turn);
}

int image_flush_make(struct image_flush *flush)
{
    int code = image_sync(flush->image);
    if (code < 0)
        lose(flush, code);
    /* What is being written out may be lost, and the fdatasync not told of it. */
    begin_writing_out(flush);
    pthread_mutex_unlock(&flush->writing_out);
    code = atomic_load(&flush->lost_code);
    pthread_mutex_lock(&flush->lock);
    struct image_flush_waiter *sharers = flush->sharers, *maker = flush->maker;
    flush->sharers = NULL;
    flush->is_under_way = maker != NULL;
    pthread_mutex_unlock(&flush->lock);
    wake(maker, code);
    wake(sharers, code);
    return code;
}

int image_flush_write_out(struct image_flush *flush)
{
    begin_writing_out(flush);
    int code = image_write_out(flush->image);
    if (code < 0)
        lose(flush, code);
    pthread_mutex_unlock(&flush->writing_out);
    return code;
}
