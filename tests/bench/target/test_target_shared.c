/* Tests of bench/target/target_shared: regions of one file, and the way to it. */
#include "bench/target/target_shared.h"

#include "bench/base/full_io.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#define REGION_BYTES   (2 * MIB)
#define DISTANCE_BYTES (4 * MIB)

static struct target regions[2];
static struct target_shared shared;
static struct err err;

FIXTURE(fresh)
{
    memset(regions, 0, sizeof regions);
    shared = (struct target_shared){0};
    err = (struct err){0};
    return 0;
}

FIXTURE(leave)
{
    target_close(&regions[0]);
    target_close(&regions[1]);
    return 0;
}

EACH_TEST(fresh, leave);

static void make_region(uint32_t index, int fd)
{
    struct target_plan plan = rig_plan(directory, 64 * MIB);
    plan.seed = 7 + index;
    plan.region = (struct target_region){.fd = fd,
                                         .tmpfile = shared.tmpfile,
                                         .n = 2,
                                         .index = index,
                                         .size_bytes = REGION_BYTES,
                                         .distance_bytes = DISTANCE_BYTES};
    if (target_create(&regions[index], &plan, &err) != 0)
        fail_msg("%s", err.text);
}

/* Two clients, which are one process here. */
static void make_both(bool needs_name)
{
    int first, second;
    assert_int_equal(target_shared_make(directory, needs_name, &shared, &first, &err), 0);
    assert_int_equal(target_shared_open(directory, &shared, &second, &err), 0);
    assert_int_equal(rig_count_entries(directory), needs_name ? 1 : 0);
    assert_int_equal(target_shared_unname(directory, &shared, &err), 0);
    assert_int_equal(target_shared_check(directory, second, &err), 0);
    make_region(0, first);
    make_region(1, second);
}

static void assert_one_file_of_two_regions(void)
{
    static unsigned char mine[MIB], there[MIB];
    struct stat status[2];
    assert_int_equal(rig_count_entries(directory), 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(fstat(regions[i].fd, &status[i]), 0);
        assert_int_equal(regions[i].base_bytes, i * DISTANCE_BYTES);
        assert_int_equal(regions[i].size_bytes, REGION_BYTES);
    }
    assert_int_equal(status[0].st_ino, status[1].st_ino);
    /* What the second has filled is seen through the first's descriptor; what lies between is nobody's. */
    assert_int_equal(full_io_read(regions[1].fd, mine, MIB, DISTANCE_BYTES), 0);
    assert_int_equal(full_io_read(regions[0].fd, there, MIB, DISTANCE_BYTES), 0);
    assert_memory_equal(mine, there, MIB);
    assert_int_equal(full_io_read(regions[0].fd, there, MIB, REGION_BYTES), 0);
    assert_true(there[0] == 0 && memcmp(there, there + 1, MIB - 1) == 0);
    assert_int_equal(full_io_read(regions[0].fd, there, MIB, 0), 0);
    assert_true(memcmp(mine, there, MIB) != 0);
}

TEST(clients_of_one_machine_need_no_name)
{
    make_both(false);
    assert_one_file_of_two_regions();
}

TEST(a_name_is_there_until_all_have_the_file)
{
    make_both(true);
    assert_one_file_of_two_regions();
    int late;
    assert_int_equal(target_shared_open(directory, &shared, &late, &err), -ENOENT);
    assert_non_null(strstr(err.text, "in common"));
    assert_int_equal(target_shared_unname(directory, &shared, &err), 0);
}

/* The mark of a file that has had a name lies behind the last region, and the maker writes it. */
TEST(the_mark_is_behind_all_regions)
{
    char text[7] = "";
    make_both(true);
    int code = full_io_read(regions[0].fd, text, 6, 2 * DISTANCE_BYTES);
    if (code == 0)
        assert_string_equal(text, "fstune");
    else /* a machine without an identity */
        assert_int_equal(regions[0].filled_bytes, REGION_BYTES);
    assert_int_equal(regions[1].filled_bytes, REGION_BYTES);
}

TEST(pages_of_another_region_are_not_looked_at)
{
    uint64_t cached, dirty, others;
    enum target_cold cold;
    make_both(false);
    assert_int_equal(target_flush(&regions[0], &err), 0);
    if (target_cached_pages(&regions[0], 0, REGION_BYTES, &cached, &dirty) != 0 ||
        target_drop_cache(&regions[0], &cold, &err) != 0 || cold != TARGET_COLD_VERIFIED)
        return; /* as on tmpfs */
    assert_int_equal(target_warm_cache(&regions[1], NULL, &err), 0);
    assert_int_equal(target_drop_cache(&regions[0], &cold, &err), 0);
    assert_int_equal(cold, TARGET_COLD_VERIFIED);
    assert_int_equal(target_cached_pages(&regions[1], 0, REGION_BYTES, &others, &dirty), 0);
    assert_int_equal(others, REGION_BYTES / (uint64_t)sysconf(_SC_PAGESIZE));
}

TEST(direct_io_is_proved_inside_the_region)
{
    static unsigned char before[MIB], after[MIB];
    make_both(false);
    assert_int_equal(full_io_read(regions[0].fd, before, MIB, 0), 0);
    assert_int_equal(target_prove_direct(&regions[1], &err), 0);
    assert_int_equal(full_io_read(regions[0].fd, after, MIB, 0), 0);
    assert_memory_equal(before, after, MIB);
    struct stat status;
    assert_int_equal(fstat(regions[1].fd, &status), 0);
    assert_int_equal(status.st_size, DISTANCE_BYTES + REGION_BYTES);
}

/* Whoever may write to the directory can put something under the name. */
TEST(what_comes_in_its_place_is_left_as_it_is)
{
    int fd, other;
    assert_int_equal(target_shared_make(directory, true, &shared, &fd, &err), 0);
    close(fd);
    assert_int_equal(unlink(rig_in(shared.name)), 0);
    fd = open(rig_in(shared.name), O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, "data", 4), 4);
    close(fd);
    assert_int_equal(target_shared_open(directory, &shared, &other, &err), -ESTALE);
    assert_int_equal(rename(rig_in(shared.name), rig_in("precious")), 0);
    assert_int_equal(symlink("precious", rig_in(shared.name)), 0);
    assert_int_equal(target_shared_open(directory, &shared, &other, &err), -ELOOP);
    assert_int_equal(target_shared_unname(directory, &shared, &err), 0);
    assert_int_equal(unlink(rig_in("precious")), 0);
}

/* A number of another process may be a file of somebody else. */
TEST(another_descriptor_is_not_taken_for_it)
{
    int fd, other, wrong = open(rig_in("empty"), O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(target_shared_make(directory, false, &shared, &fd, &err), 0);
    shared.fd = wrong;
    assert_int_equal(target_shared_open(directory, &shared, &other, &err), -ESTALE);
    close(wrong);
    close(fd);
    assert_int_equal(unlink(rig_in("empty")), 0);
}

TEST(a_limit_of_a_file_is_that_of_all_regions)
{
    struct rlimit before, limit;
    struct target_plan plan = rig_plan(directory, 64 * MIB);
    uint64_t bytes;
    plan.region.n = 4;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 255 * MIB;
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = target_estimate(&plan, &bytes, &err);
    limit.rlim_cur = 256 * MIB;
    setrlimit(RLIMIT_FSIZE, &limit);
    int enough = target_estimate(&plan, &bytes, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, -EFBIG);
    assert_non_null(strstr(err.text, "ulimit -f"));
    assert_int_equal(enough, 0);
    assert_int_equal(bytes, 64 * MIB);
}
