/* The reference program alone or beside a command, and what was seen meanwhile. */
#include "bench/observe/neighbour.h"

#include "bench/base/clock.h"
#include "bench/base/guard.h"
#include "bench/base/spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS  100
#define GRACE_NS 1000000000ULL

struct watch {
    struct neighbour *neighbour;
    struct disturber disturber;
    pid_t pid;   /* of the reference; 0: it does not run */
    pid_t guard; /* of the reference, where it is a command, which may start others */
    int pid_fd;
    uint64_t end_ns; /* when it was seen to have ended */
};

static bool is_interrupted(const struct neighbour *neighbour)
{
    return neighbour->interrupted != NULL && atomic_load(neighbour->interrupted) != 0;
}

/* Waits until the reference has ended or, where there is none, until the time comes; meanwhile a command that
 * ends is started again. */
static int attend(struct watch *watch, uint64_t until_ns, struct err *err)
{
    const struct neighbour *neighbour = watch->neighbour;
    for (;;) {
        struct pollfd fds[3] = {
            {.fd = watch->pid_fd, .events = POLLIN},
            {.fd = watch->disturber.pid > 0 ? watch->disturber.pid_fd : -1, .events = POLLIN},
            {.fd = neighbour->interrupt_fd, .events = POLLIN}};
        const uint64_t now_ns = clock_now_ns(&clock_monotonic);
        const uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns) / 1000000 + 1 : 0;
        poll(fds, 3, left_ms < POLL_MS ? (int)left_ms : POLL_MS);
        if (is_interrupted(neighbour))
            return err_set(err, -EINTR, "interrupted");
        if (fds[0].revents != 0) {
            watch->end_ns = clock_now_ns(&clock_monotonic);
            return 0;
        }
        int result = fds[1].revents != 0 ? disturber_again(&watch->disturber, err) : 0;
        if (result < 0)
            return result;
        if (clock_now_ns(&clock_monotonic) >= until_ns)
            return watch->pid > 0 ? err_set(err, -ETIMEDOUT, "the reference did not end in time beside %s",
                                            watch->disturber.pid > 0 ? watch->disturber.argv[0] : "nothing")
                                  : 0;
    }
}

static int start_reference(struct watch *watch, struct err *err)
{
    int result = reference_start(watch->neighbour->reference, &watch->pid, err);
    if (result < 0)
        return result;
    watch->neighbour->observer->group = watch->neighbour->reference->command != NULL ? watch->pid : 0;
    watch->pid_fd = pidfd_open(watch->pid, 0);
    if (watch->pid_fd < 0)
        return err_sys(err, -errno, "the reference cannot be watched");
    if (watch->neighbour->reference->command != NULL)
        watch->guard = guard_start(watch->pid, err);
    watch->disturber.kept[0] = watch->pid;
    watch->disturber.kept[1] = watch->guard;
    return watch->guard < 0 ? watch->guard : 0;
}

static void end_reference(struct watch *watch)
{
    struct reference *reference = watch->neighbour->reference;
    int status = 0;
    if (watch->pid > 0 && spawn_reap(watch->pid, &status) == 0) {
        kill(-watch->pid, SIGKILL);
        (void)spawn_reap_within(watch->pid, GRACE_NS, &status);
    }
    if (watch->pid > 0 && reference->command != NULL)
        kill(-watch->pid, SIGKILL); /* what it has left behind */
    guard_stop(watch->guard);
    if (watch->pid > 0 && reference->command != NULL)
        reference->board->result = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
    if (watch->pid_fd >= 0)
        close(watch->pid_fd);
    watch->pid = watch->guard = watch->disturber.kept[0] = watch->disturber.kept[1] = 0;
    watch->pid_fd = -1;
}

static void copy_times(const uint64_t *passed_ns, size_t n, double *times_s)
{
    for (size_t i = 0; i < n; i++)
        times_s[i] = ((double)passed_ns[i] - (double)passed_ns[0]) / 1e9;
}

/* A command passes its first point when it starts, and its last when it ends. */
static void take_command_times(const struct watch *watch, uint64_t *ret_seen_ns)
{
    const struct neighbour *neighbour = watch->neighbour;
    const size_t n = neighbour->reference->n_points;
    ret_seen_ns[0] = neighbour->reference->board->passed_ns[0];
    memcpy(ret_seen_ns + 1, neighbour->observer->seen_ns, (n - 2) * sizeof *ret_seen_ns);
    ret_seen_ns[n - 1] = watch->end_ns;
}

int neighbour_check_points(const uint64_t *seen_ns, size_t n, bool may_be_equal, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (seen_ns[i] == 0 || (i > 0 && seen_ns[i] < seen_ns[i - 1]))
            return err_set(err, -EOVERFLOW, "observation point %zu was not seen", i);
        if (i > 0 && seen_ns[i] == seen_ns[i - 1] && !may_be_equal)
            return -ESTALE;
    }
    return 0;
}

/* On a busy machine the observer's thread may not get a processor between two points; both events then wait
 * to be read, and have the one time at which it reads them. */
int neighbour_choose_times(const uint64_t *seen_ns, const uint64_t *noted_ns, size_t n,
                           const uint64_t **ret_ns, struct err *err)
{
    int result = neighbour_check_points(seen_ns, n, false, err);
    *ret_ns = result == -ESTALE ? noted_ns : seen_ns;
    return result == -ESTALE ? neighbour_check_points(noted_ns, n, true, err) : result;
}

static int take_times(const struct watch *watch, struct neighbour_run *run, struct err *err)
{
    const struct neighbour *neighbour = watch->neighbour;
    const struct reference *reference = neighbour->reference;
    const bool is_own = neighbour->observer->kind == OBSERVER_SELF;
    uint64_t of_command_ns[OBSERVER_MAX_POINTS];
    const uint64_t *seen_ns = reference->command != NULL ? of_command_ns
                              : is_own                   ? reference->board->passed_ns
                                                         : neighbour->observer->seen_ns;
    if (reference->command != NULL)
        take_command_times(watch, of_command_ns);
    if (reference->board->result == -ECHILD)
        return err_set(err, -ECANCELED, "--reference: the command failed; give one that succeeds");
    if (reference->board->result < 0)
        return err_io(err, reference->board->result, "%s: the reference program failed",
                      reference->directory);
    int result = reference->command != NULL ? neighbour_check_points(seen_ns, reference->n_points, true, err)
                                            : neighbour_choose_times(seen_ns, reference->board->passed_ns,
                                                                     reference->n_points, &seen_ns, err);
    if (result == 0)
        copy_times(seen_ns, reference->n_points, run->times_s);
    return result;
}

static struct disturber_work work_between(struct disturber_work before, struct disturber_work after)
{
    return (struct disturber_work){.completed = after.completed - before.completed,
                                   .cpu_s = after.cpu_s - before.cpu_s,
                                   .read_bytes = after.read_bytes - before.read_bytes,
                                   .written_bytes = after.written_bytes - before.written_bytes};
}

/* The timed part, the command already at work. */
static int observe_reference(struct watch *watch, struct neighbour_run *run, struct err *err)
{
    struct neighbour *neighbour = watch->neighbour;
    struct pressure before, after;
    int result = observer_begin(neighbour->observer, err);
    if (result < 0)
        return result;
    const struct disturber_work work = disturber_work_now(&watch->disturber);
    pressure_read(&before);
    const uint64_t start_ns = clock_now_ns(&clock_monotonic);
    result = start_reference(watch, err);
    if (result == 0)
        result =
            attend(watch, neighbour->timeout_ns > 0 ? start_ns + neighbour->timeout_ns : UINT64_MAX, err);
    const uint64_t end_ns = clock_now_ns(&clock_monotonic);
    pressure_read(&after);
    run->seconds = (double)(end_ns - start_ns) / 1e9;
    run->work = work_between(work, disturber_work_now(&watch->disturber));
    for (int kind = 0; kind < PRESSURE_N; kind++)
        run->pressure.some_s[kind] = after.some_s[kind] - before.some_s[kind];
    int ended = observer_end(neighbour->observer, result == 0 ? err : NULL);
    end_reference(watch);
    return result < 0 ? result : ended < 0 ? ended : take_times(watch, run, err);
}

int neighbour_run(struct neighbour *neighbour, const char *const *command, struct neighbour_run *run,
                  struct err *err)
{
    struct watch watch = {.neighbour = neighbour, .disturber = {.pid_fd = -1}, .pid_fd = -1};
    /* What the run before left to be written would be charged to this one. */
    (void)syncfs(neighbour->reference->dir_fd);
    if (is_interrupted(neighbour))
        return err_set(err, -EINTR, "interrupted");
    int result = command != NULL ? disturber_start(&watch.disturber, command, err) : 0;
    if (result == 0)
        result = attend(&watch, clock_now_ns(&clock_monotonic) + (command != NULL ? neighbour->settle_ns : 0),
                        err);
    if (result == 0)
        result = observe_reference(&watch, run, err);
    disturber_stop(&watch.disturber);
    return result;
}
