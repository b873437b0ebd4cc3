/* tuner/nightly/retune_process: what is measured is told through shared memory and a pipe, whose end says
 * that all is there. */
#include "tuner/nightly/retune_steps.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS         250
#define LAST_WORDS_NS   (3 * CLOCK_NS_PER_S) /* after a signal; a worker that hangs is given up before */
#define GRACE_NS        CLOCK_NS_PER_S       /* from the last word to the end of the process */
#define GRACE_SIGNAL_NS (CLOCK_NS_PER_S / 10)

struct shared {
    struct retune_patience patience;
    atomic_bool told; /* what follows is whole; the night's document comes through the pipe */
    bool worked;
    struct retune_outcome outcome;
};

struct link {
    const struct retune_world *world;
    struct shared *shared;
    pid_t pid;
    int fd;
    uint64_t asked_ns; /* when it was asked to end; 0: not yet */
    FILE *heard;       /* gathers the night's document */
};

/* Closes the output here, so that its readers do not wait for a process that hangs. */
static void let_go(int fd)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0 && dup2(nothing, fd) >= 0)
        close(nothing);
}

static void work(const struct retune_world *world, struct shared *shared, struct retune_outcome *outcome,
                 bool after_own_work)
{
    struct retune_world own = *world;
    struct history history = {0};
    const struct history_place place = {.path = world->db, .write = true};
    struct err err = {0};
    let_go(STDOUT_FILENO);
    int result = interrupt_setup_below(&err);
    if (result == 0)
        result = history_open(&history, &place, &err);
    own.history = &history;
    own.patience = &shared->patience;
    if (result == 0)
        shared->worked = retune_target(&own, outcome, after_own_work);
    else
        retune_fail(world, outcome, err.text);
    history_close(&history);
}

/* Dies with the process that waits for it. */
static _Noreturn void become_worker(const struct retune_world *world, struct shared *shared, int fd,
                                    pid_t parent, struct retune_outcome *outcome, bool after_own_work)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(EXIT_FAILED);
    work(world, shared, outcome, after_own_work);
    FILE *out = fdopen(fd, "w");
    if (out == NULL ||
        (outcome->measured && outcome->night.document != NULL &&
         json_dumpf(outcome->night.document, out, JSON_COMPACT) != 0) ||
        fflush(out) != 0)
        _exit(EXIT_FAILED);
    shared->outcome = *outcome;
    atomic_store(&shared->told, true);
    let_go(STDERR_FILENO);
    close(fd);
    _exit(EXIT_DONE);
}

/* False: no more can be read. */
static bool read_part(struct link *link, bool *ret_ended)
{
    char part[8192];
    ssize_t n = read(link->fd, part, sizeof part);
    *ret_ended = n == 0;
    if (n <= 0)
        return n == 0 || errno == EINTR;
    return fwrite(part, 1, (size_t)n, link->heard) == (size_t)n;
}

/* A signal waits for hooks, but not for what hangs. */
static uint64_t end_of(const struct link *link)
{
    const struct retune_patience *patience = &link->shared->patience;
    uint64_t end_ns = atomic_load(&patience->end_ns), words_ns = link->asked_ns + LAST_WORDS_NS;
    if (link->asked_ns == 0)
        return end_ns;
    return atomic_load(&patience->hooks) && end_ns > words_ns ? end_ns : words_ns;
}

/* Reads until the process has told all, or its time is over. */
static void listen_to(struct link *link)
{
    struct pollfd fds[2] = {{.fd = link->fd, .events = POLLIN},
                            {.fd = interrupt_descriptor(), .events = POLLIN}};
    for (bool ended = false; !ended;) {
        uint64_t now_ns = clock_now_ns(&clock_monotonic);
        bool late = now_ns >= end_of(link);
        if (late && link->asked_ns != 0)
            return;
        if (link->asked_ns == 0 && (late || retune_is_interrupted(link->world))) {
            kill(link->pid,
                 retune_is_interrupted(link->world) ? atomic_load(link->world->interrupted) : SIGTERM);
            link->asked_ns = now_ns;
            fds[1].fd = -1;
        }
        int n = poll(fds, 2, POLL_MS);
        if (n > 0 && fds[0].revents != 0 && !read_part(link, &ended))
            return;
    }
}

/* 1, 0 or a negative errno, as spawn_reap. */
static int end_process(const struct link *link, int *ret_status)
{
    uint64_t grace_ns = retune_is_interrupted(link->world) ? GRACE_SIGNAL_NS : GRACE_NS;
    int ended = spawn_reap_within(link->pid, grace_ns, ret_status);
    if (ended != 0)
        return ended;
    kill(link->pid, SIGKILL);
    return spawn_reap_within(link->pid, grace_ns, ret_status);
}

/* The outcome of a process that did not tell all, or did not end. */
static void blame_night_process(const struct link *link, struct retune_outcome *outcome, int ended,
                                int status)
{
    char text[RETUNE_TEXT_SIZE];
    const struct retune_target *target = outcome->target;
    if (outcome->measured)
        retune_result_done(&outcome->night);
    *outcome = (struct retune_outcome){.target = target};
    if (ended == 0)
        snprintf(text, sizeof text,
                 "does not answer: the device has stalled (see dmesg); left to the kernel as process %ld",
                 (long)link->pid);
    else if (link->asked_ns != 0)
        snprintf(text, sizeof text, "did not end in time and was killed");
    else if (ended > 0 && WIFSIGNALED(status))
        snprintf(text, sizeof text, "its process was ended by signal %d%s", WTERMSIG(status),
                 WTERMSIG(status) == SIGKILL ? " (is memory short? see dmesg)" : "");
    else
        snprintf(text, sizeof text, "its process ended without an answer");
    retune_fail(link->world, outcome, text);
}

/* Takes over what was told; false where that is not whole. */
static bool take_outcome(const struct link *link, const char *text, size_t n, struct retune_outcome *outcome)
{
    if (!atomic_load(&link->shared->told))
        return false;
    struct retune_outcome told = link->shared->outcome;
    if (told.measured && told.night.document != NULL) {
        told.night.document = json_loadb(text, n, 0, NULL);
        if (told.night.document == NULL)
            return false;
    }
    *outcome = told;
    return true;
}

static void attend(struct link *link, struct retune_outcome *outcome)
{
    int status = 0;
    char *text = NULL;
    size_t n = 0;
    link->heard = open_memstream(&text, &n);
    if (link->heard != NULL)
        listen_to(link);
    int ended = end_process(link, &status);
    bool told = link->heard != NULL && fclose(link->heard) == 0 && take_outcome(link, text, n, outcome);
    /* A process that was asked to end has told what it could: that is no failure. */
    if (!told || (ended == 0 && !retune_is_interrupted(link->world)))
        blame_night_process(link, outcome, ended, status);
    free(text);
}

static int start_night_process(const struct retune_world *world, struct link *link,
                               struct retune_outcome *outcome, bool after_own_work)
{
    int fds[2];
    pid_t parent = getpid();
    if (pipe2(fds, O_CLOEXEC) != 0)
        return -errno;
    atomic_store(&link->shared->patience.end_ns, clock_now_ns(&clock_monotonic) + world->slack_ns);
    link->pid = fork();
    if (link->pid == 0)
        become_worker(world, link->shared, fds[1], parent, outcome, after_own_work);
    int result = link->pid < 0 ? -errno : 0;
    close(fds[1]);
    link->fd = fds[0];
    return result;
}

bool retune_process_run(const struct retune_world *world, struct retune_outcome *outcome, bool after_own_work)
{
    struct link link = {.world = world, .fd = -1};
    struct err err = {0};
    void *memory = mmap(NULL, sizeof *link.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int result = memory != MAP_FAILED ? 0 : -errno;
    link.shared = memory;
    if (result == 0)
        result = start_night_process(world, &link, outcome, after_own_work);
    if (result == 0)
        attend(&link, outcome);
    if (result < 0) {
        err_sys(&err, result, "its process cannot be started");
        retune_fail(world, outcome, err.text);
    }
    bool worked = result == 0 && link.shared->worked;
    if (link.fd >= 0)
        close(link.fd);
    if (memory != MAP_FAILED)
        munmap(memory, sizeof *link.shared);
    outcome->ended_s = (double)clock_realtime_ns() / 1e9;
    return worked;
}
