/* Page faults that wait for us to bring the page (userfaultfd(2)). */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int begin_faults(const struct atom *atom, struct atom_shared *shared, int *ret_fd)
{
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_MINOR_SHMEM};
    (void)atom;
    /* Faults of user space alone need no privilege. */
    const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd < 0)
        return -EOPNOTSUPP;
    if (ioctl(fd, UFFDIO_API, &api) != 0) {
        close(fd);
        return -EOPNOTSUPP;
    }
    *ret_fd = shared->fault_fd = fd;
    shared->has_fault_fd = true;
    return 0;
}

int intercept_faults_of(const struct atom_shared *shared, void *pages, size_t bytes, bool is_file)
{
    struct uffdio_register range = {.range = {.start = (uintptr_t)pages, .len = bytes},
                                    .mode =
                                        is_file ? UFFDIO_REGISTER_MODE_MINOR : UFFDIO_REGISTER_MODE_MISSING};
    return !shared->has_fault_fd || ioctl(shared->fault_fd, UFFDIO_REGISTER, &range) == 0 ? 0 : -errno;
}

static int bring_page(int fd, const struct uffd_msg *report)
{
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct uffdio_range range = {.start = report->arg.pagefault.address & ~(page_bytes - 1),
                                       .len = page_bytes};
    struct uffdio_continue known = {.range = range};
    struct uffdio_zeropage zero = {.range = range};
    const bool is_known = (report->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_MINOR) != 0;
    return (is_known ? ioctl(fd, UFFDIO_CONTINUE, &known) : ioctl(fd, UFFDIO_ZEROPAGE, &zero)) == 0 ? 0
                                                                                                    : -errno;
}

static int answer_fault(int fd, struct atom_shared *shared)
{
    struct uffd_msg report;
    const ssize_t n = read(fd, &report, sizeof report);
    if (n != sizeof report)
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EIO;
    if (report.event != UFFD_EVENT_PAGEFAULT)
        return -EPROTO;
    atom_delay(shared);
    return bring_page(fd, &report);
}

const struct interceptor intercept_faults = {begin_faults, answer_fault};
