/* Tests of bench/atoms/read_ahead: the window of the kernel's read-ahead. */
#include "bench/atoms/read_ahead.h"
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

TEST(of_a_disk_it_is_what_its_queue_says)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    uint64_t bytes = read_ahead_bytes(fd);
    close(fd);
    assert_true(bytes % 1024 == 0 && bytes <= 1ULL << 40);
}
