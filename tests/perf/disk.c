/* What the gate and the choice of the self-tuning disk cost a request, beside a plain pread of a cached file:
 * one thread, and several at once. usage: disk [DIRECTORY] */
#include "tuner/nightly/disk.h"
#include "bench/base/clock.h"
#include "models/statistics/student.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define IMAGE_BYTES (64U << 20)
#define BLOCK       4096U
#define N_REQUESTS  20000U
#define N_ROUNDS    41
#define MOST        8

static struct disk served;
static int plain_fd;

struct reader {
    pthread_t thread;
    bool plain;
    uint64_t random;
    struct disk_gate_client client;
    unsigned char buffer[BLOCK];
};

static void *read_all(void *context)
{
    struct reader *reader = context;
    for (unsigned i = 0; i < N_REQUESTS; i++) {
        reader->random = reader->random * 6364136223846793005ULL + 1442695040888963407ULL;
        uint64_t offset = (reader->random >> 33) % (IMAGE_BYTES / BLOCK) * BLOCK;
        bool is_read = reader->plain
                           ? pread(plain_fd, reader->buffer, BLOCK, (off_t)offset) == (ssize_t)BLOCK
                           : disk_read(&served, &reader->client, reader->buffer, BLOCK, offset) == 0;
        if (!is_read)
            return reader;
    }
    return NULL;
}

/* Nanoseconds a request, from start to end of all threads. */
static double measure(bool plain, size_t n_threads)
{
    static struct reader readers[MOST];
    uint64_t begin = clock_now_ns(&clock_monotonic);
    for (size_t i = 0; i < n_threads; i++) {
        readers[i].plain = plain;
        readers[i].random += i + 1;
        if (pthread_create(&readers[i].thread, NULL, read_all, &readers[i]) != 0)
            return 0;
    }
    for (size_t i = 0; i < n_threads; i++)
        pthread_join(readers[i].thread, NULL);
    return (double)(clock_now_ns(&clock_monotonic) - begin) / ((double)N_REQUESTS * (double)n_threads);
}

static void compare(size_t n_threads)
{
    double plain[N_ROUNDS], gated[N_ROUNDS], more[N_ROUNDS];
    for (size_t i = 0; i < N_ROUNDS; i++) {
        bool plain_first = i % 2 == 0;
        double first = measure(plain_first, n_threads), second = measure(!plain_first, n_threads);
        plain[i] = plain_first ? first : second;
        gated[i] = plain_first ? second : first;
        more[i] = gated[i] - plain[i];
    }
    printf("%zu threads: plain %.0f ns a request, served %.0f, more in the same round %.0f (medians of %d)\n",
           n_threads, median_of(plain, N_ROUNDS), median_of(gated, N_ROUNDS), median_of(more, N_ROUNDS),
           N_ROUNDS);
}

static int fill(int fd)
{
    static unsigned char block[1 << 20];
    for (size_t i = 0; i < IMAGE_BYTES / sizeof(block); i++) {
        if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
            return -1;
    }
    return fdatasync(fd);
}

int main(int argc, char **argv)
{
    char path[4096];
    struct disk_options options = {.path = path, .writable = true, .regret_share = 0};
    struct err err = {0};
    snprintf(path, sizeof(path), "%s/fstune-perf-disk-XXXXXX", argc > 1 ? argv[1] : ".");
    int fd = mkstemp(path);
    int code = fd < 0 || fill(fd) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (fd >= 0)
        close(fd);
    if (code == EXIT_SUCCESS && disk_open(&served, &options, &err) == 0) {
        plain_fd = open(path, O_RDONLY | O_CLOEXEC);
        for (size_t n = 1; n <= MOST; n *= 2)
            compare(n);
        close(plain_fd);
        disk_close(&served);
    } else {
        fprintf(stderr, "%s: %s\n", path, err.text);
        code = EXIT_FAILURE;
    }
    unlink(path);
    return code;
}
