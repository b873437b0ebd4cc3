/* Tests of bench/host/hostinfo_limits: limits in force are recorded, absent ones are not. */
#include "bench/host/hostinfo.h"

#include "tests/test.h"

#include <fcntl.h>
#include <sys/resource.h>

static struct hostinfo info;

static void collect(void)
{
    AUTO(auto_close) int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    info.n = 0;
    hostinfo_collect_limits(&info, fd);
}

TEST(limits_in_force_are_recorded)
{
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 12345678;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    collect();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    const struct hostinfo_fact *fact = hostinfo_find(&info, "file_size_limit_bytes");
    assert_non_null(fact);
    assert_close(fact->number, 12345678, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    fact = hostinfo_find(&info, "open_files_limit");
    assert_int_equal(fact != NULL, limit.rlim_cur != RLIM_INFINITY);
    if (fact != NULL)
        assert_close(fact->number, (double)limit.rlim_cur, 0);
}

TEST(an_unlimited_size_is_absent)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    if (limit.rlim_cur != RLIM_INFINITY)
        skip();
    collect();
    assert_null(hostinfo_find(&info, "file_size_limit_bytes"));
}

TEST(flags_are_flags)
{
    static const char *const keys[] = {"mount_read_only", "pressure_readable"};
    collect();
    for (size_t i = 0; i < N_OF(keys); i++) {
        const struct hostinfo_fact *fact = hostinfo_find(&info, keys[i]);
        assert_non_null(fact);
        assert_int_equal(fact->kind, HOSTINFO_FLAG);
        assert_true(fact->number == 0 || fact->number == 1);
    }
}

TEST(requests_of_libaio_are_counted_where_the_kernel_tells)
{
    collect();
    const struct hostinfo_fact *most = hostinfo_find(&info, "aio_max_nr"),
                               *used = hostinfo_find(&info, "aio_nr");
    assert_int_equal(most != NULL, access("/proc/sys/fs/aio-max-nr", R_OK) == 0);
    if (most != NULL && used != NULL)
        assert_true(used->number >= 0 && most->number > 0);
}

TEST(a_descriptor_that_is_none_leaves_its_facts_out)
{
    info.n = 0;
    hostinfo_collect_limits(&info, -1);
    assert_null(hostinfo_find(&info, "mount_read_only"));
    assert_non_null(hostinfo_find(&info, "pressure_readable"));
}
