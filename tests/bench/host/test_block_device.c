/* Tests of bench/host/block_device: what a disk's directory in sysfs says of it, and which link is the best
 * name. */
#include "bench/host/block_device.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>

static void write_file(const char *name, const char *bytes, size_t size)
{
    AUTO(auto_close) int fd = open(rig_in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
}

static struct block_device identified(void)
{
    struct block_device device = {.model = "old", .serial = "old"};
    block_device_identify(directory, &device);
    return device;
}

TEST(maker_and_serial_number_come_from_where_the_kind_of_disk_has_them)
{
    static const char page[] = "\0\200\0\010  WD-1 23";
    assert_int_equal(mkdir(rig_in("device"), 0700), 0);
    assert_string_equal(identified().model, "");
    assert_string_equal(identified().serial, "");
    write_file("device/vpd_pg80", page, sizeof(page) - 1); /* SCSI and SATA */
    assert_string_equal(identified().serial, "WD-123");
    write_file("serial", "virtio-7\n", 9);
    assert_string_equal(identified().serial, "virtio-7");
    write_file("device/model", "Samsung SSD 980   \n", 19);
    write_file("device/serial", "S64D   \n", 8); /* NVMe */
    assert_string_equal(identified().model, "Samsung SSD 980");
    assert_string_equal(identified().serial, "S64D");
}

/* Any of this machine's, only to be named. */
static dev_t find_node(char *path, size_t size)
{
    DIR *nodes = opendir("/dev");
    struct dirent *entry;
    struct stat status;
    dev_t number = 0;
    while (nodes != NULL && number == 0 && (entry = readdir(nodes)) != NULL) {
        snprintf(path, size, "/dev/%.200s", entry->d_name);
        if (lstat(path, &status) == 0 && S_ISBLK(status.st_mode))
            number = status.st_rdev;
    }
    if (nodes != NULL)
        closedir(nodes);
    if (number == 0) {
        print_message("skipped: no block device is seen here\n");
        skip();
    }
    return number;
}

TEST(best_link_says_most_and_does_not_depend_on_the_order)
{
    static const char *const worse_to_better[] = {"wwn-0x5", "dm-name-vg-a", "virtio-b",
                                                  "nvme-Samsung_980_S64D", "dm-uuid-LVM-x"};
    char node[256], found[400];
    dev_t number = find_node(node, sizeof(node));
    assert_int_equal(mkdir(rig_in("by-id"), 0700), 0);
    assert_int_equal(symlink("/dev/null", rig_in("by-id/ata-other")), 0);
    assert_int_equal(symlink("gone", rig_in("by-id/ata-gone")), 0);
    assert_int_equal(block_device_find_link(rig_in("by-id"), number, found, sizeof(found)), -ENOENT);
    for (size_t i = 0; i < N_OF(worse_to_better); i++) {
        char link[64];
        snprintf(link, sizeof(link), "by-id/%s", worse_to_better[i]);
        assert_int_equal(symlink(node, rig_in(link)), 0);
        assert_int_equal(block_device_find_link(rig_in("by-id"), number, found, sizeof(found)), 0);
        assert_string_equal(found, rig_in(link));
    }
    assert_int_equal(block_device_find_link(rig_in("absent"), number, found, sizeof(found)), -ENOENT);
    assert_int_equal(block_device_find_link(rig_in("by-id"), number, found, 8), -ENOENT);
}

TEST(node_of_a_device_is_found_again)
{
    char node[256], again[80];
    struct stat status;
    dev_t number = find_node(node, sizeof(node));
    block_device_node(number, again, sizeof(again));
    assert_int_equal(stat(again, &status), 0);
    assert_int_equal(status.st_rdev, number);
}

TEST(a_file_is_no_device)
{
    struct block_device device;
    AUTO(auto_close) int fd = open(directory, O_RDONLY | O_CLOEXEC);
    assert_int_equal(block_device_of(fd, &device), -ENOTBLK);
}
