/* Tests of bench/atoms/read_ahead: the window of the kernel's read-ahead. */
#include "bench/atoms/read_ahead.h"
#include "bench/host/hostinfo.h"
#include "tests/test.h"

#include <fcntl.h>

/* A memory file system has no disk, and nothing tells. */
TEST(without_a_disk_it_is_the_usual_window)
{
    int fd = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        print_message("no /dev/shm here\n");
        skip();
    }
    assert_int_equal(read_ahead_bytes(fd), 128 << 10);
    close(fd);
}

TEST(of_a_disk_it_is_what_its_queue_says_and_more_on_btrfs)
{
    struct hostinfo info;
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    hostinfo_collect(&info, fd);
    uint64_t bytes = read_ahead_bytes(fd);
    close(fd);
    double kib = hostinfo_number(&info, "read_ahead_kb");
    if (!isfinite(kib)) {
        print_message("no disk here whose read-ahead is known\n");
        skip();
    }
    if (strcmp(hostinfo_text(&info, "file_system"), "btrfs") == 0 && kib < 4096)
        kib = 4096;
    assert_int_equal(bytes, (uint64_t)kib << 10);
}
