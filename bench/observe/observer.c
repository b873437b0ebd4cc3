/* Opens seen by fanotify or inotify, stamped by a thread that reads the events at once. */
#include "bench/observe/observer.h"

#include "bench/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS_BYTES 8192
/* The thread sleeps but for a few events; it must not queue behind the load that is being judged. */
#define URGENT (-20)

const char *const observer_names[OBSERVER_N] = {"fanotify", "inotify", "self"};

static void note_point(struct observer *observer, size_t point, uint64_t now_ns)
{
    if (point < observer->n_points && observer->seen_ns[point] == 0)
        observer->seen_ns[point] = now_ns;
}

static size_t point_of_file(const struct observer *observer, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return observer->n_points;
    size_t point = 0;
    while (point < observer->n_points &&
           (observer->key[point].device != status.st_dev || observer->key[point].inode != status.st_ino))
        point++;
    return point;
}

/* A process that has ended already may have been of the group. */
static bool is_of_group(const struct observer *observer, pid_t pid)
{
    const pid_t group = observer->group > 0 ? getpgid(pid) : 0;
    return group <= 0 || group == observer->group;
}

static int take_fanotify(struct observer *observer, const char *events, ssize_t n, uint64_t now_ns)
{
    struct fanotify_event_metadata event;
    for (ssize_t at = 0; at + (ssize_t)sizeof event <= n; at += (ssize_t)event.event_len) {
        memcpy(&event, events + at, sizeof event);
        if (event.vers != FANOTIFY_METADATA_VERSION || event.event_len < sizeof event)
            return -EPROTO;
        if ((event.mask & FAN_Q_OVERFLOW) != 0)
            return -EOVERFLOW;
        if (event.fd < 0)
            continue;
        if (is_of_group(observer, event.pid))
            note_point(observer, point_of_file(observer, event.fd), now_ns);
        close(event.fd);
    }
    return 0;
}

static size_t point_of_watch(const struct observer *observer, int watch)
{
    size_t point = 0;
    while (point < observer->n_points && observer->key[point].watch != watch)
        point++;
    return point;
}

static int take_inotify(struct observer *observer, const char *events, ssize_t n, uint64_t now_ns)
{
    struct inotify_event event;
    for (ssize_t at = 0; at + (ssize_t)sizeof event <= n; at += (ssize_t)(sizeof event + event.len)) {
        memcpy(&event, events + at, sizeof event);
        if ((event.mask & IN_Q_OVERFLOW) != 0)
            return -EOVERFLOW;
        note_point(observer, point_of_watch(observer, event.wd), now_ns);
    }
    return 0;
}

/* All events that are there. */
static int take_events(struct observer *observer)
{
    char events[EVENTS_BYTES];
    for (;;) {
        ssize_t n = read(observer->fd, events, sizeof events);
        const uint64_t now_ns = clock_now_ns(&clock_monotonic);
        if (n < 0)
            return errno == EAGAIN ? 0 : errno == EINTR ? 0 : -errno;
        if (n == 0)
            return 0;
        int result = observer->kind == OBSERVER_FANOTIFY ? take_fanotify(observer, events, n, now_ns)
                                                         : take_inotify(observer, events, n, now_ns);
        if (result < 0)
            return result;
    }
}

static void *look(void *context)
{
    struct observer *observer = context;
    struct pollfd fds[2] = {{.fd = observer->fd, .events = POLLIN},
                            {.fd = observer->wake_fd, .events = POLLIN}};
    /* Without the right to it the thread stays as it is; then a loaded processor makes stamps late. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), URGENT);
    do {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            observer->result = -errno;
        else
            observer->result = take_events(observer);
    } while (observer->result == 0 && fds[1].revents == 0);
    return NULL;
}

static int mark_fanotify(struct observer *observer, const int *fds, size_t n)
{
    observer->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC);
    if (observer->fd < 0)
        return -errno;
    for (size_t i = 0; i < n; i++) {
        char path[32];
        struct stat status;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fds[i]);
        if (fstat(fds[i], &status) != 0 ||
            fanotify_mark(observer->fd, FAN_MARK_ADD, FAN_OPEN | FAN_OPEN_EXEC, AT_FDCWD, path) != 0)
            return -errno;
        observer->key[i].device = status.st_dev;
        observer->key[i].inode = status.st_ino;
    }
    return 0;
}

static int mark_inotify(struct observer *observer, const int *fds, size_t n)
{
    observer->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (observer->fd < 0)
        return -errno;
    for (size_t i = 0; i < n; i++) {
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fds[i]);
        observer->key[i].watch = inotify_add_watch(observer->fd, path, IN_OPEN);
        if (observer->key[i].watch < 0)
            return -errno;
    }
    return 0;
}

static int mark(struct observer *observer, enum observer_kind kind, const int *fds, size_t n)
{
    observer->kind = kind;
    int result = kind == OBSERVER_FANOTIFY  ? mark_fanotify(observer, fds, n)
                 : kind == OBSERVER_INOTIFY ? mark_inotify(observer, fds, n)
                                            : 0;
    if (result < 0 && observer->fd >= 0) {
        close(observer->fd);
        observer->fd = -1;
    }
    return result;
}

int observer_open(struct observer *observer, enum observer_kind kind, const int *fds, size_t n,
                  struct err *err)
{
    *observer = (struct observer){.fd = -1, .wake_fd = -1, .n_points = n};
    int result = -EINVAL;
    if (n > OBSERVER_MAX_POINTS)
        return err_set(err, -EINVAL, "more than %d observation points", OBSERVER_MAX_POINTS);
    if (kind != OBSERVER_N)
        result = mark(observer, kind, fds, n);
    for (int each = 0; kind == OBSERVER_N && each < OBSERVER_N && result < 0; each++)
        result = mark(observer, (enum observer_kind)each, fds, n);
    if (result < 0)
        return err_sys(err, result, "%s: opens of files cannot be observed; use --observe self",
                       observer_names[kind < OBSERVER_N ? kind : OBSERVER_FANOTIFY]);
    return 0;
}

static int start_thread(struct observer *observer)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(&observer->thread, NULL, look, observer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int observer_begin(struct observer *observer, struct err *err)
{
    if (observer->kind == OBSERVER_SELF)
        return 0;
    /* What came before this run belongs to nobody. */
    int result = take_events(observer);
    memset(observer->seen_ns, 0, sizeof observer->seen_ns);
    observer->result = 0;
    if (result == 0 || result == -EOVERFLOW) {
        observer->wake_fd = eventfd(0, EFD_CLOEXEC);
        result = observer->wake_fd < 0 ? -errno : start_thread(observer);
    }
    if (result < 0 && observer->wake_fd >= 0) {
        close(observer->wake_fd);
        observer->wake_fd = -1;
    }
    return result < 0 ? err_sys(err, result, "opens of files cannot be observed") : 0;
}

int observer_end(struct observer *observer, struct err *err)
{
    const uint64_t one = 1;
    if (observer->kind == OBSERVER_SELF)
        return 0;
    ssize_t written = write(observer->wake_fd, &one, sizeof one);
    (void)written; /* an eventfd at 0 takes it */
    pthread_join(observer->thread, NULL);
    close(observer->wake_fd);
    observer->wake_fd = -1;
    if (observer->result == -EOVERFLOW)
        return err_set(err, -EOVERFLOW, "the kernel dropped events of opens");
    return observer->result < 0 ? err_sys(err, observer->result, "opens of files cannot be observed") : 0;
}

void observer_close(struct observer *observer)
{
    if (observer->fd > 0)
        close(observer->fd);
    *observer = (struct observer){.fd = -1, .wake_fd = -1};
}
