/* tests/disk/no_flush: loaded into nbdkit it makes a disk that loses data, so that tests/disk/power_cuts can
 * show that it finds that. */
#include <unistd.h>

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}
