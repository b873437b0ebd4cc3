/* Tests of tuner/session/candidates: spaces over simulated surfaces and over a directory that nothing was
 * written to. What is refused on a surface, and a space without points, is in tests/golden/expected/wrong. */
/* LINK: -Wl,--wrap=hostinfo_find_memory_room */
#include "tests/memory_room.h"
#include "tests/tuner/rig.h"
#include "tuner/session/candidates.h"

#include <errno.h>
#include <fcntl.h>

GROUP(rig_enter, rig_leave);

#define GIB (1ULL << 30)

static struct settings settings;
static struct session *session;
static struct candidates candidates;
static struct err err;

static void done(void)
{
    candidates_free(&candidates);
    if (session != NULL)
        rig_close_session(session);
    session = NULL;
}

FIXTURE(end_candidates)
{
    done();
    return 0;
}

EACH_TEST(NULL, end_candidates);

/* Builds the space of the settings of this line. */
static int build(const char *words, uint64_t file_bytes)
{
    done();
    rig_settings_line(&settings, words);
    memset(&err, 0, sizeof err);
    session = rig_open_session(&settings);
    return candidates_build(&candidates, session, file_bytes, &err);
}

/* Points of an API, direct or not, deeper than 1, and with two request sizes. */
struct kind {
    enum api api; /* API_N: any */
    bool deep, direct, buffered, split;
};

static const struct kind direct = {.api = API_N, .direct = true}, split = {.api = API_N, .split = true},
                         deep_psync = {.api = API_PSYNC, .deep = true},
                         buffered_deep_libaio = {.api = API_LIBAIO, .deep = true, .buffered = true};

static size_t count(struct kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < candidates.n; i++) {
        const struct point *point = &candidates.points[i];
        n += (kind.api == API_N || point->api == kind.api) && (!kind.deep || point->queue_depth > 1) &&
             (!kind.direct || point->direct == 1) && (!kind.buffered || point->direct == 0) &&
             (!kind.split || factors_is_split(point));
    }
    return n;
}

/* Why the code was dropped, or NULL. */
static const char *dropped(const char *code)
{
    for (size_t i = 0; i < session->dropped.n; i++) {
        if (strcmp(session->dropped.note[i].code, code) == 0)
            return session->dropped.note[i].text;
    }
    return NULL;
}

TEST(the_space_of_a_surface_is_its_table)
{
    rig_simulator("flat", "", rig_flat_bps);
    assert_int_equal(build("--pattern randwrite --simulate flat.conf", UINT64_MAX), 0);
    /* 4 sizes x 2 direct x (psync at depth 1, io_uring at three depths) */
    assert_int_equal(candidates.n, 4 * 2 * (1 + 3));
    assert_int_equal(count(deep_psync), 0);
    assert_non_null(dropped("psync at depth above 1"));
}

TEST(given_levels_narrow_the_space_of_a_surface)
{
    assert_int_equal(
        build("--pattern randwrite --simulate flat.conf --request-size 4k,8k --queue-depth 4 --sync end",
              UINT64_MAX),
        0);
    assert_int_equal(candidates.n, 2 * 2);
    for (size_t i = 0; i < candidates.n; i++)
        assert_true(candidates.points[i].request_size_bytes <= 8192); /* 8k lies between levels */
}

TEST(too_many_levels_of_a_table_are_refused)
{
    FILE *file = fopen("many.csv", "w");
    assert_non_null(file);
    fputs("pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n", file);
    for (int depth = 1; depth <= SETTINGS_MAX_LEVELS + 1; depth++)
        fprintf(file, "randwrite,4k,%d,0,io_uring,1,100\n", depth);
    assert_int_equal(fclose(file), 0);
    rig_write("many.conf", "points = \"many.csv\";");
    assert_int_equal(build("--pattern randwrite --simulate many.conf", UINT64_MAX), -ERANGE);
    assert_non_null(strstr(err.text, "64 levels"));
    assert_null(candidates.points);
}

TEST(the_default_space_of_a_directory_is_the_contracts)
{
    assert_int_equal(build("--pattern randwrite", 64 * GIB), 0);
    assert_int_equal(count(deep_psync), 0);
    assert_int_equal(count(buffered_deep_libaio), 0);
    assert_non_null(dropped("psync at depth above 1"));
    assert_non_null(dropped("libaio, buffered, depth above 1"));
    /* An unprepared session takes direct I/O for possible. */
    assert_true(count(direct) > 0 && count(direct) < candidates.n);
    for (size_t i = 0; i < candidates.n; i++) {
        const struct point *point = &candidates.points[i];
        assert_true(point->request_size_bytes >= 4096 && point->request_size_bytes <= 4U << 20);
        assert_true(point->queue_depth <= 64 && point->threads == 1 && point->sync == SYNC_END);
        assert_true(point->api != API_PVEC);
    }
    assert_int_equal(rig_count_entries("."), 4); /* two surfaces with their tables, and nothing new */
}

TEST(libaio_at_depth_is_measured_where_it_is_named)
{
    if (build("--pattern randwrite --api libaio --request-size 4k", GIB) == 0)
        assert_int_equal(count(buffered_deep_libaio), 6);
    else
        assert_non_null(strstr(err.text, "libaio")); /* a kernel without it */
}

TEST(bytes_in_flight_are_bounded)
{
    uint64_t file = 128ULL << 20, most = 0;
    assert_int_equal(build("--pattern write", file), 0);
    for (size_t i = 0; i < candidates.n; i++) {
        uint64_t bytes = factors_bytes_in_flight(&candidates.points[i]);
        most = bytes > most ? bytes : most;
    }
    assert_true(most <= file / 4);
    assert_non_null(dropped("too many bytes in flight"));
}

/* Of a memory cgroup of 100 MB, say. */
TEST(bytes_in_flight_are_an_eighth_of_the_room)
{
    room_bytes = 100e6;
    assert_int_equal(build("--pattern randread --path .", GIB), 0);
    room_bytes = 0;
    assert_true(candidates.n > 0);
    for (size_t i = 0; i < candidates.n; i++)
        assert_true(factors_bytes_in_flight(&candidates.points[i]) <= 12500000);
    assert_non_null(dropped("too many bytes in flight"));
}

TEST(a_run_must_have_64_requests_in_the_file)
{
    /* 128 MiB written once hold 64 requests of 2 MiB, not of 4. */
    assert_int_equal(
        build("--pattern randwrite --request-size 1m..4m --queue-depth 1 --direct 0", 128ULL << 20), 0);
    for (size_t i = 0; i < candidates.n; i++)
        assert_true(candidates.points[i].request_size_bytes <= 2U << 20);
    assert_non_null(strstr(dropped("request sizes too large for the file"), "--file-size"));
}

/* Pretends that the target was made and its direct I/O examined. */
static void pretend_target(const char *words, enum target_proof read, enum target_proof write, uint32_t align)
{
    done();
    rig_settings_line(&settings, words);
    session = rig_open_session(&settings);
    session->target.fd = open(".", O_RDONLY | O_CLOEXEC);
    session->target.direct_read = read;
    session->target.direct_write = write;
    session->target.direct_offset_align_bytes = align;
    snprintf(session->target.direct_why, sizeof session->target.direct_why, "seen in a test");
    memset(&err, 0, sizeof err);
    assert_int_equal(candidates_build(&candidates, session, GIB, &err), 0);
}

TEST(direct_points_need_proof_of_the_kind_they_use)
{
    static const struct {
        const char *words;
        enum target_proof read, write;
        const char *why; /* NULL: they stay */
    } rows[] = {
        {"--pattern randwrite --request-size 4k", TARGET_DIRECT_PROVED, TARGET_DIRECT_BUFFERED,
         "direct writes"},
        {"--pattern randwrite --request-size 4k", TARGET_DIRECT_REFUSED, TARGET_DIRECT_PROVED, NULL},
        {"--pattern randrw --request-size 4k", TARGET_DIRECT_REFUSED, TARGET_DIRECT_PROVED, "reads"},
        {"--pattern randread --request-size 4k", TARGET_DIRECT_UNVERIFIED, TARGET_DIRECT_PROVED, "reads"},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        pretend_target(rows[i].words, rows[i].read, rows[i].write, 512);
        assert_int_equal(count(direct) > 0, rows[i].why == NULL);
        if (rows[i].why != NULL) {
            assert_non_null(strstr(dropped("direct 1"), rows[i].why));
            assert_non_null(strstr(dropped("direct 1"), "seen in a test"));
        }
    }
}

TEST(direct_points_below_the_alignment_leave)
{
    pretend_target("--pattern randwrite --request-size 512,4k,4608", TARGET_DIRECT_PROVED,
                   TARGET_DIRECT_PROVED, 4096);
    for (size_t i = 0; i < candidates.n; i++)
        assert_true(candidates.points[i].direct == 0 || candidates.points[i].request_size_bytes == 4096);
    assert_true(count(direct) > 0);
    assert_non_null(strstr(dropped("direct 1 at small request sizes"), "4096"));
}

TEST(a_single_point_is_checked_with_its_name)
{
    struct point psync = {4096, 2, 0, API_PSYNC, 1, SYNC_END, 0, 0},
                 fine = {4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};
    rig_settings(&settings, "--pattern", "randwrite", NULL);
    session = rig_open_session(&settings);
    assert_int_equal(candidates_check(session, &fine, GIB, NULL), 0);
    assert_int_equal(candidates_check(session, &psync, GIB, &err), -EINVAL);
    assert_non_null(strstr(err.text, "4k x 2, buffered, psync"));
    assert_int_equal(candidates_check(session, &psync, GIB, NULL), -EINVAL);
}

TEST(split_sizes_are_looked_at_in_steps_of_four)
{
    assert_int_equal(build("--pattern randrw:70 --split-sizes --queue-depth 2 --direct 0 --api pvec,io_uring "
                           "--file-size 64g",
                           64 * GIB),
                     0);
    /* Six sizes: pvec has them together only. */
    assert_int_equal(candidates.n, 6 * 6 + 6);
    assert_int_equal(count(split), 6 * 5);
    assert_int_equal(count((struct kind){.api = API_PVEC, .split = true}), 0);
    assert_non_null(dropped("pvec with two request sizes"));
    struct space space;
    assert_int_equal(candidates_space(&candidates, &space), 0);
    assert_int_equal(space.n_dims, FACTOR_N);
    assert_int_equal(space.n_levels[FACTOR_N - 1], 6);
    assert_int_equal(space.kind[FACTOR_N - 1], SPACE_ORDERED);
    space_done(&space);
}

TEST(given_sizes_are_the_sizes_of_writes_too)
{
    assert_int_equal(build("--pattern randrw:70 --split-sizes --request-size 4k,12k,64k --queue-depth 2 "
                           "--direct 0 --api io_uring",
                           GIB),
                     0);
    /* 12k and 64k do not go together. */
    assert_int_equal(candidates.n, 3 * 3 - 2);
    assert_non_null(dropped("two sizes of which none is a multiple of the other"));
    assert_int_equal(build("--pattern randrw:70 --request-size 4k --write-request-size 4k,64k --queue-depth "
                           "2 --direct 0 --api io_uring",
                           GIB),
                     0);
    assert_int_equal(candidates.n, 2);
    assert_int_equal(count(split), 1);
}

TEST(both_sizes_must_be_aligned_for_direct_io)
{
    static const char *const sizes[] = {"--request-size 4k --write-request-size 512,4k,8k",
                                        "--request-size 512,4k,8k --write-request-size 4k"};
    for (size_t i = 0; i < 2; i++) {
        char words[128];
        snprintf(words, sizeof words, "--pattern randrw --queue-depth 2 --api io_uring %s", sizes[i]);
        pretend_target(words, TARGET_DIRECT_PROVED, TARGET_DIRECT_PROVED, 4096);
        assert_int_equal(count(split), 3);
        assert_int_equal(count((struct kind){.api = API_N, .direct = true, .split = true}), 1);
    }
}

TEST(a_pattern_of_one_kind_has_one_size)
{
    const char *const patterns[] = {"randread", "write"};
    for (size_t i = 0; i < 2; i++) {
        memset(&err, 0, sizeof err);
        rig_settings(&settings, "--pattern", patterns[i], "--split-sizes", NULL);
        assert_int_equal(settings_check_split(&settings, &err), -EINVAL);
        assert_non_null(strstr(err.text, "--split-sizes: pattern"));
        rig_settings(&settings, "--pattern", patterns[i], "--write-request-size", "8k", NULL);
        assert_int_equal(settings_check_split(&settings, &err), -EINVAL);
        assert_non_null(strstr(err.text, "--write-request-size: pattern"));
        rig_settings(&settings, "--pattern", patterns[i], NULL);
        assert_int_equal(settings_check_split(&settings, &err), 0);
        struct point point = {65536, 2, 0, API_IO_URING, 1, SYNC_END, 8192, 0};
        done();
        session = rig_open_session(&settings);
        assert_int_equal(candidates_check(session, &point, GIB, &err), -EINVAL);
    }
    rig_settings(&settings, "--pattern", "rw:1", "--split-sizes", NULL);
    assert_int_equal(settings_check_split(&settings, &err), 0);
}

TEST(points_become_numbers)
{
    struct point points[] = {{4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0},
                             {65536, 8, 1, API_IO_URING, 4, SYNC_END, 0, 0}};
    struct candidates two = {points, 2};
    AUTO(space_done) struct space space;
    assert_int_equal(candidates_space(&two, &space), 0);
    assert_int_equal(space.n_points, 2);
    assert_int_equal(space.n_dims, FACTOR_N - 1);
    /* Size, depth and threads scaled to 0..1, then direct, api and sync as they are. */
    const double low[] = {0, 0, 0, 0, API_PSYNC, SYNC_END}, high[] = {1, 1, 1, 1, API_IO_URING, SYNC_END};
    for (size_t i = 0; i < FACTOR_N - 1; i++) {
        assert_close(space_row(&space, 0)[i], low[i], 0);
        assert_close(space_row(&space, 1)[i], high[i], 0);
        assert_int_equal(space.kind[i], i < 3 ? SPACE_ORDERED : SPACE_CATEGORY);
    }
}

static int open_nothing(struct session *opened, struct err *why)
{
    (void)opened;
    (void)why;
    return 0;
}

/* Of pairs of settings and numbers of clients all are there; limits of a machine are those of one client. */
TEST(each_setting_is_there_for_each_number_of_clients)
{
    static struct session_clients four = {.n = 4, .n_here = 4, .open = open_nothing};
    session_clients_set(&four);
    int result =
        build("--pattern randwrite --request-size 4k,64k --queue-depth 2 --direct 0 --api io_uring,pool "
              "--clients 1..4",
              GIB);
    session_clients_set(NULL);
    assert_int_equal(result, 0);
    assert_int_equal(candidates.n, 2 * 2 * 3);
    size_t n_of[5] = {0};
    for (size_t i = 0; i < candidates.n; i++)
        n_of[candidates.points[i].clients]++;
    assert_true(n_of[1] == 4 && n_of[2] == 4 && n_of[4] == 4);
    struct space space;
    assert_int_equal(candidates_space(&candidates, &space), 0);
    assert_int_equal(space.n_dims, CANDIDATES_DIMS);
    assert_int_equal(space.n_levels[FACTOR_N], 3);
    assert_int_equal(space.kind[FACTOR_N], SPACE_ORDERED);
    /* There is one size for reads and writes. */
    assert_int_equal(space.n_levels[FACTOR_N - 1], 1);
    space_done(&space);
}
