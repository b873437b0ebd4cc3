/* Tests of bench/disk/image_flush: who shares a flush, and who is told of one that failed. */
/* LINK: -Wl,--wrap=fdatasync -Wl,--wrap=sync_file_range */
#include "bench/disk/image_flush.h"
#include "tests/test.h"

#include <errno.h>

#define N_FLUSHERS 16

static struct image image; /* its descriptor is never used */
static struct image_flush flushes;
static atomic_int n_begun, n_allowed, sync_code, n_out, out_code;
static atomic_bool holds_out;

#define WAIT_UNTIL(is_true)                                                                                  \
    for (int tenths_ms = 0; !(is_true); tenths_ms++) {                                                       \
        assert_true(tenths_ms < 200000);                                                                     \
        usleep(100);                                                                                         \
    }

/* Each waits until it is allowed to end. */
WRAP(int, fdatasync, (int fd))
{
    (void)fd;
    int number = atomic_fetch_add(&n_begun, 1);
    while (number >= n_allowed)
        usleep(100);
    errno = sync_code;
    return sync_code != 0 ? -1 : 0;
}

WRAP(int, sync_file_range, (int fd, off_t offset, off_t n_bytes, unsigned flags))
{
    (void)fd, (void)offset, (void)n_bytes, (void)flags;
    atomic_fetch_add(&n_out, 1);
    while (holds_out)
        usleep(100);
    errno = out_code;
    return out_code != 0 ? -1 : 0;
}

FIXTURE(set_up)
{
    image_flush_init(&flushes, &image);
    n_begun = n_allowed = sync_code = n_out = out_code = 0;
    holds_out = false;
    return 0;
}

EACH_TEST(set_up, NULL);

struct flusher {
    pthread_t thread;
    int code;
    bool made_it;
};

static void *flush_once(void *context)
{
    struct flusher *flusher = context;
    flusher->made_it = image_flush_wait(&flushes, &flusher->code);
    if (flusher->made_it)
        flusher->code = image_flush_make(&flushes);
    return NULL;
}

static void begin(struct flusher *flusher)
{
    assert_int_equal(pthread_create(&flusher->thread, NULL, flush_once, flusher), 0);
}

static size_t count_waiting(void)
{
    pthread_mutex_lock(&flushes.lock);
    size_t n = flushes.maker != NULL;
    for (const struct image_flush_waiter *waiter = flushes.next_sharers; waiter != NULL;
         waiter = waiter->next)
        n++;
    pthread_mutex_unlock(&flushes.lock);
    return n;
}

/* One is under way and cannot end, and all others wait for the next one. */
static void begin_all(struct flusher *flushers)
{
    begin(&flushers[0]);
    WAIT_UNTIL(n_begun == 1);
    for (size_t i = 1; i < N_FLUSHERS; i++)
        begin(&flushers[i]);
    WAIT_UNTIL(count_waiting() == N_FLUSHERS - 1);
}

/* How many of them made a flush. */
static size_t end_all(struct flusher *flushers, size_t n)
{
    size_t n_made = 0;
    for (size_t i = 0; i < n; i++) {
        pthread_join(flushers[i].thread, NULL);
        n_made += flushers[i].made_it;
    }
    return n_made;
}

TEST(those_that_come_while_one_goes_on_share_the_next_one)
{
    struct flusher flushers[N_FLUSHERS];
    begin_all(flushers);
    n_allowed = 1;
    end_all(flushers, 1);
    assert_int_equal(flushers[0].code, 0);
    sync_code = EIO;
    n_allowed = 2;
    assert_int_equal(end_all(flushers + 1, N_FLUSHERS - 1), 1);
    assert_int_equal(n_begun, 2);
    for (size_t i = 1; i < N_FLUSHERS; i++)
        assert_int_equal(flushers[i].code, -EIO);
}

TEST(who_comes_between_a_turn_and_its_flush_waits_for_the_next_one)
{
    struct flusher flushers[2];
    int code;
    n_allowed = 2;
    assert_true(image_flush_wait(&flushes, &code));
    for (size_t i = 0; i < 2; i++) {
        begin(&flushers[i]);
        WAIT_UNTIL(count_waiting() == i + 1);
    }
    assert_int_equal(image_flush_make(&flushes), 0);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(flushers[i].thread, NULL);
        assert_int_equal(flushers[i].made_it, i == 0);
    }
    assert_int_equal(n_begun, 2);
}

TEST(one_after_another_makes_its_own)
{
    struct flusher flusher;
    n_allowed = 3;
    for (int i = 1; i <= 3; i++) {
        flush_once(&flusher);
        assert_true(flusher.made_it);
        assert_int_equal(flusher.code, 0);
        assert_int_equal(n_begun, i);
    }
}

/* The kernel tells a loss once, so the second flush succeeds there. */
TEST(a_failure_is_told_to_all_who_come_after)
{
    struct flusher flushers[N_FLUSHERS], late;
    begin_all(flushers);
    sync_code = EIO;
    n_allowed = 1;
    end_all(flushers, 1);
    sync_code = 0;
    n_allowed = 3;
    end_all(flushers + 1, N_FLUSHERS - 1);
    flush_once(&late);
    assert_int_equal(late.code, -EIO);
    for (size_t i = 0; i < N_FLUSHERS; i++)
        assert_int_equal(flushers[i].code, -EIO);
}

static void *write_out(void *ret_code)
{
    *(int *)ret_code = image_flush_write_out(&flushes);
    return NULL;
}

/* The kernel tells no flush of it. */
TEST(a_loss_while_writing_out_fails_the_flush_that_goes_on_and_the_first_loss_is_told)
{
    struct flusher flusher;
    pthread_t thread;
    int code = 0;
    n_allowed = 2;
    out_code = ENOSPC;
    holds_out = true;
    assert_int_equal(pthread_create(&thread, NULL, write_out, &code), 0);
    WAIT_UNTIL(n_out == 1);
    begin(&flusher);
    WAIT_UNTIL(n_begun == 1);
    usleep(20000);
    holds_out = false;
    pthread_join(thread, NULL);
    pthread_join(flusher.thread, NULL);
    assert_int_equal(code, -ENOSPC);
    assert_int_equal(flusher.code, -ENOSPC);
    out_code = EIO;
    assert_int_equal(image_flush_write_out(&flushes), -EIO);
    flush_once(&flusher);
    assert_int_equal(flusher.code, -ENOSPC);
}

TEST(what_could_not_be_written_out_and_stays_in_the_page_cache_is_no_loss)
{
    static const int kept[] = {ENOMEM, EAGAIN, EINTR, ENOSYS, EPERM};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        out_code = kept[i];
        assert_int_equal(image_flush_write_out(&flushes), 0);
    }
    assert_int_equal(flushes.lost_code, 0);
}
