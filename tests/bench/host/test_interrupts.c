/* Tests of bench/host/interrupts: lists of processors, and the disk of this machine. */
#include "bench/host/interrupts.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>

TEST(lists_of_processors_are_parsed)
{
    cpu_set_t set;
    assert_true(interrupts_parse_list("1", &set));
    assert_true(CPU_COUNT(&set) == 1 && CPU_ISSET(1, &set));
    assert_true(interrupts_parse_list("0-2,5,7-8", &set));
    assert_int_equal(CPU_COUNT(&set), 6);
    assert_true(CPU_ISSET(2, &set) && !CPU_ISSET(3, &set) && CPU_ISSET(5, &set) && CPU_ISSET(8, &set));
}

TEST(what_is_no_list_is_refused)
{
    static const char *const lists[] = {"", "x", "1-", "-1", "3-2", "1;2", "0,x", "99999", "0-99999"};
    for (size_t i = 0; i < N_OF(lists); i++) {
        cpu_set_t set;
        assert_false(interrupts_parse_list(lists[i], &set));
        assert_int_equal(CPU_COUNT(&set), 0);
    }
}

TEST(what_is_no_device_has_no_interrupts)
{
    const struct hostinfo_device none = {.sysfs = ""}, gone = {.sysfs = "/sys/dev/block/4095:1048575"};
    cpu_set_t set;
    assert_int_equal(interrupts_find(&none, &set), -ENOENT);
    assert_int_equal(interrupts_find(&gone, &set), -ENOENT);
}

TEST(the_disk_of_this_folder_ends_on_processors_that_exist)
{
    struct hostinfo_device device;
    cpu_set_t set;
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    hostinfo_find_device(fd, &device);
    close(fd);
    if (interrupts_find(&device, &set) == -ENOENT) {
        print_message("no disk with one queue here\n");
        skip();
    }
    assert_true(CPU_COUNT(&set) > 0);
    for (size_t cpu = (size_t)sysconf(_SC_NPROCESSORS_CONF); cpu < CPU_SETSIZE; cpu++)
        assert_false(CPU_ISSET(cpu, &set));
}
