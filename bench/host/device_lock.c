/* bench/host/device_lock: a byte of one file for every device. */
#include "bench/host/device_lock.h"

#include "bench/base/private_file.h"
#include "bench/host/hostinfo_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FILE_NAME  "devices"
#define MINOR_BITS 20 /* of a device number of the kernel */

static int lock_byte(int lock_fd, unsigned major_number, unsigned minor_number)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = ((off_t)major_number << MINOR_BITS) + (off_t)minor_number,
                         .l_len = 1};
    if (fcntl(lock_fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    return errno == EAGAIN || errno == EACCES ? -EWOULDBLOCK : -errno;
}

/* The mount has the file system's one number where fstat has one for each of its volumes (btrfs). */
static int lock_bytes(int lock_fd, int fd)
{
    struct hostinfo_device device;
    struct hostinfo_mount mount;
    struct stat status;
    unsigned major_number, minor_number;
    if (hostinfo_find_mount(fd, &mount) != 0) {
        if (fstat(fd, &status) != 0)
            return -errno;
        dev_t number = S_ISBLK(status.st_mode) ? status.st_rdev : status.st_dev;
        mount.major_number = major(number);
        mount.minor_number = minor(number);
    }
    int result = lock_byte(lock_fd, mount.major_number, mount.minor_number);
    hostinfo_find_device(fd, &device);
    const char *disk = strrchr(device.sysfs, '/');
    if (result == 0 && disk != NULL && sscanf(disk, "/%u:%u", &major_number, &minor_number) == 2)
        result = lock_byte(lock_fd, major_number, minor_number);
    return result;
}

int device_lock_more(int lock_fd, int fd)
{
    return lock_bytes(lock_fd, fd);
}

static int take_device_lock(const char *directory, int fd, int *ret_lock_fd, struct err *err)
{
    int lock_fd = private_file_open(directory, FILE_NAME, true, S_IRWXO);
    int result = lock_fd < 0 ? lock_fd : lock_bytes(lock_fd, fd);
    if (result == 0) {
        *ret_lock_fd = lock_fd;
        return 0;
    }
    if (lock_fd >= 0)
        close(lock_fd);
    if (result == -EWOULDBLOCK)
        return err_set(err, result, "another fstune is measuring this device");
    if (result == -EPERM)
        return err_set(err, result,
                       "%s/" FILE_NAME " or its directory could be locked or replaced by others than root; "
                       "remove it",
                       directory);
    return err_sys(err, result, "%s/" FILE_NAME, directory);
}

int device_lock_take_at(const struct device_lock_places *places, int fd, int *ret_lock_fd, struct err *err)
{
    *ret_lock_fd = -1;
    int result = take_device_lock(places->directory, fd, ret_lock_fd, err);
    if (result == 0 || result == -EWOULDBLOCK || places->own_directory == NULL)
        return result;
    int own_result = take_device_lock(places->own_directory, fd, ret_lock_fd, NULL);
    return own_result == -EWOULDBLOCK ? err_set(err, own_result, "another fstune is measuring this device")
                                      : result;
}

int device_lock_take(int fd, int *ret_lock_fd, struct err *err)
{
    char own_directory[48];
    snprintf(own_directory, sizeof own_directory, "/run/user/%u/fstune", (unsigned)geteuid());
    const struct device_lock_places places = {"/run/fstune", own_directory};
    return device_lock_take_at(&places, fd, ret_lock_fd, err);
}
