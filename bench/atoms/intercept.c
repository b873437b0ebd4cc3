/* A thread that runs activities, and the loop that answers their reports. */
#include "bench/atoms/intercept.h"

#include "bench/atoms/atoms_internal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct activities {
    const struct atom *atom;
    int (*work)(void *state, uint64_t n);
    void *state;
    uint64_t n, ns;
    struct atom_shared *shared;
    int stage_fd;  /* an event when reports begin, and one at the end */
    int report_fd; /* -1 before they begin, and where they cannot */
    int result;
};

static void tell(int fd)
{
    static const uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void *run_activities(void *context)
{
    struct activities *activities = context;
    activities->result =
        activities->atom->interceptor->begin(activities->atom, activities->shared, &activities->report_fd);
    tell(activities->stage_fd);
    if (activities->result == 0)
        activities->result =
            atom_time(NULL, activities->work, &activities->state, activities->n, &activities->ns);
    tell(activities->stage_fd);
    return NULL;
}

static int await_stage(int fd)
{
    uint64_t stage;
    ssize_t n;
    do
        n = read(fd, &stage, sizeof stage);
    while (n < 0 && errno == EINTR);
    return n == sizeof stage ? 0 : -EIO;
}

/* Until the activities and the thread have ended: what a thread calls at its end may be held up, too. */
static int answer_reports(const struct activities *activities, pthread_t thread)
{
    for (bool is_done = false; !is_done || pthread_tryjoin_np(thread, NULL) != 0;) {
        struct pollfd fds[] = {{.fd = is_done ? -1 : activities->stage_fd, .events = POLLIN},
                               {.fd = activities->report_fd, .events = POLLIN}};
        if (poll(fds, 2, is_done ? 1 : -1) < 0 && errno != EINTR)
            return -errno;
        int result = (fds[1].revents & POLLIN) != 0
                         ? activities->atom->interceptor->answer(activities->report_fd, activities->shared)
                         : 0;
        if (result == 0 && fds[0].revents != 0) {
            result = await_stage(activities->stage_fd);
            is_done = true;
        }
        if (result < 0)
            return result;
    }
    return 0;
}

static int run_and_answer(struct activities *activities)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(&thread, NULL, run_activities, activities);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result < 0)
        return result;
    /* The descriptor of the reports is known to this thread only after the first stage. */
    result = await_stage(activities->stage_fd);
    if (result == 0)
        result = answer_reports(activities, thread);
    /* What still waits for an answer goes on when nobody is there to give it. */
    if (activities->report_fd >= 0)
        close(activities->report_fd);
    if (result < 0)
        pthread_join(thread, NULL);
    activities->shared->has_fault_fd = false;
    return result < 0 ? result : activities->result;
}

int intercept_run(const struct atom *atom, int (*work)(void *state, uint64_t n), void *state, uint64_t n,
                  struct atom_shared *shared, uint64_t *ret_ns)
{
    struct activities activities = {
        .atom = atom, .work = work, .state = state, .n = n, .shared = shared, .report_fd = -1};
    activities.stage_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (activities.stage_fd < 0)
        return -errno;
    /* Both threads: a new one inherits it. */
    int result = atom_pin(0);
    if (result == 0)
        result = run_and_answer(&activities);
    atom_unpin();
    close(activities.stage_fd);
    *ret_ns = activities.ns;
    return result;
}
