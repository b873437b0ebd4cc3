/* A program that fstune retune --online tunes: it rewrites a file in blocks, reads their size from a file of
 * values when it starts and on SIGHUP, and keeps the number of bytes that it has written in a counter.
 *
 *     cc -O2 tunable_writer.c -o tunable_writer
 *     ./tunable_writer data values counter
 *
 * values holds a line block=BYTES. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_BYTES   (16U << 20)
#define BYTES_A_LOOK (1U << 20) /* between two looks at the signal and the counter */

static volatile sig_atomic_t reload = 1;

static void on_hangup(int number)
{
    (void)number;
    reload = 1;
}

/* What cannot be read leaves the size as it is. */
static size_t read_block_size(const char *path, size_t before)
{
    unsigned long bytes = 0;
    FILE *file = fopen(path, "re");
    int n = file != NULL ? fscanf(file, "block=%lu", &bytes) : 0;
    if (file != NULL)
        fclose(file);
    return n == 1 && bytes >= 512 && bytes <= BYTES_A_LOOK ? bytes : before;
}

/* With one call and always as long, so that nobody reads half of it. */
static int tell(int fd, uint64_t n_bytes)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%020llu\n", (unsigned long long)n_bytes);
    return pwrite(fd, text, (size_t)n, 0) == n ? 0 : -1;
}

static int work(const char *values, int data_fd, int counter_fd, const char *buffer)
{
    size_t block = 4096, offset = 0;
    for (uint64_t n_bytes = 0;;) {
        if (reload) {
            reload = 0;
            block = read_block_size(values, block);
        }
        for (size_t n = 0; n < BYTES_A_LOOK; n += block, n_bytes += block) {
            if (pwrite(data_fd, buffer, block, (off_t)offset) != (ssize_t)block)
                return -1;
            offset = (offset + block) % FILE_BYTES;
        }
        if (tell(counter_fd, n_bytes) < 0)
            return -1;
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: tunable_writer DATA VALUES COUNTER\n");
        return 2;
    }
    struct sigaction action = {.sa_handler = on_hangup, .sa_flags = SA_RESTART};
    sigaction(SIGHUP, &action, NULL);
    int data_fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    int counter_fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    char *buffer = calloc(1, BYTES_A_LOOK);
    if (data_fd >= 0 && counter_fd >= 0 && buffer != NULL)
        work(argv[2], data_fd, counter_fd, buffer);
    perror("tunable_writer");
    return 1;
}
