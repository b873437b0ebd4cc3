/* tests/bench/host/test_hostinfo: the recorded facts, the device, and the parsers on given lines. */
#include "bench/host/hostinfo.h"
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"
#include "tests/test.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int root_fd;
static struct hostinfo info;

TEST(mount_line_is_parsed)
{
    struct hostinfo_mount mount;
    char line[] = "36 35 98:12 /sub /mnt/my\\040disk rw,noatime master:1 shared:7 - ext4 /dev/root\\040x "
                  "rw,errors=continue\n";
    assert_true(hostinfo_parse_mount(line, &mount));
    assert_int_equal(mount.id, 36);
    assert_int_equal(mount.major_number, 98);
    assert_int_equal(mount.minor_number, 12);
    assert_string_equal(mount.mount_point, "/mnt/my disk");
    assert_string_equal(mount.mount_options, "rw,noatime");
    assert_string_equal(mount.file_system, "ext4");
    assert_string_equal(mount.source, "/dev/root x");
    assert_string_equal(mount.super_options, "rw,errors=continue");
    char plain[] = "22 27 0:21 / /proc rw - proc none rw";
    assert_true(hostinfo_parse_mount(plain, &mount));
    assert_string_equal(mount.source, "none");
}

TEST(broken_mount_lines_are_refused)
{
    struct hostinfo_mount mount;
    char lines[][80] = {"",
                        "22 27 0:21 / /proc rw",
                        "22 27 0:21 / /proc - proc none rw",
                        "22 27 0:21 / /proc rw - proc",
                        "x 27 0:21 / /proc rw - proc none rw",
                        "22 27 zero / /proc rw - proc none rw",
                        " - a b c"};
    for (size_t i = 0; i < N_OF(lines); i++)
        assert_false(hostinfo_parse_mount(lines[i], &mount));
}

TEST(words_are_unescaped_and_found)
{
    char word[] = "a\\040b\\134\\011c\\04", plain[] = "none";
    procfs_unescape(word);
    assert_string_equal(word, "a b\\\tc\\04");
    procfs_unescape(plain);
    assert_string_equal(plain, "none");
    assert_true(procfs_list_has("rw,blkio", "blkio"));
    assert_true(procfs_list_has("blkio,cpu", "blkio"));
    assert_false(procfs_list_has("rw,blkio2", "blkio"));
    assert_false(procfs_list_has("", "blkio"));
}

TEST(proc_readers_refuse_what_is_not_there)
{
    char line[32] = "untouched";
    double number = 7;
    assert_int_equal(procfs_read_line("/proc/no-such-file", line, sizeof(line)), -ENOENT);
    assert_string_equal(line, "untouched");
    assert_int_equal(procfs_read_line("/dev/null", line, sizeof(line)), -ENODATA);
    assert_int_equal(procfs_read_number("/proc/version", &number), -EINVAL);
    assert_close(number, 7, 0);
    assert_int_equal(hostinfo_scan("/proc/meminfo", "MemTot", &number), -ENOENT);
    assert_int_equal(hostinfo_scan("/proc/meminfo", "MemTotal", &number), 0);
    assert_true(number > 1024 * 1024);
}

TEST(kilobytes_beyond_all_numbers_are_not_found)
{
    static const char text[] = "MemFree: 1e308 kB\nMemFree: 2 kB\n";
    char path[32];
    double number = 7;
    AUTO(auto_close) int fd = memfd_create("meminfo", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    assert_int_equal(hostinfo_scan(path, "MemFree", &number), 0);
    assert_close(number, 2048, 0);
}

TEST(keys_are_unique_and_snake_case)
{
    assert_true(info.n > 20 && info.n < HOSTINFO_MAX_FACTS);
    for (size_t i = 0; i < info.n; i++) {
        const struct hostinfo_fact *fact = &info.facts[i];
        assert_true(islower((unsigned char)fact->key[0]));
        for (const char *c = fact->key; *c != '\0'; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
        assert_ptr_equal(hostinfo_find(&info, fact->key), fact);
        assert_true(isfinite(fact->number));
        if (fact->kind == HOSTINFO_TEXT)
            assert_true(fact->text[0] != '\0');
        if (fact->kind == HOSTINFO_FLAG)
            assert_true(fact->number == 0 || fact->number == 1);
    }
}

TEST(essentials_are_present)
{
    static const char *const keys[] = {"hostname",
                                       "kernel",
                                       "cpus",
                                       "memory_bytes",
                                       "memory_available_bytes",
                                       "memory_room_bytes",
                                       "balloon",
                                       "file_system",
                                       "mount_source",
                                       "mount_point",
                                       "mount_options",
                                       "fs_block_bytes",
                                       "memlock_limit_bytes",
                                       "load1_before",
                                       "dirty_memory_bytes_before",
                                       "steal_ticks_before"};
    for (size_t i = 0; i < N_OF(keys); i++)
        if (hostinfo_find(&info, keys[i]) == NULL)
            fail_msg("%s is absent", keys[i]);
    assert_null(hostinfo_find(&info, "no_such_fact"));
    assert_close(hostinfo_find(&info, "cpus")->number, (double)sysconf(_SC_NPROCESSORS_ONLN), 0);
    assert_string_equal(hostinfo_find(&info, "mount_point")->text, "/");
    assert_true(hostinfo_memory_available_bytes() > 0);
}

TEST(full_list_drops_facts)
{
    static struct hostinfo full;
    for (int i = 0; i < HOSTINFO_MAX_FACTS + 5; i++)
        hostinfo_add_number(&full, "n", i);
    assert_int_equal(full.n, HOSTINFO_MAX_FACTS);
    full.n = 0;
    hostinfo_add_number(&full, "nan", (double)NAN);
    hostinfo_add_number(&full, "inf", (double)INFINITY);
    assert_int_equal(full.n, 0);
}

TEST(device_of_root_has_a_queue)
{
    struct hostinfo_device device;
    uint64_t in_flight = UINT64_MAX;
    hostinfo_find_device(root_fd, &device);
    if (device.sysfs[0] == '\0') {
        print_message("/ has no block device here\n");
        skip();
    }
    assert_int_equal(strncmp(device.sysfs, "/sys/dev/block/", 15), 0);
    assert_int_equal(hostinfo_in_flight(&device, &in_flight), 0);
    assert_true(in_flight < 1000000);
    assert_non_null(hostinfo_find(&info, "device_whole"));
    assert_non_null(hostinfo_find(&info, "scheduler"));
    assert_non_null(hostinfo_find(&info, "logical_block_bytes"));
}

TEST(file_without_device_has_none)
{
    struct hostinfo_device device = {.sysfs = "x"};
    uint64_t in_flight = 7;
    int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    hostinfo_find_device(fd, &device);
    close(fd);
    assert_string_equal(device.sysfs, "");
    assert_int_equal(device.major_number, 0);
    assert_int_equal(hostinfo_in_flight(&device, &in_flight), -ENOENT);
    assert_int_equal(in_flight, 7);
}

/* ---- limits ---- */

static struct hostinfo limits;

static void collect(void)
{
    AUTO(auto_close) int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    limits.n = 0;
    hostinfo_collect_limits(&limits, fd);
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
    const struct hostinfo_fact *fact = hostinfo_find(&limits, "file_size_limit_bytes");
    assert_non_null(fact);
    assert_close(fact->number, 12345678, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    fact = hostinfo_find(&limits, "open_files_limit");
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
    assert_null(hostinfo_find(&limits, "file_size_limit_bytes"));
}

TEST(flags_are_flags)
{
    static const char *const keys[] = {"mount_read_only", "pressure_readable"};
    collect();
    for (size_t i = 0; i < N_OF(keys); i++) {
        const struct hostinfo_fact *fact = hostinfo_find(&limits, keys[i]);
        assert_non_null(fact);
        assert_int_equal(fact->kind, HOSTINFO_FLAG);
        assert_true(fact->number == 0 || fact->number == 1);
    }
}

TEST(requests_of_libaio_are_counted_where_the_kernel_tells)
{
    collect();
    const struct hostinfo_fact *most = hostinfo_find(&limits, "aio_max_nr"),
                               *used = hostinfo_find(&limits, "aio_nr");
    assert_int_equal(most != NULL, access("/proc/sys/fs/aio-max-nr", R_OK) == 0);
    if (most != NULL && used != NULL)
        assert_true(used->number >= 0 && most->number > 0);
}

TEST(a_descriptor_that_is_none_leaves_its_facts_out)
{
    limits.n = 0;
    hostinfo_collect_limits(&limits, -1);
    assert_null(hostinfo_find(&limits, "mount_read_only"));
    assert_non_null(hostinfo_find(&limits, "pressure_readable"));
}

FIXTURE(setup)
{
    root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    hostinfo_collect(&info, root_fd);
    hostinfo_collect_load(&info, root_fd, "before");
    hostinfo_collect_load(&info, root_fd, "after");
    return root_fd < 0;
}

GROUP(setup, NULL);
