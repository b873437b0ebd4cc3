/* A command of the user's as the reference: its observation points are files that it opens, picked in a first
 * run. Nothing is planted among the user's files. */
#include "bench/observe/reference_internal.h"

#include "bench/base/clock.h"
#include "bench/base/guard.h"
#include "bench/base/spawn.h"
#include "bench/observe/activity_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_FILES   65536
#define EVENTS_BYTES 65536
#define POLL_MS      50

/* A file that the command opened, and when it did so first. */
struct opened {
    char *path;
    dev_t device;
    ino_t inode;
    uint64_t at_ns;
};

struct survey {
    int fd;
    pid_t group;
    struct opened *files; /* [MOST_FILES] */
    size_t n;
    uint64_t start_ns, end_ns;
};

void reference_become_command(const char *command, struct reference_board *board)
{
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    board->passed_ns[0] = clock_now_ns(&clock_monotonic);
    activity_become(argv);
}

static bool is_known(const struct survey *survey, const struct stat *status)
{
    for (size_t i = 0; i < survey->n; i++) {
        if (survey->files[i].device == status->st_dev && survey->files[i].inode == status->st_ino)
            return true;
    }
    return false;
}

static void take_file(struct survey *survey, int fd, pid_t pid, uint64_t now_ns)
{
    char link[32], path[PATH_MAX];
    struct stat status;
    /* A process that has ended already is not known to be ours; then the file is no point. */
    if (getpgid(pid) != survey->group || survey->n == MOST_FILES || fstat(fd, &status) != 0 ||
        !S_ISREG(status.st_mode) || is_known(survey, &status))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    struct opened file = {strdup(path), status.st_dev, status.st_ino, now_ns};
    if (file.path != NULL)
        survey->files[survey->n++] = file;
}

static int take_opens(struct survey *survey)
{
    static char events[EVENTS_BYTES];
    struct fanotify_event_metadata event;
    ssize_t n;
    while ((n = read(survey->fd, events, sizeof events)) > 0) {
        const uint64_t now_ns = clock_now_ns(&clock_monotonic);
        for (ssize_t at = 0; at + (ssize_t)sizeof event <= n; at += (ssize_t)event.event_len) {
            memcpy(&event, events + at, sizeof event);
            if ((event.mask & FAN_Q_OVERFLOW) != 0)
                return -EOVERFLOW;
            if (event.fd >= 0) {
                take_file(survey, event.fd, event.pid, now_ns);
                close(event.fd);
            }
        }
    }
    return n == 0 || errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static pid_t start_surveyed(const char *command, struct reference_board *board)
{
    const pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
            reference_become_command(command, board);
        _exit(1);
    }
    if (pid > 0)
        setpgid(pid, pid);
    return pid;
}

/* The command once, with every open of its group noted. */
static int run_surveyed(struct survey *survey, const char *command, struct reference_board *board,
                        const atomic_int *interrupted, struct err *err)
{
    int status = 0, result = 0, ended = 0;
    pid_t pid = start_surveyed(command, board);
    if (pid < 0)
        return err_sys(err, -errno, "the reference cannot be started");
    const pid_t guard = guard_start(pid, err);
    survey->group = pid;
    survey->start_ns = clock_now_ns(&clock_monotonic);
    while (ended == 0 && result == 0 && guard > 0) {
        struct pollfd fd = {.fd = survey->fd, .events = POLLIN};
        poll(&fd, 1, survey->fd >= 0 ? POLL_MS : 1);
        result = survey->fd >= 0 ? take_opens(survey) : 0;
        if (interrupted != NULL && atomic_load(interrupted) != 0)
            result = -EINTR;
        ended = spawn_reap(pid, &status);
    }
    survey->end_ns = clock_now_ns(&clock_monotonic);
    kill(-pid, SIGKILL);
    if (ended == 0)
        (void)spawn_reap_within(pid, CLOCK_NS_PER_S, &status);
    guard_stop(guard);
    if (guard < 0)
        return guard;
    if (result == -EINTR)
        return err_set(err, result, "interrupted");
    if (result < 0)
        return err_sys(err, result, "--reference: the files that it opens cannot be seen");
    return activity_check("--reference: the command", status, err);
}

/* Opens of files that lie on these mounts alone are seen. */
static int mark_mounts(const char *directory)
{
    const uint64_t mask = FAN_OPEN;
    int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE,
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    if (fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, mask, AT_FDCWD, "/") == 0 &&
        fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, mask, AT_FDCWD, ".") == 0 &&
        fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, mask, AT_FDCWD, directory) == 0)
        return fd;
    int result = -errno;
    close(fd);
    return result;
}

/* Of the files from `first` on, the one whose first open was nearest to that time. */
static size_t nearest_file(const struct survey *survey, size_t first, uint64_t at_ns)
{
    size_t best = first;
    uint64_t distance = UINT64_MAX;
    for (size_t i = first; i < survey->n; i++) {
        const uint64_t seen_ns = survey->files[i].at_ns;
        const uint64_t off_ns = seen_ns > at_ns ? seen_ns - at_ns : at_ns - seen_ns;
        if (off_ns < distance) {
            distance = off_ns;
            best = i;
        }
    }
    return best;
}

/* Points in the middle, as evenly over the time as the files allow. */
static void pick_files(struct reference *reference, const struct survey *survey, size_t n_points)
{
    const uint64_t length_ns = survey->end_ns - survey->start_ns;
    size_t first = 0, n_picked = 0;
    for (size_t point = 1; point + 1 < n_points && first < survey->n; point++) {
        const size_t i = nearest_file(survey, first, survey->start_ns + length_ns / (n_points - 1) * point);
        int fd = open(survey->files[i].path, O_PATH | O_CLOEXEC);
        if (fd >= 0)
            reference->planted[n_picked++] = fd;
        first = i + 1;
    }
    reference->n_planted = n_picked;
    reference->n_points = n_picked + 2;
}

int reference_survey(struct reference *reference, size_t n_points, const atomic_int *interrupted,
                     struct err *err)
{
    struct survey survey = {.fd = mark_mounts(reference->directory),
                            .files = calloc(MOST_FILES, sizeof *survey.files)};
    if (survey.files == NULL) {
        if (survey.fd >= 0)
            close(survey.fd);
        return err_set(err, -ENOMEM, "no memory for the files of the reference");
    }
    int result = run_surveyed(&survey, reference->command, reference->board, interrupted, err);
    if (result == 0) {
        reference->survey_ns = survey.end_ns - survey.start_ns;
        pick_files(reference, &survey, n_points);
    }
    if (survey.fd >= 0)
        close(survey.fd);
    for (size_t i = 0; i < survey.n; i++)
        free(survey.files[i].path);
    free(survey.files);
    return result;
}
