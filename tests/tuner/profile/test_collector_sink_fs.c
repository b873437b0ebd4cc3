/* Tests of tuner/profile/collector_sink and bench/collector/profile.h: a program that says itself what is to
 * be recorded of it. It is this one again, in one of the roles below. */
#include "models/profile/marks.h"
#include "tests/tuner/profile/program_rig.h"

#include <liburing.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/uio.h>

#define N_THREADS  8
#define N_EACH     2000
#define RING_DEPTH 16
#define LONG_PARTS 1024 /* of 1 MiB, of a read that takes long */

GROUP_NEEDS(find_us);
GROUP(rig_enter, rig_leave);

/* ---- roles ---- */

static void read_on(int n)
{
    char block[BLOCK];
    for (int i = 0; i < n; i++)
        need(read(fd, block, BLOCK) == BLOCK);
}

/* The place of errno is not touched by anything. */
static bool keeps_errno(void)
{
    errno = 77;
    fst_profile_reset();
    fst_profile_mark("errno");
    fst_profile_stop();
    fst_profile_start();
    return errno == 77;
}

static void act_parts(void)
{
    need(keeps_errno());
    fst_profile_mark("load");
    read_at(100);
    fst_profile_stop();
    need(!fst_profile_is_recording());
    fst_profile_mark("never");
    fst_profile_stop();
    read_at(1000);
    usleep(100000);
    fst_profile_start();
    fst_profile_mark("query");
    read_at(50);
    fst_profile_mark("load");
    read_at(7);
    fst_profile_mark(NULL);
    fst_profile_mark("");
}

/* What was read while nothing was recorded is known to the place of the descriptor. */
static void act_positions(void)
{
    read_on(40);
    fst_profile_stop();
    read_on(40);
    fst_profile_start();
    read_on(40);
}

static void act_reset(void)
{
    fst_profile_mark("before");
    read_at(500);
    if (fork() == 0)
        _exit(0);
    need(wait(NULL) > 0);
    usleep(200000); /* until fstune has seen that the child is gone */
    fst_profile_reset();
    fst_profile_mark("after");
    read_at(70);
}

static void *mark_often(void *unused)
{
    static const char *const names[] = {"one", "two", "three"};
    char block[BLOCK];
    int own = open("blocks", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < N_EACH; i++) {
        fst_profile_mark(names[i % 3]);
        need(pread(own, block, BLOCK, (off_t)(i % N_BLOCKS) * BLOCK) == BLOCK);
    }
    close(own);
    return unused;
}

static void act_threads(void)
{
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        need(pthread_create(&threads[i], NULL, mark_often, NULL) == 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void act_full(void)
{
    char name[16];
    for (int i = 0; i < MARKS_MOST + 5; i++) {
        snprintf(name, sizeof name, "part %d", i);
        fst_profile_mark(name);
        read_at(3);
    }
}

/* A child, and a program that it becomes, write into the same recording. */
static void act_family(void)
{
    char *again[] = {program, NULL};
    fst_profile_mark("parent");
    read_at(10);
    if (fork() == 0) {
        fst_profile_mark("child");
        read_at(20);
        setenv("PROFILE_TEST_ROLE", "parts", 1);
        execv(program, again);
        _exit(9);
    }
    int status;
    need(wait(&status) > 0 && status == 0);
}

static void mark_in_handler(int number)
{
    (void)number;
    fst_profile_mark("tick");
    fst_profile_stop();
    fst_profile_start();
}

static void act_handler(void)
{
    const struct sigaction action = {.sa_handler = mark_in_handler, .sa_flags = SA_RESTART | SA_NODEFER};
    const struct itimerval each = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    for (int i = 0; i < 20000; i++) {
        fst_profile_mark("round");
        read_at(1);
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

/* Each completion makes room for another request: as many are out, whether that is recorded or not. */
static void keep_full(struct io_uring *ring, unsigned n, bool is_first)
{
    static char blocks[RING_DEPTH][BLOCK];
    struct io_uring_cqe *done;
    for (unsigned i = 0; i < n; i++) {
        if (!is_first) {
            need(io_uring_wait_cqe(ring, &done) == 0 && done->res == BLOCK);
            io_uring_cqe_seen(ring, done);
        }
        io_uring_prep_read(io_uring_get_sqe(ring), fd, blocks[i % RING_DEPTH], BLOCK,
                           i * 7 % N_BLOCKS * BLOCK);
        if (!is_first || i + 1 == n)
            io_uring_submit(ring);
    }
}

static void act_ring(void)
{
    struct io_uring ring;
    if (io_uring_queue_init(RING_DEPTH, &ring, 0) != 0)
        _exit(77);
    keep_full(&ring, RING_DEPTH, true);
    keep_full(&ring, 200, false);
    fst_profile_stop();
    keep_full(&ring, 1000, false);
    fst_profile_start();
    keep_full(&ring, 600, false);
    io_uring_queue_exit(&ring);
}

static void *read_long(void *unused)
{
    static char part[1 << 20];
    struct iovec parts[LONG_PARTS];
    int own = open("long", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (size_t i = 0; i < LONG_PARTS; i++)
        parts[i] = (struct iovec){part, sizeof part};
    need(own >= 0 && ftruncate(own, (off_t)LONG_PARTS * (off_t)sizeof part) == 0);
    need(preadv(own, parts, LONG_PARTS, 0) == (ssize_t)(LONG_PARTS * sizeof part));
    close(own);
    return unused;
}

/* A call of another thread is under way when it is stopped. */
static void act_long(void)
{
    pthread_t thread;
    usleep(300000);
    need(pthread_create(&thread, NULL, read_long, NULL) == 0);
    usleep(10000);
    fst_profile_stop();
    pthread_join(thread, NULL);
    fst_profile_start();
    read_at(10);
}

static const struct rig_role roles[] = {
    {"parts", act_parts},     {"positions", act_positions}, {"reset", act_reset},
    {"threads", act_threads}, {"full", act_full},           {"family", act_family},
    {"handler", act_handler}, {"ring", act_ring},           {"long", act_long}};

static void act(const char *role)
{
    rig_act(roles, sizeof roles / sizeof roles[0], role);
}

/* ---- what is found of them ---- */

static void profile(const char *role)
{
    struct rig_run run = {0};
    rig_write_blocks("blocks", (size_t)N_BLOCKS * BLOCK);
    setenv("PROFILE_TEST_ROLE", role, 1);
    rig_run(&run, NULL, "profile", "--source", "preload", "--output", "profile.json", "--", program, NULL);
    unsetenv("PROFILE_TEST_ROLE");
    rig_free(&run);
    json_decref(document);
    document = json_load_file("profile.json", 0, NULL);
    assert_non_null(document);
    if (number(document, "exit_status") == 77)
        skip();
    assert_int_equal(number(document, "exit_status"), 0);
    assert_int_equal(number(document, "events_lost"), 0);
}

static double seconds(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

TEST(what_is_done_while_it_is_stopped_is_not_counted)
{
    profile("parts");
    assert_int_equal(n_reads(document), 157);
    assert_int_equal(number(json_object_get(document, "bytes"), "read"), 157 * BLOCK);
    assert_int_equal(json_array_size(json_object_get(document, "marks")), 3);
    assert_int_equal(n_reads(mark("errno")), 0);
    assert_int_equal(n_reads(mark("load")), 107);
    assert_int_equal(number(mark("load"), "count"), 2);
    assert_int_equal(n_reads(mark("query")), 50);
    assert_true(seconds(document, "paused_s") >= 0.1);
    assert_true(seconds(document, "seconds") > seconds(document, "paused_s"));
    assert_true(seconds(mark("load"), "last_s") >= seconds(mark("load"), "first_s") + 0.1);
    assert_close(seconds(json_object_get(document, "unseen"), "seen_share"), 1, 0.01);
}

TEST(a_rate_is_that_of_the_time_without_pauses)
{
    profile("parts");
    double recorded_s = seconds(document, "seconds") - seconds(document, "paused_s");
    assert_close(seconds(json_object_get(document, "rate"), "mean_bps") * recorded_s / (157 * BLOCK), 1,
                 1e-6);
}

TEST(a_call_that_ends_in_a_pause_is_left_out)
{
    profile("long");
    assert_int_equal(n_reads(document), 10);
    assert_int_equal(number(json_object_get(document, "bytes"), "read"), 10 * BLOCK);
    assert_true(seconds(json_object_get(document, "queue_depth"), "busy_share") < 0.5);
    assert_close(seconds(json_object_get(document, "unseen"), "seen_share"), 1, 0.01);
}

TEST(the_place_of_a_descriptor_is_followed_through_a_pause)
{
    profile("positions");
    assert_int_equal(n_reads(document), 80);
    assert_int_equal(seconds(document, "footprint_bytes"), 2 * 40 * BLOCK);
}

TEST(a_reset_forgets_what_was_before)
{
    profile("reset");
    assert_int_equal(n_reads(document), 70);
    assert_int_equal(number(document, "processes"), 1);
    assert_int_equal(json_array_size(json_object_get(document, "marks")), 1);
    assert_int_equal(n_reads(mark("after")), 70);
    assert_close(seconds(json_object_get(document, "unseen"), "seen_share"), 1, 0.01);
}

TEST(threads_that_mark_at_once_lose_no_mark_and_no_request)
{
    profile("threads");
    json_int_t count =
        number(mark("one"), "count") + number(mark("two"), "count") + number(mark("three"), "count");
    assert_int_equal(count, N_THREADS * N_EACH);
    assert_int_equal(n_reads(document), N_THREADS * N_EACH);
    assert_int_equal(n_reads(mark("one")) + n_reads(mark("two")) + n_reads(mark("three")),
                     N_THREADS * N_EACH);
}

TEST(names_without_a_place_are_counted)
{
    profile("full");
    assert_int_equal(json_array_size(json_object_get(document, "marks")), MARKS_MOST);
    assert_int_equal(number(document, "marks_lost"), 5);
    assert_int_equal(n_reads(mark("part 0")), 3);
    assert_int_equal(n_reads(mark("part 31")), 3);
    assert_int_equal(n_reads(document), 3 * (MARKS_MOST + 5));
}

TEST(a_family_marks_one_recording)
{
    profile("family");
    assert_int_equal(n_reads(document), 157);
    /* The program that the child becomes begins with a reset. */
    assert_int_equal(json_array_size(json_object_get(document, "marks")), 3);
}

TEST(a_signal_handler_may_say_all_of_it)
{
    profile("handler");
    assert_int_equal(number(mark("round"), "count") >= 20000, 1);
    assert_int_equal(n_reads(document), 20000);
    assert_true(number(mark("tick"), "count") > 0);
}

TEST(a_ring_is_followed_through_a_pause)
{
    profile("ring");
    assert_int_equal(n_reads(document), RING_DEPTH + 800);
    assert_int_equal(number(json_object_get(document, "queue_depth"), "max"), RING_DEPTH);
}

TEST(a_program_alone_does_the_same)
{
    rig_run_alone(roles, sizeof roles / sizeof roles[0]);
}

TEST(marks_are_in_the_text)
{
    struct rig_run run = {0};
    setenv("PROFILE_TEST_ROLE", "full", 1);
    rig_run(&run, NULL, "profile", "--source", "preload", "--", program, NULL);
    unsetenv("PROFILE_TEST_ROLE");
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "\nMarks, and what was done until the next one\n  part 0 "));
    assert_non_null(strstr(run.out, "3 requests, 1.54 kB read, 0 B written\n"));
    assert_non_null(strstr(run.out, "\n  and 5 without a place\n"));
    rig_free(&run);
}
