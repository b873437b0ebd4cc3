/* Tests of tuner/nightly/disk on the file system of the current directory: what is read is what was written,
 * whatever changes meanwhile, and errors reach the client. FSTUNE_DISK_OPS: how many operations (100,000). */
/* LINK: -Wl,--wrap=fdatasync -Wl,--wrap=pwrite64 -Wl,--wrap=pread64 -Wl,--wrap=sync_file_range */
#include "bench/base/rng.h"
#include "tests/tuner/nightly/disk_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define N_WORKERS     4
#define STRIPE_BLOCKS 581 /* no multiple of a page's */
#define MOST_BYTES    (300U << 10)

static atomic_int sync_code, write_code, write_out_code, refusing_fd = -1, n_syncs, n_written_out;
/* The next flush takes the kernel's one report of a loss, and brings it late. */
static atomic_bool loses_late, second_is_answered, holds_syncs;

WRAP(int, fdatasync, (int fd))
{
    atomic_fetch_add(&n_syncs, 1);
    while (holds_syncs)
        usleep(100);
    if (atomic_exchange(&loses_late, false)) {
        for (int i = 0; i < 200 && !second_is_answered; i++)
            usleep(1000);
        errno = EIO;
        return -1;
    }
    errno = sync_code;
    return sync_code != 0 ? -1 : __real_fdatasync(fd);
}

static atomic_uint read_us, write_us;

WRAP(ssize_t, pread64, (int fd, void *buffer, size_t n, off_t offset))
{
    usleep(read_us);
    return __real_pread64(fd, buffer, n, offset);
}

WRAP(ssize_t, pwrite64, (int fd, const void *buffer, size_t n, off_t offset))
{
    usleep(write_us);
    errno = fd == refusing_fd ? EINVAL : write_code;
    return errno != 0 ? -1 : __real_pwrite64(fd, buffer, n, offset);
}

WRAP(int, sync_file_range, (int fd, off_t offset, off_t n, unsigned flags))
{
    atomic_fetch_add(&n_written_out, 1);
    errno = write_out_code;
    return errno != 0 ? -1 : __real_sync_file_range(fd, offset, n, flags);
}

static unsigned char model[RIG_IMAGE_BYTES];
static atomic_bool is_over;
static uint32_t block_bytes;

struct worker {
    pthread_t thread;
    uint64_t number, n_ops;
    struct disk_gate_client client;
    unsigned char buffer[MOST_BYTES];
    uint64_t n_wrong;
};

static uint64_t below(struct rng *rng, uint64_t n)
{
    return rng_next(rng) % n;
}

/* A run of blocks inside one of the worker's stripes, which lie between those of others. */
static void choose(const struct worker *worker, struct rng *rng, uint64_t *ret_offset, uint64_t *ret_n)
{
    uint64_t stripe_bytes = (uint64_t)STRIPE_BLOCKS * block_bytes;
    uint64_t n_stripes = RIG_IMAGE_BYTES / stripe_bytes / N_WORKERS;
    uint64_t stripe = below(rng, n_stripes) * N_WORKERS + worker->number;
    uint64_t first = below(rng, STRIPE_BLOCKS), n = 1 + below(rng, STRIPE_BLOCKS - first);
    n = n * block_bytes > MOST_BYTES ? MOST_BYTES / block_bytes : n;
    *ret_offset = stripe * stripe_bytes + first * block_bytes;
    *ret_n = n * block_bytes;
}

static void write_some(struct worker *worker, struct rng *rng, uint64_t offset, uint64_t n)
{
    uint64_t value = rng_next(rng);
    for (uint64_t i = 0; i < n; i++)
        worker->buffer[i] = (unsigned char)(value + i / 512 + (i % 512) * (value >> 8 | 1));
    memcpy(model + offset, worker->buffer, n);
    worker->n_wrong +=
        disk_write(&rig.served, &worker->client, worker->buffer, n, offset, below(rng, 50) == 0) != 0;
}

static void operate(struct worker *worker, struct rng *rng)
{
    uint64_t offset, n, what = below(rng, 100);
    choose(worker, rng, &offset, &n);
    if (what < 50) {
        worker->n_wrong += disk_read(&rig.served, &worker->client, worker->buffer, n, offset) != 0 ||
                           memcmp(worker->buffer, model + offset, n) != 0;
    } else if (what < 94) {
        write_some(worker, rng, offset, n);
    } else if (what < 97) {
        memset(model + offset, 0, n);
        int code = disk_zero(&rig.served, offset, n, what == 94, false);
        if (code == -EOPNOTSUPP) /* as on tmpfs: the client writes them */
            code = disk_write(&rig.served, &worker->client, memset(worker->buffer, 0, n), n, offset, false);
        worker->n_wrong += code != 0;
    } else {
        worker->n_wrong += disk_flush(&rig.served) != 0;
    }
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct rng rng;
    rng_init(&rng, worker->number + 1);
    for (uint64_t i = 0; i < worker->n_ops && worker->n_wrong == 0; i++)
        operate(worker, &rng);
    return NULL;
}

static void *switch_often(void *context)
{
    static const char *const pins[] = {"pin cached",
                                       "pin direct",
                                       "pin cached,ahead=1m",
                                       "pin direct,pieces=64k",
                                       "pin cached,out=64k",
                                       "pin cached,pieces=64k,ahead=none",
                                       "unpin",
                                       "pin cached,pieces=128k,ahead=4m"};
    struct rng rng;
    rng_init(&rng, 99);
    char answer[512];
    (void)context;
    while (!is_over) {
        disk_control_answer(&rig.served, pins[below(&rng, N_OF(pins))], answer, sizeof(answer));
        usleep((useconds_t)below(&rng, 2000));
    }
    return NULL;
}

static void check_file(void)
{
    unsigned char *bytes = malloc(RIG_IMAGE_BYTES);
    int fd = open(rig.path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && bytes != NULL);
    assert_int_equal(pread(fd, bytes, RIG_IMAGE_BYTES, 0), RIG_IMAGE_BYTES);
    assert_memory_equal(bytes, model, RIG_IMAGE_BYTES);
    close(fd);
    free(bytes);
}

/* Returns how often the gate changed between cached and direct. */
static uint64_t operate_at_random(uint32_t bytes)
{
    static struct worker workers[N_WORKERS];
    const char *wanted = getenv("FSTUNE_DISK_OPS");
    uint64_t n_ops = wanted != NULL ? strtoull(wanted, NULL, 10) : 100000;
    pthread_t switcher;
    memset(model, 0, sizeof(model));
    is_over = false;
    block_bytes = bytes;
    assert_int_equal(pthread_create(&switcher, NULL, switch_often, NULL), 0);
    for (uint64_t i = 0; i < N_WORKERS; i++) {
        workers[i] = (struct worker){.number = i, .n_ops = n_ops / N_WORKERS};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < N_WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].n_wrong, 0);
    }
    is_over = true;
    pthread_join(switcher, NULL);
    return rig.served.gate.n_changes;
}

TEST(random_operations_meet_what_was_written_across_switches)
{
    rig_serve();
    if (!rig.served.ways.can_direct)
        print_message("no direct I/O here: %s\n", rig.served.why_not_direct);
    uint64_t n_changes = operate_at_random(rig.served.ways.can_direct ? rig.served.image.align_bytes : 512);
    print_message("%llu changes\n", (unsigned long long)n_changes);
    assert_true(n_changes > 20 || !rig.served.ways.can_direct);
    assert_int_equal(rig.served.n_errors, 0);
    disk_close(&rig.served);
    check_file();
}

TEST(requests_of_odd_sizes_go_through_the_cache)
{
    rig_serve();
    operate_at_random(331);
    assert_false(rig.served.ways.can_direct);
    assert_int_equal(rig.served.n_errors, 0);
    disk_close(&rig.served);
    check_file();
}

TEST(a_flush_and_a_durable_write_sync_in_every_setting)
{
    static const char *const pins[] = {"pin cached", "pin cached,ahead=none", "pin cached,out=64k",
                                       "pin direct", "pin direct,pieces=64k"};
    struct disk_gate_client client = {0};
    unsigned char block[4096] = {1};
    rig_serve();
    for (size_t i = 0; i < N_OF(pins); i++) {
        rig_ask(pins[i]);
        assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
        int before = n_syncs;
        assert_int_equal(disk_flush(&rig.served), 0);
        assert_int_equal(n_syncs, before + 1);
        assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, true), 0);
        assert_int_equal(n_syncs, before + 2);
        assert_int_equal(rig.served.gate.flushed_bytes, disk_gate_written_bytes(&rig.served.gate));
        assert_int_equal(disk_zero(&rig.served, 0, sizeof(block), true, true), 0);
        assert_int_equal(n_syncs, before + 3);
    }
    disk_close(&rig.served);
}

static void check_written_out(int n)
{
    for (int i = 0; i < 200 && n_written_out < n; i++)
        usleep(10000);
    assert_int_equal(n_written_out, n);
}

/* Twice 64 KiB in pieces that do not divide it. */
TEST(what_is_gathered_is_written_out_where_the_setting_says_so)
{
    struct disk_gate_client client = {0};
    unsigned char block[24 << 10] = {1};
    rig_serve();
    for (size_t i = 0; i < 7; i++) {
        rig_ask(i == 0 ? "pin cached" : "pin cached,out=64k");
        n_written_out = i < 2 ? 0 : n_written_out;
        assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
        check_written_out(i < 3 ? 0 : i < 6 ? 1 : 2);
    }
    disk_close(&rig.served);
}

static bool is_frozen(void)
{
    pthread_mutex_lock(&rig.served.gate.lock);
    bool is = rig.served.online.is_frozen;
    pthread_mutex_unlock(&rig.served.gate.lock);
    return is;
}

/* The kernel tells no flush of it. */
TEST(a_loss_while_writing_out_ends_all_trials_and_fails_the_flushes_that_follow)
{
    struct disk_gate_client client = {0};
    static unsigned char block[64 << 10] = {1};
    rig_serve();
    rig_ask("pin cached,out=64k");
    write_out_code = ENOSPC;
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
    for (int i = 0; i < 2000 && !is_frozen(); i++)
        usleep(10000);
    write_out_code = 0;
    assert_non_null(strstr(rig.said, "writing out failed"));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(disk_flush(&rig.served), -ENOSPC);
    disk_close(&rig.served);
}

TEST(an_image_that_the_page_cache_holds_has_no_direct_trials)
{
    rig.cache_bytes = 2 * RIG_IMAGE_BYTES;
    rig_serve();
    bool can_direct = rig.served.ways.can_direct;
    struct online_setting direct = disk_ways_to_setting((struct image_way){.direct = true, .ahead_bytes = 1});
    bool may_use = rig.served.online.options.may_use(&rig.served, &direct);
    const char *answer = rig_ask("status");
    bool is_told = strstr(answer, "direct: not tried, as the page cache has room") != NULL;
    bool is_pinned = strcmp(rig_ask("pin direct"), "pinned\n") == 0;
    disk_close(&rig.served);
    rig.cache_bytes = 0;
    if (!can_direct)
        skip();
    assert_true(is_told && is_pinned);
    assert_false(may_use);
}

TEST(a_failed_flush_fails_all_later_ones)
{
    struct disk_gate_client client = {0};
    unsigned char block[4096] = {1};
    rig_serve();
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
    sync_code = EIO;
    assert_int_equal(disk_flush(&rig.served), -EIO);
    sync_code = 0;
    assert_int_equal(disk_flush(&rig.served), -EIO);
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, true), -EIO);
    assert_true(rig.served.online.is_frozen);
    disk_close(&rig.served);
}

static void *flush(void *ret_code)
{
    *(int *)ret_code = disk_flush(&rig.served);
    return NULL;
}

static bool a_flush_waits(void)
{
    pthread_mutex_lock(&rig.served.flush.lock);
    bool is = rig.served.flush.maker != NULL;
    pthread_mutex_unlock(&rig.served.flush.lock);
    return is;
}

#define N_FLUSHERS 24

/* Those that come while one goes on share the next one. */
TEST(many_flushes_at_once_are_all_answered)
{
    pthread_t threads[N_FLUSHERS];
    int codes[N_FLUSHERS];
    rig_serve();
    int before = n_syncs;
    for (size_t i = 0; i < N_FLUSHERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, flush, &codes[i]), 0);
    for (size_t i = 0; i < N_FLUSHERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(codes[i], 0);
    }
    assert_true(n_syncs - before >= 1 && n_syncs - before <= N_FLUSHERS);
    disk_close(&rig.served);
}

TEST(a_flush_covers_what_was_written_while_it_waited)
{
    struct disk_gate_client client = {0};
    unsigned char block[4096] = {1};
    pthread_t threads[2];
    int codes[2];
    rig_serve();
    holds_syncs = true;
    for (size_t i = 0; i < 2; i++) {
        int before = n_syncs;
        assert_int_equal(pthread_create(&threads[i], NULL, flush, &codes[i]), 0);
        for (int wait = 0; wait < 2000 && (i == 0 ? n_syncs == before : !a_flush_waits()); wait++)
            usleep(10000);
    }
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
    holds_syncs = false;
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(codes[i], 0);
    }
    assert_int_equal(rig.served.gate.flushed_bytes, sizeof(block));
    disk_close(&rig.served);
}

/* What the first one is told is lost for the second one, too. */
TEST(a_flush_beside_one_that_fails_does_not_succeed)
{
    pthread_t thread;
    int first = 0, before = n_syncs;
    rig_serve();
    loses_late = true;
    second_is_answered = false;
    assert_int_equal(pthread_create(&thread, NULL, flush, &first), 0);
    while (n_syncs == before)
        usleep(100);
    int second = disk_flush(&rig.served);
    second_is_answered = true;
    pthread_join(thread, NULL);
    assert_int_equal(first, -EIO);
    assert_int_equal(second, -EIO);
    disk_close(&rig.served);
}

static void rig_serve_directly(void)
{
    rig_serve();
    if (rig.served.ways.can_direct)
        return;
    print_message("no direct I/O here: %s\n", rig.served.why_not_direct);
    disk_close(&rig.served);
    skip();
}

/* The kernel tells a lost write once: to the flush of the switch, in this case. */
TEST(a_flush_that_fails_at_a_switch_is_told_to_the_client)
{
    struct disk_gate_client client = {0};
    unsigned char block[4096] = {1};
    rig_serve_directly();
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
    sync_code = ENOSPC;
    rig_ask("pin direct");
    assert_int_equal(disk_read(&rig.served, &client, block, sizeof(block), 0), 0);
    sync_code = 0;
    assert_int_equal(disk_flush(&rig.served), -ENOSPC);
    disk_close(&rig.served);
}

TEST(an_error_reaches_the_client_and_freezes)
{
    struct disk_gate_client client = {0};
    unsigned char block[4096] = {1};
    rig_serve();
    write_code = ENOSPC;
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), -ENOSPC);
    write_code = 0;
    assert_contains(rig.said, "nothing is tried any more");
    CHECK_HAS(rig_ask("status"), "state: frozen", "errors: 1");
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
    disk_close(&rig.served);
}

TEST(a_read_that_stalls_ends_all_trials_and_a_flush_does_not)
{
    struct disk_gate_client client = {0};
    unsigned char block[4096] = {1};
    rig_serve();
    rig.served.options.stall_ns = 50 * CLOCK_NS_PER_S / 1000;
    assert_int_equal(disk_flush(&rig.served), 0);
    read_us = 100000;
    assert_int_equal(disk_read(&rig.served, &client, block, sizeof(block), 0), 0);
    read_us = 0;
    CHECK_HAS(rig.said, "a read took 0.", "nothing is tried any more");
    CHECK_HAS(rig_ask("status"), "state: frozen", "errors: 0; stalls: 1");
    CHECK_HAS(rig_ask("thaw"), "thawed");
    CHECK_HAS(rig_ask("status"), "state: tuning");
    write_us = 100000;
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, true), 0);
    write_us = 0;
    CHECK_HAS(rig.said, "a write took 0.");
    CHECK_HAS(rig_ask("status"), "state: frozen", "errors: 0; stalls: 2");
    disk_close(&rig.served);
}

TEST(a_direct_request_that_is_refused_is_made_through_the_cache)
{
    struct disk_gate_client client = {0};
    unsigned char block[4096] = {7}, back[4096];
    rig_serve_directly();
    rig_ask("pin direct");
    assert_int_equal(disk_read(&rig.served, &client, back, sizeof(back), 0), 0);
    refusing_fd = rig.served.image.fd_direct;
    assert_int_equal(disk_write(&rig.served, &client, block, sizeof(block), 0, false), 0);
    assert_int_equal(disk_read(&rig.served, &client, back, sizeof(back), 0), 0);
    assert_memory_equal(block, back, sizeof(block));
    refusing_fd = -1;
    assert_false(rig.served.ways.can_direct);
    assert_int_equal(rig.served.n_errors, 0);
    disk_close(&rig.served);
}

TEST(an_image_is_served_once)
{
    static struct disk second;
    struct disk_options options = {.path = rig.path, .writable = true};
    rig_serve();
    assert_int_equal(disk_open(&second, &options, &rig.err), -EBUSY);
    disk_close(&rig.served);
}

/* A setting is tried that serves as many bytes, and whose requests take longer than usual. */
TEST(a_trial_whose_requests_wait_long_ends_at_once)
{
    struct disk_gate_client client = {0};
    unsigned char block[4096];
    rig_serve();
    uint64_t slice = rig.served.gate.slice.number;
    rig.served.online.step = ONLINE_TRYING;
    rig.served.online.limits = (struct latency_limits){{latency_bucket(1000000), LATENCY_N_BUCKETS}};
    rig.served.is_trying = true;
    read_us = 2000;
    unsigned n = 0;
    while (n < 20 && rig.served.gate.slice.number == slice) {
        assert_int_equal(disk_read(&rig.served, &client, block, sizeof(block), 0), 0);
        n++;
    }
    read_us = 0;
    assert_int_equal(n, 8);
    assert_int_equal(rig.served.online.n_dropped, 1);
    disk_close(&rig.served);
}
