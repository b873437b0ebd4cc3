/* The control socket. */
#include "tuner/nightly/disk_control.h"

#include "bench/base/clock.h"
#include "tuner/nightly/disk_metrics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_SIZE  8192
#define COMMAND_SIZE 128
#define TALK_SECONDS 2

/* A text that grows as far as it has room. */
struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    size_t used = n < 0 ? 0 : (size_t)n < text->left ? (size_t)n : text->left - 1;
    text->at += used;
    text->left -= used;
}

static void describe_kind(const struct online *online, unsigned kind, struct text *text)
{
    const struct online_mind *mind = &online->mind[kind];
    char words[DISK_WAYS_TEXT_SIZE];
    if (mind->n_slices == 0 && !mind->is_settled)
        return;
    add(text, "kind %s: %s, %.2f times, %s, %zu trials, %llu slices\n", kind_name(kind),
        disk_ways_format(disk_ways_of_setting(&mind->best), words), mind->gain,
        mind->is_settled                        ? "settled"
        : mind->search != NULL || mind->is_away ? "searching"
                                                : "seen",
        mind->n_trials, (unsigned long long)mind->n_slices);
}

static void describe_next(const struct online *online, struct text *text)
{
    struct phases_forecast next;
    double now = (double)clock_now_ns(&clock_monotonic) / (double)CLOCK_NS_PER_S;
    if (phases_foresee(&online->phases, &next) && now <= next.seconds + next.within)
        add(text, "next: %s in %.0f s (right %u of %u times)\n", kind_name(next.kind),
            fmax(0, next.seconds - now), next.score.n_right, next.score.n_said);
    else
        add(text, "next: unknown\n");
}

/* A change between cached and direct waits for the next request, and to direct for a flush if much is
 * unflushed. */
static void describe_setting(const struct disk_gate *gate, struct text *text)
{
    char words[DISK_WAYS_TEXT_SIZE];
    struct image_way way = disk_gate_way(gate);
    add(text, "setting: %s", disk_ways_format(way, words));
    if (way.direct != gate->wanted.direct)
        add(text, ", soon %s", disk_ways_format(gate->wanted, words));
    add(text, "\n");
}

static void describe(const struct disk *disk, struct text *text)
{
    const struct online *online = &disk->online;
    double share = online->served_bytes > 0 ? online->regret_bytes / online->served_bytes : 0;
    add(text, "state: %s\n", disk_state(disk));
    add(text, "load: %s\n", kind_name(online->kind));
    describe_next(online, text);
    describe_setting(&disk->gate, text);
    add(text, "served: %.0f bytes in slices\n", online->served_bytes);
    add(text, "trials: %llu, %llu dropped, cost %.0f bytes (%.2f %%)\n", (unsigned long long)online->n_trials,
        (unsigned long long)online->n_dropped, online->regret_bytes, 100 * share);
    add(text, "refused for latency: %llu\n", (unsigned long long)online->n_refused);
    add(text, "phases: %llu; changes between cached and direct: %llu\n",
        (unsigned long long)online->n_switches, (unsigned long long)disk->gate.n_changes);
    add(text, "thinking: %.3f s of a processor\n", (double)disk->thinking_ns / (double)CLOCK_NS_PER_S);
    add(text, "errors: %llu%s; stalls: %llu\n", (unsigned long long)disk->n_errors,
        disk->flush.lost_code != 0 ? ", writes were lost" : "", (unsigned long long)disk->n_stalls);
    add(text, "direct: %s\n",
        !disk->ways.can_direct ? disk->why_not_direct
        : disk->ways.is_kept   ? "not tried, as the page cache has room for the whole image"
                               : "possible");
    for (unsigned kind = 0; kind < KIND_N; kind++)
        describe_kind(online, kind, text);
}

static void pin(struct disk *disk, const char *words, struct text *text)
{
    struct image_way way;
    if (disk_ways_parse(words, &way) < 0) {
        add(text,
            "error: '%s' is no setting; give one such as cached, cached,ahead=4m or direct,pieces=64k\n",
            words);
        return;
    }
    struct online_setting setting = disk_ways_to_setting(way);
    if ((way.direct && !disk->ways.can_direct) || (way.piece_bytes > 0 && !disk->ways.can_split)) {
        add(text, "error: not possible here: %s\n",
            way.direct && !disk->ways.can_direct ? disk->why_not_direct : "pieces need io_uring");
        return;
    }
    online_pin(&disk->online, &setting);
    add(text, "pinned\n");
}

static void obey(struct disk *disk, const char *command, struct text *text)
{
    struct online *online = &disk->online;
    if (strcmp(command, "status") == 0) {
        describe(disk, text);
        return;
    }
    if (strncmp(command, "pin ", 4) == 0) {
        pin(disk, command + 4, text);
    } else if (strcmp(command, "unpin") == 0) {
        online_pin(online, NULL);
        add(text, "unpinned\n");
    } else if (strcmp(command, "freeze") == 0) {
        online_freeze(online);
        add(text, "frozen\n");
    } else if (strcmp(command, "thaw") == 0) {
        online_thaw(online);
        add(text, "thawed\n");
    } else if (strcmp(command, "forget") == 0) {
        online_forget(online);
        add(text, "forgotten\n");
    } else if (strcmp(command, "metrics") == 0) {
        add(text, "error: no memory\n");
    } else {
        add(text,
            "error: '%s' is no command; status, metrics, freeze, thaw, pin SETTING, unpin and forget are\n",
            command);
    }
    struct online_setting running = online_running(online);
    disk_gate_want(&disk->gate, disk_ways_of_setting(&running));
}

void disk_control_answer(struct disk *disk, const char *command, char *answer, size_t size)
{
    struct text text = {answer, size};
    *answer = '\0';
    pthread_mutex_lock(&disk->gate.lock);
    obey(disk, command, &text);
    pthread_mutex_unlock(&disk->gate.lock);
}

static void send_all(int fd, const char *text)
{
    ssize_t n;
    for (size_t left = strlen(text); left > 0; text += n, left -= (size_t)n) {
        n = send(fd, text, left, MSG_NOSIGNAL);
        if (n <= 0)
            return;
    }
}

/* Who says nothing for long keeps others waiting no longer. */
static void talk(struct disk_control *control, int fd)
{
    char command[COMMAND_SIZE], answer[ANSWER_SIZE];
    struct timeval patience = {.tv_sec = TALK_SECONDS};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    ssize_t n = recv(fd, command, sizeof(command) - 1, 0);
    if (n <= 0)
        return;
    command[n] = '\0';
    command[strcspn(command, "\r\n")] = '\0';
    char *metrics = strcmp(command, "metrics") == 0 ? disk_metrics_text(control->disk) : NULL;
    if (metrics == NULL)
        disk_control_answer(control->disk, command, answer, sizeof(answer));
    send_all(fd, metrics != NULL ? metrics : answer);
    free(metrics);
}

static void *serve(void *context)
{
    struct disk_control *control = context;
    int fd;
    while ((fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == EINTR ||
           errno == ECONNABORTED) {
        if (fd < 0)
            continue;
        talk(control, fd);
        close(fd);
    }
    return NULL;
}

/* A socket that a killed process left behind answers nobody, and makes room. */
static int bind_to(int fd, const struct sockaddr_un *address)
{
    const struct sockaddr *name = (const struct sockaddr *)address;
    if (bind(fd, name, sizeof(*address)) == 0)
        return 0;
    if (errno != EADDRINUSE)
        return -errno;
    struct stat status;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_left = lstat(address->sun_path, &status) == 0 && S_ISSOCK(status.st_mode) && probe >= 0 &&
                   connect(probe, name, sizeof(*address)) != 0 && errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    if (!is_left)
        return -EADDRINUSE;
    return unlink(address->sun_path) == 0 && bind(fd, name, sizeof(*address)) == 0 ? 0 : -errno;
}

int disk_control_open(struct disk_control *control, struct disk *disk, const char *path, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return err_set(err, -ENAMETOOLONG, "%s: is too long for a socket; give a shorter path", path);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    *control = (struct disk_control){.disk = disk};
    snprintf(control->path, sizeof(control->path), "%s", path);
    control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int code = control->fd < 0 ? -errno : 0;
    /* The name gets the mode of the descriptor: nobody else can connect, and no name is followed. */
    if (code == 0 && fchmod(control->fd, 0600) != 0)
        code = -errno;
    if (code == 0)
        code = bind_to(control->fd, &address);
    bool is_bound = code == 0;
    if (code == 0 && listen(control->fd, 4) != 0)
        code = -errno;
    if (code == 0)
        code = -pthread_create(&control->thread, NULL, serve, control);
    if (code < 0 && is_bound)
        unlink(path);
    if (code < 0 && control->fd >= 0)
        close(control->fd);
    if (code == -EADDRINUSE)
        return err_set(err, code,
                       "%s: something is there that answers, or no socket; give control another path", path);
    return code < 0 ? err_sys(err, code, "%s: the control socket cannot be made", path) : 0;
}

/* The thread leaves accept, or ends what it talks about. */
void disk_control_close(struct disk_control *control)
{
    shutdown(control->fd, SHUT_RDWR);
    pthread_join(control->thread, NULL);
    close(control->fd);
    unlink(control->path);
}
