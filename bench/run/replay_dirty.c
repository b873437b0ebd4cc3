/* bench/run/replay_dirty: the state of the page cache before and during a replay. */
#include "bench/run/replay_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS 10000000ULL

/* The file is longer than 4 KiB on new kernels, and all of it is made anew for every read: one large one. */
int replay_dirty_read(uint64_t *ret_bytes)
{
    static const char *const names[] = {"\nnr_dirty ", "\nnr_writeback "};
    char text[16384];
    int fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return n < 0 ? -EIO : -ENODATA;
    text[n] = '\0';
    uint64_t pages = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *found = strstr(text, names[i]);
        uint64_t count;
        if (found == NULL || sscanf(found + strlen(names[i]), "%" SCNu64, &count) != 1)
            return -ENODATA;
        pages += count;
    }
    *ret_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return 0;
}

static bool is_interrupted(const struct replay_plan *plan)
{
    return plan->interrupted != NULL && atomic_load(plan->interrupted) != 0;
}

int replay_dirty_settle(const struct replay_plan *plan, const struct target *target, bool *ret_calm,
                        struct err *err)
{
    uint64_t dirty_bytes = 0;
    *ret_calm = plan->calm_bytes == UINT64_MAX;
    if (*ret_calm && plan->calm_limit_ns == 0)
        return 0;
    if (syncfs(target->fd) != 0)
        return err_io(err, -errno, "%s: its file system cannot be written out", target->name);
    uint64_t end_ns = clock_now_ns(plan->clock) + plan->calm_limit_ns;
    for (;;) {
        if (is_interrupted(plan))
            return err_set(err, -EINTR, "interrupted while waiting for a calm page cache");
        bool known = replay_dirty_read(&dirty_bytes) == 0;
        *ret_calm = known && dirty_bytes <= plan->calm_bytes;
        uint64_t now_ns = clock_now_ns(plan->clock);
        if (!known || *ret_calm || now_ns >= end_ns)
            return 0;
        clock_sleep_until_ns(plan->clock, now_ns + POLL_NS);
    }
}
