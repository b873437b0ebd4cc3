/* The light reference program and its observation points. */
#include "bench/observe/reference_internal.h"

#include "bench/base/clock.h"
#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/target/target_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define KIB          ((size_t)1024)
#define READ_BYTES   (64 * KIB)   /* of a file that is read */
#define WRITE_BYTES  (16 * KIB)   /* of a file that is created */
#define SYNC_EVERY   4            /* steps; a file that is created then is synced */
#define SUM_BYTES    (16 * KIB)   /* fits into every first-level cache */
#define SUM_ROUNDS   64           /* so that a step takes some 100 us */
#define COPY_BYTES   (4096 * KIB) /* half of the buffer, read once and written once */
#define BUFFER_BYTES (2 * COPY_BYTES)
#define PILOT_STEPS  16
#define MOST_STEPS   ((size_t)OBSERVER_MAX_POINTS * REFERENCE_MAX_STEPS)
#define BOARD_BYTES  (sizeof(struct reference_board) + MOST_STEPS * sizeof(uint64_t))

const char *const reference_names[REFERENCE_N] = {"files", "cpu", "memory", "command"};

static int plant(struct reference *reference, int *fd, struct err *err)
{
    bool is_tmpfile;
    return target_create_nameless(reference->dir_fd, reference->directory, fd, &is_tmpfile, err);
}

static int fill_read_files(struct reference *reference, struct err *err)
{
    int result = 0;
    for (; result == 0 && reference->n_read < REFERENCE_READ_FILES; reference->n_read += result == 0) {
        int *fd = &reference->read_fds[reference->n_read];
        result = plant(reference, fd, err);
        if (result < 0)
            return result;
        result = full_io_write(*fd, reference->buffer, READ_BYTES, 0, NULL);
        if (result == 0)
            result = full_io_sync(*fd);
        if (result < 0) {
            close(*fd);
            return err_io(err, result, "%s: a file of the reference cannot be written", reference->directory);
        }
    }
    return 0;
}

static int make_memory(struct reference *reference, struct err *err)
{
    struct rng rng;
    rng_init(&rng, 1);
    reference->buffer = malloc(BUFFER_BYTES);
    void *board = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reference->board = board == MAP_FAILED ? NULL : board;
    if (reference->buffer == NULL || reference->board == NULL)
        return err_set(err, -ENOMEM, "no memory for the reference program");
    rng_fill(&rng, reference->buffer, BUFFER_BYTES);
    return 0;
}

static int open_place(struct reference *reference, const char *directory, struct err *err)
{
    reference->directory = directory;
    reference->dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return reference->dir_fd < 0
               ? err_sys(err, -errno, "%s: cannot be opened; give a directory with --path", directory)
               : 0;
}

int reference_open_command(struct reference *reference, const char *command, const char *directory,
                           size_t n_points, const atomic_int *interrupted, struct err *err)
{
    *reference = (struct reference){.kind = REFERENCE_COMMAND, .command = command, .dir_fd = -1};
    int result = open_place(reference, directory, err);
    if (result == 0)
        result = make_memory(reference, err);
    return result == 0 ? reference_survey(reference, n_points, interrupted, err) : result;
}

int reference_open(struct reference *reference, enum reference_kind kind, const char *directory,
                   size_t n_points, struct err *err)
{
    *reference = (struct reference){.kind = kind, .dir_fd = -1, .n_steps = 1};
    const uint64_t most_bytes = (REFERENCE_READ_FILES + 1ULL) * READ_BYTES;
    int result = open_place(reference, directory, err);
    if (result == 0)
        result = target_scratch_check(directory, most_bytes, err);
    if (result == 0)
        result = make_memory(reference, err);
    while (result == 0 && reference->n_points < n_points) {
        result = plant(reference, &reference->planted[reference->n_points], err);
        reference->n_points += result == 0;
        reference->n_planted = reference->n_points;
    }
    return result == 0 && kind == REFERENCE_FILES ? fill_read_files(reference, err) : result;
}

static uint64_t sum_of(const unsigned char *buffer, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + buffer[i];
    return sum;
}

static int create_file(const struct reference *reference, const unsigned char *content, bool is_synced)
{
    int fd;
    bool is_tmpfile;
    int result = target_create_nameless(reference->dir_fd, reference->directory, &fd, &is_tmpfile, NULL);
    if (result < 0)
        return result;
    result = full_io_write(fd, content, WRITE_BYTES, 0, NULL);
    if (result == 0 && is_synced)
        result = full_io_sync(fd);
    close(fd);
    return result;
}

int reference_step(const struct reference *reference, size_t step, uint64_t *sum)
{
    unsigned char *buffer = reference->buffer;
    if (reference->kind == REFERENCE_MEMORY) {
        memcpy(buffer + COPY_BYTES, buffer, COPY_BYTES);
        *sum += buffer[COPY_BYTES + step % COPY_BYTES];
        return 0;
    }
    if (reference->kind == REFERENCE_CPU) {
        for (int round = 0; round < SUM_ROUNDS; round++)
            *sum += sum_of(buffer, SUM_BYTES) + *sum % 7;
        return 0;
    }
    const int fd = reference->read_fds[step % reference->n_read];
    int result = full_io_read(fd, buffer, READ_BYTES, 0);
    /* The next step that reads it must not find it in memory. */
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    *sum += sum_of(buffer, READ_BYTES);
    return result == 0 ? create_file(reference, buffer, step % SYNC_EVERY == 0) : result;
}

static int pass_point(const struct reference *reference, size_t point)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", reference->planted[point]);
    reference->board->passed_ns[point] = clock_now_ns(&clock_monotonic);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

void reference_drop_files(const struct reference *reference)
{
    for (size_t i = 0; i < reference->n_read; i++)
        (void)posix_fadvise(reference->read_fds[i], 0, 0, POSIX_FADV_DONTNEED);
}

static int do_run(const struct reference *reference)
{
    volatile uint64_t kept;
    uint64_t sum = 0;
    size_t step = 0;
    reference_drop_files(reference);
    int result = pass_point(reference, 0);
    for (size_t point = 1; point < reference->n_points && result == 0; point++) {
        for (uint32_t i = 0; i < reference->n_steps && result == 0; i++, step++) {
            const uint64_t start_ns = clock_now_ns(&clock_monotonic);
            result = reference_step(reference, step, &sum);
            reference->board->step_ns[step] = clock_now_ns(&clock_monotonic) - start_ns;
        }
        if (result == 0)
            result = pass_point(reference, point);
    }
    kept = sum; /* or the compiler would leave the sums out */
    (void)kept;
    return result;
}

int reference_size(struct reference *reference, uint64_t run_ns, struct err *err)
{
    uint64_t sum = 0;
    int result = 0;
    if (reference->command != NULL)
        return 0;
    reference_drop_files(reference);
    const uint64_t start_ns = clock_now_ns(&clock_monotonic);
    for (size_t step = 0; step < PILOT_STEPS && result == 0; step++)
        result = reference_step(reference, step, &sum);
    if (result < 0)
        return err_io(err, result, "%s: the reference program fails", reference->directory);
    const uint64_t step_ns = (clock_now_ns(&clock_monotonic) - start_ns) / PILOT_STEPS + 1;
    const uint64_t wanted = run_ns / (reference->n_points - 1) / step_ns;
    reference->n_steps = wanted < SYNC_EVERY            ? SYNC_EVERY
                         : wanted > REFERENCE_MAX_STEPS ? REFERENCE_MAX_STEPS
                                                        : (uint32_t)(wanted - wanted % SYNC_EVERY);
    return 0;
}

/* Signals are the parent's business; it ends us. */
static void become_reference(const struct reference *reference, pid_t parent)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], SIG_DFL);
    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent) {
        if (reference->command != NULL)
            reference_become_command(reference->command, reference->board);
        reference->board->result = do_run(reference);
    }
    _exit(0);
}

int reference_start(struct reference *reference, pid_t *ret_pid, struct err *err)
{
    const pid_t parent = getpid();
    memset(reference->board->passed_ns, 0, sizeof reference->board->passed_ns);
    reference->board->result = -EINTR; /* until it says otherwise */
    pid_t pid = fork();
    if (pid < 0)
        return err_sys(err, -errno, "the reference program cannot be started");
    if (pid == 0)
        become_reference(reference, parent);
    setpgid(pid, pid); /* as the child does: whoever is first */
    *ret_pid = pid;
    return 0;
}

size_t reference_n_steps(const struct reference *reference)
{
    return (reference->n_points - 1) * reference->n_steps;
}

uint64_t reference_step_bytes(const struct reference *reference)
{
    return reference->kind == REFERENCE_FILES ? WRITE_BYTES : 0;
}

uint64_t reference_written_bytes(const struct reference *reference)
{
    return reference_n_steps(reference) * reference_step_bytes(reference);
}

void reference_close(struct reference *reference)
{
    for (size_t i = 0; i < reference->n_planted; i++)
        close(reference->planted[i]);
    for (size_t i = 0; i < reference->n_read; i++)
        close(reference->read_fds[i]);
    if (reference->dir_fd >= 0)
        close(reference->dir_fd);
    if (reference->board != NULL)
        munmap(reference->board, BOARD_BYTES);
    free(reference->buffer);
    *reference = (struct reference){.dir_fd = -1};
}
