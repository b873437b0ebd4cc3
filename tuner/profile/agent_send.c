/* tuner/profile/agent_send: a step at a time, so that the command is looked after meanwhile. */
#include "tuner/profile/agent_send.h"

#include "bench/base/clock.h"
#include "tuner/base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define RETRY_NS  (CLOCK_NS_PER_S / 2)
#define SEAL_NS   (CLOCK_NS_PER_S / 5)
#define STEP_MS   10
#define KEPT_FREE 4 /* batches: for a new beginning and for the end, and for the rows before each */

static uint64_t now_ns(void)
{
    return clock_now_ns(&clock_monotonic);
}

void agent_send_say(const char *format, ...)
{
    struct err line;
    char text[ERR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* It stays one line, whatever the user typed. */
    err_set(&line, -EINVAL, "%s", text);
    dprintf(STDERR_FILENO, "fstune-agent: %s\n", line.text);
}

/* ---- the link ---- */

static void cut(struct agent_send *send, int code)
{
    bool was_welcome = send->is_welcome;
    wire_close(&send->link);
    send->is_welcome = false;
    send->n_received = 0;
    send->retry_ns = now_ns() + RETRY_NS;
    send->is_gone |= send->address == NULL;
    if (!send->is_gone && !was_welcome && send->cut_ns > 0)
        return;
    agent_send_say("the link is %s (%s); the command goes on, and what it does %s",
                   was_welcome || send->is_gone ? "cut" : "not there yet", strerror(-code),
                   send->is_gone ? "is not kept any more" : "waits here");
    send->cut_ns = now_ns();
}

static void follow(struct agent_send *send, const struct batch *batch)
{
    struct batch_reader reader = batch_read(batch);
    uint64_t order, from;
    if (batch_read_number(&reader, &order) < 0 || order >= BATCH_N_ORDERS)
        return;
    /* A manager that has not taken our greeting may speak of another agent's batches. */
    if (order != BATCH_SEND && !send->is_welcome)
        return;
    backlog_release(&send->backlog, batch->number);
    if (order != BATCH_SEND) {
        send->obey((enum batch_order)order);
        return;
    }
    if (batch_read_number(&reader, &from) < 0 || backlog_go_back(&send->backlog, from, !send->is_welcome) < 0)
        backlog_go_back(&send->backlog, send->backlog.first, !send->is_welcome);
    if (send->cut_ns > 0)
        agent_send_say("the link is there");
    if (!send->is_welcome) {
        memset(send->told, 0, sizeof send->told);
        send->obey(BATCH_SEND);
    }
    send->is_welcome = true;
    send->cut_ns = 0;
}

/* An order that comes damaged is sent again. */
static int take_order(void *context, const struct batch *batch)
{
    if (batch != NULL && batch->kind == BATCH_ORDER)
        follow(context, batch);
    return 0;
}

static int receive(struct agent_send *send)
{
    ssize_t n = wire_receive(&send->link, send->received + send->n_received,
                             sizeof send->received - send->n_received);
    if (n < 0)
        return (int)n;
    send->n_received += (size_t)n;
    return batch_take_all(send->received, &send->n_received, take_order, send);
}

/* 1: all of it is on its way; 0: not yet; or a negative errno. */
static int send_hello(struct agent_send *send)
{
    while (send->n_hello_sent < send->hello.n) {
        ssize_t n = wire_send(&send->link, send->hello.bytes + send->n_hello_sent,
                              send->hello.n - send->n_hello_sent);
        if (n <= 0)
            return (int)n;
        send->n_hello_sent += (size_t)n;
    }
    return 1;
}

static int send_batches(struct agent_send *send)
{
    const uint8_t *bytes;
    size_t n;
    while (send->is_welcome && (bytes = backlog_pending(&send->backlog, &n)) != NULL) {
        ssize_t n_sent = wire_send(&send->link, bytes, n);
        if (n_sent <= 0)
            return (int)n_sent;
        backlog_sent(&send->backlog, (size_t)n_sent);
    }
    return 0;
}

static void make_hello(struct agent_send *send)
{
    char command[EVENTS_TEXT_SIZE];
    words_of_command(send->command, 0, command, sizeof command);
    batch_begin(&send->hello, BATCH_HELLO, send->backlog.first);
    batch_add_number(&send->hello, send->number);
    batch_add_number(&send->hello, send->sample_ns);
    batch_add_text(&send->hello, command);
    batch_finish(&send->hello);
    send->n_hello_sent = 0;
}

static void use_link(struct agent_send *send)
{
    int code = 0;
    if (send->is_gone || (send->link.in_fd < 0 && now_ns() < send->retry_ns))
        return;
    if (send->link.in_fd < 0) {
        code = wire_call(&send->resolved, &send->link);
        make_hello(send);
    }
    if (code == 0)
        code = send_hello(send);
    if (code == 1)
        code = receive(send);
    if (code == 0)
        code = send_batches(send);
    if (code == -EPROTO)
        agent_send_say("the manager is of another version; use fstune and fstune-agent of one release");
    if (code < 0)
        cut(send, code);
}

void agent_send_wait(struct agent_send *send)
{
    struct pollfd waits = {.fd = send->link.in_fd, .events = POLLIN};
    poll(&waits, 1, STEP_MS);
    use_link(send);
}

/* Waits until the oldest batch that is kept is another one, or for as long as there is hope; after that there
 * is none for what comes later. */
static bool wait_for_progress(struct agent_send *send)
{
    uint64_t first = send->backlog.first, since_ns = now_ns();
    while (send->backlog.first == first && !send->is_gone && now_ns() - since_ns < send->wait_ns)
        agent_send_wait(send);
    send->is_gone |= send->backlog.first == first;
    return send->backlog.first != first;
}

/* The command has neither our input nor our output. */
static int take_descriptors(struct agent_send *send, struct err *err)
{
    if (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO))
        return err_set(err, -EINVAL,
                       "standard input and output are the link to the manager; start it with `fstune manager "
                       "--save-events FILE.db -- fstune-agent -- COMMAND`, or name a manager with --connect");
    send->link.in_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    send->link.out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool is_done = send->link.in_fd >= 0 && send->link.out_fd >= 0 && nothing >= 0 &&
                   dup2(nothing, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    make_hello(send);
    return is_done ? 0 : err_sys(err, -errno, "cannot take over standard input and output");
}

int agent_send_open(struct agent_send *send, struct err *err)
{
    send->link = (struct wire){-1, -1};
    if (getrandom(&send->number, sizeof send->number, 0) != (ssize_t)sizeof send->number)
        return err_sys(err, -errno, "cannot draw a number");
    if (send->address == NULL)
        return take_descriptors(send, err);
    return wire_resolve(send->address, &send->resolved, err) < 0 ? err_prefix(err, "--connect") : 0;
}

/* ---- batches ---- */

static void begin_rows(struct agent_send *send)
{
    if (send->has_rows)
        return;
    batch_begin(&send->rows, BATCH_ROWS, send->backlog.next);
    batch_add_number(&send->rows, send->n_lost());
    send->has_rows = true;
    send->rows_since_ns = now_ns();
    send->n_rows = 0;
}

static void seal_rows(struct agent_send *send)
{
    if (!send->has_rows)
        return;
    send->n_rows_of[send->backlog.next % BACKLOG_BATCHES] = send->n_rows;
    batch_finish(&send->rows);
    backlog_put(&send->backlog, &send->rows);
    send->has_rows = false;
}

bool agent_send_has_room(struct agent_send *send, size_t n)
{
    while (backlog_room(&send->backlog) < n + KEPT_FREE && send->is_ending && wait_for_progress(send)) {
    }
    return backlog_room(&send->backlog) >= n + KEPT_FREE;
}

static bool next_batch(struct agent_send *send)
{
    if (!agent_send_has_room(send, 1))
        return false;
    seal_rows(send);
    begin_rows(send);
    return true;
}

void agent_send_row(void *to, const struct events_row *row)
{
    struct agent_send *send = to;
    begin_rows(send);
    if (events_row_is_sound(row) &&
        (batch_add_row(&send->rows, row) || (next_batch(send) && batch_add_row(&send->rows, row))))
        send->n_rows++;
    else
        send->n_given_up++;
}

static uint64_t *place_of(const struct agent_send *send, uint64_t object)
{
    uint64_t hash = object * 0x9e3779b97f4a7c15ULL >> 32;
    return (uint64_t *)(uintptr_t)&send->told[hash % AGENT_SEND_TOLD];
}

bool agent_send_is_told(const struct agent_send *send, uint64_t object)
{
    return *place_of(send, object) == object;
}

void agent_send_name(void *to, uint64_t object, const char *name)
{
    struct agent_send *send = to;
    if (agent_send_is_told(send, object))
        return;
    begin_rows(send);
    if (batch_add_name(&send->rows, object, name) ||
        (next_batch(send) && batch_add_name(&send->rows, object, name)))
        *place_of(send, object) = object;
}

void agent_send_mark(struct agent_send *send, enum batch_kind kind, uint64_t spent_ns, uint64_t status)
{
    struct batch_writer *mark = &send->rows;
    seal_rows(send);
    if (kind == BATCH_RESTART)
        memset(send->told, 0, sizeof send->told);
    batch_begin(mark, kind, send->backlog.next);
    batch_add_number(mark, send->n_lost());
    batch_add_number(mark, spent_ns);
    batch_add_number(mark, status);
    send->n_rows = 0;
    send->has_rows = true;
    seal_rows(send);
}

void agent_send_step(struct agent_send *send)
{
    size_t n;
    if (send->has_rows && backlog_pending(&send->backlog, &n) == NULL &&
        now_ns() - send->rows_since_ns >= SEAL_NS && agent_send_has_room(send, 1))
        seal_rows(send);
    use_link(send);
}

/* A greeting whose next batch is the one behind the end: the manager need not wait for another call. */
static void say_farewell(struct agent_send *send)
{
    const uint64_t since_ns = now_ns();
    make_hello(send);
    while (send->link.out_fd >= 0 && send_hello(send) == 0 && now_ns() - since_ns < RETRY_NS)
        agent_send_wait(send);
}

uint64_t agent_send_finish(struct agent_send *send, bool *ret_is_whole)
{
    uint64_t n_missing = 0;
    while (send->backlog.first < send->backlog.next && wait_for_progress(send)) {
    }
    for (uint64_t i = send->backlog.first; i < send->backlog.next; i++)
        n_missing += send->n_rows_of[i % BACKLOG_BATCHES];
    *ret_is_whole = send->backlog.first == send->backlog.next;
    if (*ret_is_whole && send->address != NULL)
        say_farewell(send);
    return n_missing;
}
