/* System calls that wait for a supervisor (seccomp_unotify(2)). */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Which bytes of an argument are its low half. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_HALF 0U
#else
#define LOW_HALF 4U
#endif

static int begin_calls(const struct atom *atom, struct atom_shared *shared, int *ret_fd)
{
    (void)shared;
    /* The third argument of reads and writes is their size; a test whose base makes the same call with
     * another size is told apart by it. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)atom->delayed_call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[2]) + LOW_HALF),
        BPF_JUMP(BPF_JMP | (atom->delayed_bytes > 0 ? BPF_JEQ : BPF_JGE) | BPF_K, atom->delayed_bytes, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof code / sizeof code[0], .filter = code};
    /* Of this thread alone, which is about to end. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -EOPNOTSUPP;
    const long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    if (fd < 0)
        return -EOPNOTSUPP;
    *ret_fd = (int)fd;
    return 0;
}

static int answer_call(int fd, struct atom_shared *shared)
{
    struct seccomp_notif report = {0};
    if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &report) != 0)
        return errno == ENOENT || errno == EINTR ? 0 : -errno; /* who called is gone */
    struct seccomp_notif_resp answer = {.id = report.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    atom_delay(shared);
    return ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0 || errno == ENOENT ? 0 : -errno;
}

const struct interceptor intercept_calls = {begin_calls, answer_call};
