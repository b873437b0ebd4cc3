/* tuner/profile/manager: batches in their order, each once, and an answer when they are in the database. */
#include "tuner/profile/manager.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"
#include "bench/profile/wire.h"
#include "models/profile/backlog.h"
#include "tuner/base/interrupt.h"
#include "tuner/store/events.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POLL_MS    50
#define SILENCE_NS (CLOCK_NS_PER_S / 2) /* then what should come next is asked for again */
#define GRACE_NS   (5 * CLOCK_NS_PER_S) /* for the end, once it was asked for */
#define PARTING_NS (2 * CLOCK_NS_PER_S) /* for another call, where the last confirmation may be lost */
#define LINE_SIZE  64

struct manager {
    const struct manager_options *options;
    struct manager_result *result;
    struct err *err;
    struct events *events;
    char command[EVENTS_TEXT_SIZE];
    uint64_t sample_ns;
    struct wire_address address;
    int listening_fd; /* -1: nobody calls */
    pid_t program;    /* 0: none was started */
    struct wire link;
    bool has_greeted;                                                   /* over this link */
    uint64_t linked_ns, gone_ns, heard_ns, asked_ns, began_ns, quit_ns; /* 0: not now */
    bool is_known; /* an agent has greeted, by this number */
    uint64_t number;
    uint64_t next, kept;        /* the batch that comes next; all below `kept` are in the database */
    uint64_t told;              /* `kept` as the agent knows it */
    bool has_ended, has_parted; /* the agent knows that all is kept */
    uint8_t received[2 * BATCH_MOST_BYTES];
    size_t n_received;
    bool is_due[BATCH_N_ORDERS];
    enum batch_order wanted; /* start, stop, or neither: a cut may have lost it */
    struct batch_writer order;
    size_t n_order_sent;
    char line[LINE_SIZE];
    size_t n_line;
    bool has_no_lines;
};

static uint64_t now_ns(void)
{
    return clock_now_ns(&clock_monotonic);
}

__attribute__((format(printf, 2, 3))) static void say(const struct manager *manager, const char *format, ...)
{
    struct err line;
    char text[ERR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* It stays one line, whatever the agent sent. */
    err_set(&line, -EINVAL, "%s", text);
    if (!manager->options->is_quiet)
        fprintf(stderr, "fstune: %s\n", line.text);
}

/* ---- the database ---- */

static int begin_recording(struct manager *manager)
{
    int code = events_open(&manager->events, manager->options->events, true, manager->err);
    if (code == 0)
        code = events_begin(manager->events, manager->command, "preload", manager->sample_ns, manager->err);
    if (code < 0)
        return err_prefix(manager->err, "--save-events");
    *manager->result = (struct manager_result){.run_id = events_run_id(manager->events),
                                               .n_damaged = manager->result->n_damaged,
                                               .n_cuts = manager->result->n_cuts,
                                               .seconds = NAN};
    say(manager, "recording %" PRId64 " of %.200s has begun", manager->result->run_id, manager->command);
    return 0;
}

static int end_recording(struct manager *manager)
{
    struct err err = {0};
    if (manager->events == NULL)
        return 0;
    int code = events_end(manager->events, manager->result->seconds, manager->result->n_lost, &err);
    events_close(manager->events);
    manager->events = NULL;
    return code < 0 ? err_set(manager->err, code, "--save-events: %s", err.text) : 0;
}

/* ---- batches ---- */

/* What comes until then is passed over. */
static void ask_again(struct manager *manager)
{
    if (manager->asked_ns > 0 && now_ns() - manager->asked_ns < SILENCE_NS)
        return;
    manager->asked_ns = now_ns();
    manager->is_due[BATCH_SEND] = true;
}

static int take_hello(struct manager *manager, const struct batch *batch)
{
    struct batch_reader reader = batch_read(batch);
    uint64_t number, sample_ns;
    char command[EVENTS_TEXT_SIZE];
    if (batch_read_number(&reader, &number) < 0 || batch_read_number(&reader, &sample_ns) < 0 ||
        sample_ns > INT64_MAX || batch_read_text(&reader, command, sizeof command) < 0)
        return -EBADMSG;
    if (manager->is_known && number != manager->number) {
        say(manager, "another agent calls, of %.200s; it is turned away: each has a manager of its own",
            command);
        return -EPIPE;
    }
    if (!manager->is_known) {
        manager->is_known = true;
        manager->number = number;
        manager->next = manager->kept = manager->told = batch->number;
        manager->sample_ns = sample_ns;
        snprintf(manager->command, sizeof manager->command, "%s", command);
        manager->began_ns = now_ns();
        int code = begin_recording(manager);
        if (code < 0)
            return code;
    }
    manager->has_parted = manager->has_ended && batch->number >= manager->next;
    manager->has_greeted = manager->is_due[BATCH_SEND] = manager->is_due[manager->wanted] = true;
    manager->is_due[BATCH_QUIT] = manager->quit_ns > 0;
    return 0;
}

/* All of it, or nothing. */
static int take_rows(struct manager *manager, const struct batch *batch)
{
    struct batch_reader reader = batch_read(batch);
    struct batch_item item;
    uint64_t n_lost;
    int code = batch_read_number(&reader, &n_lost);
    for (struct batch_reader look = reader; code == 0 && (code = batch_next(&look, &item)) == 1;)
        code = 0;
    if (code < 0 || n_lost > INT64_MAX)
        return code < 0 ? code : -EBADMSG;
    while (batch_next(&reader, &item) == 1) {
        if (item.is_name)
            events_name(manager->events, item.object, item.name);
        else
            events_add(manager->events, &item.row);
        manager->result->n += !item.is_name;
    }
    manager->result->n_lost = n_lost;
    return 0;
}

static int take_mark(struct manager *manager, const struct batch *batch)
{
    struct batch_reader reader = batch_read(batch);
    uint64_t n_lost, spent_ns, status;
    if (batch_read_number(&reader, &n_lost) < 0 || batch_read_number(&reader, &spent_ns) < 0 ||
        batch_read_number(&reader, &status) < 0 || n_lost > INT64_MAX || status > UINT32_MAX)
        return -EBADMSG;
    manager->result->n_lost = n_lost;
    manager->result->seconds = (double)spent_ns / (double)CLOCK_NS_PER_S;
    manager->result->goes_on = status == 0;
    manager->result->status = status > 0 ? (int)(status - 1) : 0;
    manager->has_ended = batch->kind == BATCH_END;
    if (manager->has_ended)
        return 0;
    int code = end_recording(manager);
    return code == 0 ? begin_recording(manager) : code;
}

/* 0; -EBADMSG: it is to come again; other negative errno: the link, or all, is over. */
static int take_batch(struct manager *manager, const struct batch *batch)
{
    if (batch->kind == BATCH_HELLO)
        return take_hello(manager, batch);
    if (!manager->is_known || manager->has_ended || batch->kind == BATCH_ORDER ||
        batch->number < manager->next)
        return 0;
    if (batch->number > manager->next)
        return -EBADMSG;
    int code = batch->kind == BATCH_ROWS ? take_rows(manager, batch) : take_mark(manager, batch);
    if (code < 0)
        return code;
    manager->next++;
    manager->asked_ns = 0;
    return 0;
}

/* Of what comes damaged the same is asked for again. */
static int take_what_came(void *context, const struct batch *batch)
{
    struct manager *manager = context;
    int code = batch != NULL ? take_batch(manager, batch) : -EBADMSG;
    if (code != -EBADMSG)
        return code;
    manager->result->n_damaged += manager->asked_ns == 0;
    ask_again(manager);
    return 0;
}

static int receive(struct manager *manager)
{
    ssize_t n = wire_receive(&manager->link, manager->received + manager->n_received,
                             sizeof manager->received - manager->n_received);
    if (n < 0)
        return (int)n;
    manager->n_received += (size_t)n;
    if (n > 0)
        manager->heard_ns = now_ns();
    return batch_take_all(manager->received, &manager->n_received, take_what_came, manager);
}

/* ---- orders ---- */

static bool next_order(struct manager *manager)
{
    size_t order = 0;
    while (order < BATCH_N_ORDERS && !manager->is_due[order])
        order++;
    if (order == BATCH_N_ORDERS)
        return false;
    batch_begin(&manager->order, BATCH_ORDER, manager->kept);
    batch_add_number(&manager->order, order);
    batch_add_number(&manager->order, manager->next);
    batch_finish(&manager->order);
    manager->n_order_sent = 0;
    manager->is_due[order] = false;
    manager->told = manager->kept;
    return true;
}

static int send_orders(struct manager *manager)
{
    manager->is_due[BATCH_GO_ON] = manager->is_due[BATCH_GO_ON] || manager->kept != manager->told;
    while (manager->n_order_sent < manager->order.n || next_order(manager)) {
        ssize_t n = wire_send(&manager->link, manager->order.bytes + manager->n_order_sent,
                              manager->order.n - manager->n_order_sent);
        if (n <= 0)
            return (int)n;
        manager->n_order_sent += (size_t)n;
    }
    return 0;
}

static void order_quit(struct manager *manager)
{
    manager->is_due[BATCH_QUIT] |= manager->quit_ns == 0;
    manager->quit_ns = manager->quit_ns == 0 ? now_ns() : manager->quit_ns;
}

static void take_line(struct manager *manager)
{
    static const char *const words[BATCH_N_ORDERS] = {
        [BATCH_START] = "start", [BATCH_STOP] = "stop", [BATCH_RESET] = "reset", [BATCH_QUIT] = "quit"};
    size_t order = 0;
    while (order < BATCH_N_ORDERS && (words[order] == NULL || strcmp(words[order], manager->line) != 0))
        order++;
    if (order == BATCH_START || order == BATCH_STOP) {
        manager->is_due[BATCH_START] = manager->is_due[BATCH_STOP] = false; /* the last one holds */
        manager->wanted = (enum batch_order)order;
    }
    if (order == BATCH_QUIT)
        order_quit(manager);
    else if (order < BATCH_N_ORDERS)
        manager->is_due[order] = true;
    else if (manager->line[0] != '\0')
        say(manager, "'%s' is no order; write start, stop, reset or quit", manager->line);
}

/* Only once there is an agent: until then a password may be asked for. */
static bool hears_lines(const struct manager *manager)
{
    return manager->is_known && !manager->has_no_lines &&
           (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp());
}

static void read_lines(struct manager *manager)
{
    char text[LINE_SIZE];
    struct pollfd lines = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!hears_lines(manager) || poll(&lines, 1, 0) <= 0)
        return;
    ssize_t n = read(STDIN_FILENO, text, sizeof text);
    manager->has_no_lines = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] != '\n' && manager->n_line < sizeof manager->line - 1)
            manager->line[manager->n_line++] = text[i];
        if (text[i] != '\n')
            continue;
        manager->line[manager->n_line] = '\0';
        manager->n_line = 0;
        take_line(manager);
    }
}

/* ---- the link ---- */

static void cut(struct manager *manager)
{
    wire_close(&manager->link);
    bool was_agent = manager->has_greeted;
    manager->has_greeted = false;
    manager->n_received = 0;
    manager->order.n = manager->n_order_sent = 0;
    manager->asked_ns = 0;
    manager->told = manager->kept;
    if (was_agent)
        manager->gone_ns = now_ns();
    if (!was_agent || manager->listening_fd < 0 || manager->has_ended)
        return;
    manager->result->n_cuts++;
    say(manager, "the link is cut; the agent has %.0f s to call again",
        (double)manager->options->wait_ns / (double)CLOCK_NS_PER_S);
}

/* One after the other: who calls meanwhile has to wait. */
static void accept_call(struct manager *manager)
{
    if (manager->listening_fd >= 0 && manager->link.in_fd < 0 &&
        wire_accept(manager->listening_fd, &manager->link) == 0)
        manager->linked_ns = manager->heard_ns = now_ns();
}

/* Somebody calls and says nothing. What was started here may ask its user for a password first. */
static bool is_silent(const struct manager *manager)
{
    return manager->listening_fd >= 0 && !manager->has_greeted && now_ns() - manager->linked_ns >= GRACE_NS;
}

/* 0, or what ends the manager. */
static int use_link(struct manager *manager)
{
    if (manager->link.in_fd < 0)
        return 0;
    int code = is_silent(manager) ? -EPIPE : receive(manager);
    uint64_t patience_ns = manager->asked_ns > 0 ? SILENCE_NS : 4 * SILENCE_NS;
    if (code == 0 && manager->has_greeted && now_ns() - manager->heard_ns >= patience_ns) {
        manager->heard_ns = now_ns();
        manager->is_due[BATCH_SEND] = true;
    }
    if (code == 0 && manager->has_greeted)
        code = send_orders(manager);
    if (code == -EPROTO)
        err_set(manager->err, code,
                "the agent is of another version; use fstune and fstune-agent of one release");
    if (manager->err->code != 0)
        return code;
    if (code < 0)
        cut(manager);
    return 0;
}

static void wait_for_news(const struct manager *manager)
{
    struct pollfd waits[] = {{.fd = manager->link.in_fd, .events = POLLIN},
                             {.fd = manager->link.in_fd >= 0 ? -1 : manager->listening_fd, .events = POLLIN},
                             {.fd = hears_lines(manager) ? STDIN_FILENO : -1, .events = POLLIN},
                             {.fd = manager->quit_ns == 0 ? interrupt_descriptor() : -1, .events = POLLIN}};
    poll(waits, sizeof waits / sizeof waits[0], POLL_MS);
}

/* Whether there is nothing more to hope for. */
static bool is_over(const struct manager *manager)
{
    const uint64_t at_ns = now_ns();
    if (manager->has_ended && manager->listening_fd < 0)
        return manager->link.in_fd < 0 ||
               (manager->told == manager->next && manager->n_order_sent == manager->order.n);
    if (manager->has_ended)
        return manager->has_parted || (manager->link.in_fd < 0 ? at_ns - manager->gone_ns >= PARTING_NS
                                                               : at_ns - manager->heard_ns >= GRACE_NS);
    bool is_mute = at_ns - manager->quit_ns >= GRACE_NS && at_ns - manager->heard_ns >= GRACE_NS;
    if (manager->quit_ns > 0 && (is_mute || !manager->is_known || manager->link.in_fd < 0))
        return true;
    return manager->link.in_fd < 0 &&
           (manager->listening_fd < 0 || at_ns - manager->gone_ns >= manager->options->wait_ns);
}

static void look_at_time(struct manager *manager)
{
    uint64_t most_ns = manager->options->duration_ns > 0 ? manager->options->duration_ns : UINT64_MAX;
    bool is_late = manager->is_known && now_ns() - manager->began_ns >= most_ns;
    if (is_late || atomic_load(&interrupt_signal) != 0)
        order_quit(manager);
}

/* What is in the database is told to the agent, which then needs it no more. */
static int keep(struct manager *manager)
{
    if (manager->events == NULL)
        return 0;
    if (manager->has_ended) {
        int code = end_recording(manager);
        manager->kept = code == 0 ? manager->next : manager->kept;
        return code;
    }
    /* The agent must not run out of room meanwhile. */
    int code = events_keep(manager->events, manager->next - manager->kept >= BACKLOG_BATCHES / 2);
    if (code > 0)
        manager->kept = manager->next;
    return code < 0 ? code : 0;
}

static void serve(struct manager *manager)
{
    int code = 0;
    manager->gone_ns = now_ns();
    while (code == 0 && !is_over(manager)) {
        wait_for_news(manager);
        accept_call(manager);
        read_lines(manager);
        look_at_time(manager);
        code = keep(manager);
        if (code == 0)
            code = use_link(manager);
    }
}

/* One that does not end by itself stands between, such as ssh. */
static void end_program(struct manager *manager)
{
    int status;
    wire_close(&manager->link);
    if (spawn_reap_within(manager->program, GRACE_NS, &status) != 0)
        return;
    kill(manager->program, SIGTERM);
    if (spawn_reap_within(manager->program, GRACE_NS, &status) == 0)
        kill(manager->program, SIGKILL);
}

static void explain_missing(const struct manager *manager)
{
    if (atomic_load(&interrupt_signal) != 0 || manager->has_ended)
        return;
    if (manager->is_known)
        err_set(manager->err, -EPIPE,
                "the agent was killed, or its link was cut for too long: %" PRIu64
                " events are kept, and what came after them is missing",
                manager->result->n);
    else if (manager->program == 0)
        err_set(manager->err, -ETIMEDOUT, "no agent has called; start fstune-agent --connect there");
    else
        err_set(manager->err, -EPIPE,
                "%.100s has ended before an agent answered; see what it printed, and whether "
                "fstune-agent is installed there",
                manager->options->program[0]);
}

static int open_link(struct manager *manager)
{
    const struct manager_options *options = manager->options;
    if (options->program != NULL)
        return wire_start(options->program, &manager->link, &manager->program, manager->err);
    int code = wire_resolve(options->address, &manager->address, manager->err);
    if (code == 0)
        code = wire_listen(&manager->address, &manager->listening_fd, manager->err);
    if (code < 0)
        return err_prefix(manager->err, "--listen %.150s", options->address);
    say(manager, "waiting for an agent at %.200s", options->address);
    return 0;
}

int manager_run(const struct manager_options *options, struct manager_result *ret, struct err *err)
{
    static struct manager manager;
    struct err own = {0};
    manager = (struct manager){
        .options = options, .result = ret, .err = &own, .listening_fd = -1, .link = {-1, -1}};
    *ret = (struct manager_result){.seconds = NAN};
    /* The database is looked at before anything is started. */
    int code = events_open(&manager.events, options->events, true, &own);
    if (code < 0)
        return err_set(err, code, "--save-events: %s", own.text);
    events_close(manager.events);
    manager.events = NULL;
    if (open_link(&manager) == 0)
        serve(&manager);
    if (manager.program > 0)
        end_program(&manager);
    wire_close(&manager.link);
    if (manager.listening_fd >= 0)
        wire_end_listening(&manager.address, manager.listening_fd);
    end_recording(&manager);
    if (own.code == 0)
        explain_missing(&manager);
    return own.code < 0 ? err_set(err, own.code, "%s", own.text) : 0;
}
