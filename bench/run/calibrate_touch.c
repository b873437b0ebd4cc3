/* New pages from memory that the machine's host has taken back: found by using up what was touched before.
 *
 *
 * Memory that was freed a moment ago is given out first, as are blocks too small for the host to take. So
 * memory is touched until that becomes several times slower, and the file's pages come next. */
#include "bench/io/arena.h"
#include "bench/run/calibrate_internal.h"

#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_BYTES (16ULL << 20)
#define SLOWER      3.0 /* taken pages take some ten times longer; a busy machine hardly three times */
#define IN_A_ROW    8
#define FILE_BYTES  (64ULL << 20)
#define GROUP       4 /* requests; cache_bytes holds one at least */
#define N_WARM      3

struct soak {
    unsigned char *memory;
    uint64_t most_bytes, end_ns;
    double touched_s; /* a block of memory that was in use just now */
};

static double touch_block(const struct calibrate *calibrate, unsigned char *block, uint64_t page_bytes)
{
    uint64_t start_ns = clock_now_ns(calibrate->clock);
    for (uint64_t at = 0; at < BLOCK_BYTES; at += page_bytes)
        *(volatile unsigned char *)(block + at) = 1;
    return calibrate_seconds(calibrate, start_ns);
}

/* Gives the same block back and touches it again: its pages are in memory already. */
static int set_reference(const struct calibrate *calibrate, struct soak *soak, uint64_t page_bytes)
{
    soak->touched_s = INFINITY;
    for (int i = 0; i <= N_WARM; i++) {
        double seconds = touch_block(calibrate, soak->memory, page_bytes);
        if (i > 0)
            soak->touched_s = fmin(soak->touched_s, seconds);
        if (madvise(soak->memory, BLOCK_BYTES, MADV_DONTNEED) != 0)
            return -errno;
    }
    return 0;
}

/* Touches memory until it becomes slow. -EAGAIN: all of it was alike, or there was no time for more. */
static int soak_up(const struct calibrate *calibrate, struct soak *soak)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    int n_slow = 0, code = set_reference(calibrate, soak, page_bytes);
    for (uint64_t at = 0; at + BLOCK_BYTES <= soak->most_bytes && code == 0; at += BLOCK_BYTES) {
        if (calibrate_is_interrupted(calibrate))
            return -EINTR;
        bool slow = touch_block(calibrate, soak->memory + at, page_bytes) > SLOWER * soak->touched_s;
        n_slow = slow ? n_slow + 1 : 0;
        if (n_slow == IN_A_ROW)
            return 0;
        if (clock_now_ns(calibrate->clock) >= soak->end_ns)
            break;
    }
    return code < 0 ? code : -EAGAIN;
}

static int write_file(const struct calibrate *calibrate, double *ret_bps)
{
    double times_s[FILE_BYTES / CALIBRATE_REQUEST_BYTES / GROUP];
    uint64_t bytes = calibrate->cache_bytes < FILE_BYTES ? calibrate->cache_bytes : FILE_BYTES;
    int fd;
    int code = calibrate_scratch(calibrate, &fd, NULL);
    if (code < 0)
        return code;
    code = calibrate_write_timed(calibrate, fd, 0, CALIBRATE_REQUEST_BYTES, GROUP,
                                 bytes / CALIBRATE_REQUEST_BYTES / GROUP, times_s);
    if (code == 0)
        *ret_bps = (double)CALIBRATE_REQUEST_BYTES /
                   calibrate_middle(times_s, bytes / CALIBRATE_REQUEST_BYTES / GROUP);
    int cut_code = ftruncate(fd, 0) == 0 ? 0 : -errno;
    close(fd);
    return code < 0 ? code : cut_code;
}

int calibrate_first_touch(struct calibrate *calibrate, uint64_t most_bytes, uint64_t end_ns, double *ret_bps,
                          struct err *err)
{
    struct soak soak = {.most_bytes = most_bytes, .end_ns = end_ns};
    double bps = 0;
    void *memory = most_bytes < BLOCK_BYTES ? MAP_FAILED : arena_map(most_bytes, MAP_NORESERVE);
    if (memory == MAP_FAILED)
        return err_set(err, -EAGAIN, "no memory to find pages that the host has taken");
    soak.memory = memory;
    /* Large pages would come from large blocks, and leave the small ones for the file. Where there are none,
     * nothing needs to be switched off. */
    madvise(memory, most_bytes, MADV_NOHUGEPAGE);
    int code = soak_up(calibrate, &soak);
    if (code == 0)
        code = write_file(calibrate, &bps);
    /* It was only a busy machine that made memory look taken. */
    if (code == 0 && bps * SLOWER * soak.touched_s > 2 * (double)BLOCK_BYTES)
        code = -EAGAIN;
    munmap(memory, most_bytes);
    if (code < 0)
        return calibrate_fail(err, code);
    *ret_bps = bps;
    return 0;
}
