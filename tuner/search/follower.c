/* A client that does what the leader asks for. */
#include "tuner/search/clients.h"
#include "tuner/search/link.h"

#include "tuner/base/fail.h"

#include <errno.h>

#define SEND_NS (10 * CLOCK_NS_PER_S)
#define CALL_NS (120 * CLOCK_NS_PER_S) /* others may take long to be ready */
/* After a signal a leader that lives calls the roll at once, and then takes some time to print what it has.
 * mpirun kills a second after its signal, unless it is told otherwise, and whoever is to say that the leader
 * is lost has to be quicker. */
#define GRACE_NS    500000000ULL
#define PRINTING_NS (10 * CLOCK_NS_PER_S)

static uint64_t now_ns(void)
{
    return clock_now_ns(&clock_monotonic);
}

static int answer(int kind, const void *data, size_t size)
{
    return link_send(0, kind, data, size, now_ns() + SEND_NS);
}

static int hear_command(struct clients_command *command, uint64_t grace_ns)
{
    return link_receive(0, CLIENTS_COMMAND, command, sizeof *command, UINT64_MAX, grace_ns);
}

static int say_hello(struct clients *clients, int code, const char *text)
{
    struct clients_hello hello;
    clients_say_hello(&hello, code, text);
    clients->opened = true;
    return answer(CLIENTS_HELLO, &hello, sizeof hello);
}

static int follow_open(struct session *session, struct err *err)
{
    int result = say_hello(clients_of(session), 0, "");
    return result < 0 ? err_set(err, result, "client 0, which leads, does not answer") : 0;
}

static int follow_join(struct session *session, int result, struct err *err)
{
    struct clients_file file;
    struct clients_command common = {0};
    clients_of(session)->has_joined = true;
    clients_describe_file(session, result, err, &file);
    int code = answer(CLIENTS_FILE, &file, sizeof file);
    if (code == 0)
        code = hear_command(&common, GRACE_NS);
    if (code == 0)
        code = clients_take_size(session, &common);
    if (result == 0 && code < 0)
        err_set(err, code, "the command was given up");
    return result < 0 ? result : code;
}

/* Says whether this client is ready, has its clock looked at, and hears when all begin. */
static int meet_leader(struct clients *clients, int32_t ready, uint64_t *ret_start_ns)
{
    struct clients_call call = {.word = CLIENTS_PING};
    clients->has_met = true;
    int result = answer(CLIENTS_READY, &ready, sizeof ready);
    while (result == 0 && call.word == CLIENTS_PING) {
        result = link_receive(0, CLIENTS_CALL, &call, sizeof call, now_ns() + CALL_NS, GRACE_NS);
        uint64_t here_ns = now_ns();
        if (result == 0 && call.word == CLIENTS_PING)
            result = answer(CLIENTS_CLOCK, &here_ns, sizeof here_ns);
    }
    *ret_start_ns = call.start_ns;
    return result < 0 || call.word == CLIENTS_GO ? result : -ECANCELED;
}

static int open_shared(struct session *session, struct err *err)
{
    const struct clients_command *asked = &clients_of(session)->asked;
    int fd = -1;
    if (asked->shared.inode == 0)
        return err_set(err, -ECANCELED, "client 0 has made no file");
    int result = target_shared_open(settings_place(session->settings), &asked->shared, &fd, err);
    if (result == 0)
        clients_take_region(session, asked, fd);
    return result;
}

/* The leader has asked already. A file for all is opened now, while it has a name; where the leader dies
 * meanwhile, somebody else has to remove that. */
static int follow_prepare(struct session *session, struct err *err)
{
    struct clients *clients = clients_of(session);
    const char *directory = settings_place(session->settings);
    uint64_t ignored_ns;
    if (!session->settings->file.shared)
        return 0;
    int result = open_shared(session, err);
    int met = meet_leader(clients, result, &ignored_ns);
    if (met < 0)
        target_shared_unname(directory, &clients->asked.shared, NULL);
    if (result < 0)
        return result;
    return met < 0 ? err_set(err, met, "the command was given up")
                   : target_shared_check(directory, clients->seen.region.fd, err);
}

static int meet(void *context, uint64_t *ret_start_ns, struct err *err)
{
    int result = meet_leader(clients_of(context), 0, ret_start_ns);
    return result < 0 ? err_set(err, result, "the run did not begin everywhere") : 0;
}

static int follow_run(struct session *session, struct err *err)
{
    struct clients *clients = clients_of(session);
    struct client_report *own = &clients->report[0];
    uint64_t ignored_ns;
    *own = (struct client_report){0};
    clients->has_met = false;
    clients_measure_own(session, meet, own);
    if (!clients->has_met)
        meet_leader(clients, own->code < 0 ? own->code : -ECANCELED, &ignored_ns);
    int result = answer(CLIENTS_RESULT, own, sizeof *own);
    return result < 0 ? err_set(err, result, "client 0, which leads, does not answer") : 0;
}

static void say_here(void)
{
    const int32_t here = 1;
    answer(CLIENTS_HERE, &here, sizeof here);
}

/* A failure is told, and the leader decides what follows. */
static void prepare(struct session *session, const struct clients_command *command)
{
    struct clients *clients = clients_of(session);
    struct err err = {0};
    uint64_t ignored_ns;
    clients->asked = *command;
    clients->has_met = false;
    int result = session_prepare(session, &err);
    if (result == 0 || session->abandoned)
        return;
    if (session->settings->file.shared && !clients->has_met)
        meet_leader(clients, result, &ignored_ns);
    if (!clients->has_joined)
        follow_join(session, result, &err);
}

/* Returns what ends this client before the leader says so: a run that hangs after a signal. */
static int do_command(struct session *session, const struct clients_command *command)
{
    switch (command->what) {
    case CLIENTS_PREPARE:
        prepare(session, command);
        break;
    case CLIENTS_RUN:
        session->job.plan = command->plan;
        return session_run_job(session, &(struct err){0});
    case CLIENTS_ROLL_CALL:
    case CLIENTS_END:
        say_here();
        break;
    default:
        break;
    }
    return 0;
}

static int serve(struct session *session)
{
    struct clients *clients = clients_of(session);
    struct clients_command command = {0};
    int heard = 0, done = 0;
    while (heard == 0 && done == 0 && command.what != CLIENTS_END) {
        heard = hear_command(&command, command.what == CLIENTS_ROLL_CALL ? PRINTING_NS : GRACE_NS);
        if (heard == 0)
            done = do_command(session, &command);
    }
    clients->ended = true;
    /* A run that hangs after a signal says nothing about the leader. */
    clients->is_lost[0] = heard < 0 || (done < 0 && done != -EINTR);
    return heard < 0 || done < 0 ? EXIT_FAILED : EXIT_DONE;
}

bool clients_follow_to_end(struct clients *clients, int code, const char *text)
{
    struct clients_command command = {0};
    int result = clients->opened ? 0 : say_hello(clients, code, text);
    while (!clients->ended && result == 0 && command.what != CLIENTS_END) {
        result = hear_command(&command, GRACE_NS);
        if (result == 0 && command.what == CLIENTS_END)
            say_here();
    }
    clients->is_lost[0] |= result < 0;
    return !clients->is_lost[0];
}

const struct session_clients clients_follows = {
    .open = follow_open,
    .prepare = follow_prepare,
    .join = follow_join,
    .run = follow_run,
    .finish = NULL,
    .serve = serve,
};
