/* A program that chooses its own block size: libfstune finds the size, and whether to announce that the file
 * is read in order, with which it reads a file fastest.
 *
 *     cc own_block_size.c $(pkg-config --cflags --libs fstune) -o own_block_size
 *     ./own_block_size FILE SECONDS
 */
#include <fstune/fstune.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES (64L << 20) /* of the file, for each measurement */

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Bytes per second of reading the file in blocks; 0 where that failed. */
static double read_rate(int file, size_t block, int advise)
{
    char *buffer = malloc(block);
    double start = now_seconds();
    long bytes = 0;
    ssize_t n = 1;
    if (buffer == NULL || lseek(file, 0, SEEK_SET) < 0)
        n = -1;
    posix_fadvise(file, 0, 0, advise ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_NORMAL);
    while (n > 0 && bytes < MOST_BYTES) {
        n = read(file, buffer, block);
        bytes += n > 0 ? n : 0;
    }
    free(buffer);
    return n < 0 ? 0 : (double)bytes / (now_seconds() - start);
}

static void measure(struct fst_search *search, const struct fst_run *run, int file)
{
    double start = now_seconds();
    double rate = read_rate(file, (size_t)run->values[0], run->values[1] > 0);
    if (rate > 0)
        fst_tell(search, run, rate, now_seconds() - start);
    else
        fst_fail(search, run, now_seconds() - start);
}

static int answer(const struct fst_search *search)
{
    struct fst_answer answer;
    if (fst_answer(search, &answer) < 0) {
        fputs("nothing could be measured\n", stderr);
        return 1;
    }
    printf("blocks of %.0f bytes%s: %.0f MB/s\n", answer.recommended.values[0],
           answer.recommended.values[1] > 0 ? ", announced as sequential" : "",
           answer.recommended.value / 1e6);
    printf("at least %.0f %% of the best%s\n", 100 * (1 - answer.shortfall),
           answer.conclusive ? "" : ", not conclusive");
    return 0;
}

/* What costs memory: of blocks that are as fast, the smaller ones are recommended. */
static double price_of(const double *values, void *context)
{
    (void)context;
    return values[0];
}

int main(int argc, char **argv)
{
    int file = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    struct fst_space *space = fst_space_new();
    struct fst_options options = FST_OPTIONS;
    struct fst_run run;
    if (file < 0 || space == NULL || fst_space_add_sizes(space, "block", 512, 4 << 20) < 0 ||
        fst_space_add_choices(space, "advise", 2) < 0) {
        fputs("usage: own_block_size FILE SECONDS\n", stderr);
        return 2;
    }
    options.budget = atof(argv[2]);
    options.run_cost = 0.02;
    options.price = price_of;
    struct fst_search *search = fst_search_new(space, &options);
    fst_space_free(space);
    if (search == NULL) {
        perror("own_block_size");
        return 2;
    }
    double start = now_seconds();
    while (fst_ask(search, now_seconds() - start, &run) == 1)
        measure(search, &run, file);
    int code = answer(search);
    fst_search_free(search);
    close(file);
    return code;
}
