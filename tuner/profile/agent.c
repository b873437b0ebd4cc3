/* tuner/profile/agent: the program fstune-agent, which runs a command with the wrappers in it and sends what
 * they tell to `fstune manager`. It is small, static and needs nothing but Linux.
 *
 * The command never waits: its events go into a queue of fixed size in shared memory. This program takes them
 * out as long as there is room for batches that the manager does not have yet; else they stay there, and what
 * finds no room in the queue is counted. So nothing is lost twice, and a link that comes back goes on where
 * it was cut. */
#include "bench/base/clock.h"
#include "bench/base/units.h"
#include "bench/profile/cpu_samples.h"
#include "bench/profile/program.h"
#include "models/profile/flows.h"
#include "models/profile/places.h"
#include "models/profile/queue.h"
#include "models/profile/store.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/profile/agent_send.h"
#include "tuner/profile/record.h"
#include "tuner/profile/record_events.h"
#include "tuner/profile/record_memory.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUEUE_BYTES   (1U << 20)
#define STORE_BYTES   (256U << 10) /* of which the names of files are needed */
#define WAIT_NS       (60 * CLOCK_NS_PER_S)
#define CPU_NS        (30 * CLOCK_NS_PER_S) /* so often the processor's places are told */
#define LAST_WRITE_NS (CLOCK_NS_PER_S / 4)  /* for one that was killed while it wrote */
#define QUEUE_ALIGN   64U
#define FLOWS_NS      (CLOCK_NS_PER_S / 10)

static const char usage[] =
    "usage: fstune-agent [--connect ADDRESS] [--memory] [--stopped] [--store SIZE] [--wait DURATION] "
    "-- COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs COMMAND and sends its reads, writes and flushes of files, and its time of the processor, to\n"
    "`fstune manager`, which started it (also through ssh), or which listens on ADDRESS.\n"
    "\n"
    "  --connect ADDRESS  the manager's: unix:PATH or HOST:PORT; else standard input and output\n"
    "  --memory           also where the command allocates memory\n"
    "  --stopped          record nothing until the manager says `start`, or the command (fstune/profile.h)\n"
    "  --store SIZE       memory for events until they are fetched, 32k..64m (1m)\n"
    "  --wait DURATION    for a link that is cut, once the command has ended (60s)\n";

static struct agent {
    struct agent_send send;
    struct events_sink sink; /* the same */
    uint64_t queue_bytes;
    bool with_memory, begins_stopped;
    struct recording recording; /* the store; the queue stands behind it */
    struct queue *queue;
    struct queue_reader reader;
    struct record_memory *memory;
    struct cpu_samples *samples; /* NULL: this user may not */
    struct places places;        /* of the samples that the program then takes itself */
    uint64_t start_ns, cpu_told_ns, n_lost_before;
    struct flows flows;
    uint64_t flows_told_ns;
    bool is_restart_due, is_left, samples_pause;
    uint64_t n_renewed; /* new beginnings by the program that are known */
} agent;

static uint64_t now_ns(void)
{
    return clock_now_ns(&clock_monotonic);
}

static uint64_t n_lost_ever(void)
{
    return queue_lost(agent.queue, &agent.reader) + agent.send.n_given_up +
           store_lost_ever(agent.recording.store) +
           (agent.samples != NULL ? cpu_samples_lost(agent.samples) : 0);
}

/* Since the recording began. The program may write anything into the memory, and may just now move what was
 * lost to what was lost before. */
static uint64_t n_lost(void)
{
    uint64_t n = n_lost_ever();
    return n > agent.n_lost_before ? n - agent.n_lost_before : 0;
}

/* By the manager, or by the program itself. */
static bool is_paused(void)
{
    return __atomic_load_n(&agent.queue->is_paused, __ATOMIC_RELAXED) != 0 ||
           store_is_paused(agent.recording.store);
}

static void follow_pauses(void)
{
    if (agent.samples != NULL && agent.samples_pause != is_paused())
        cpu_samples_pause(agent.samples, is_paused());
    agent.samples_pause = is_paused();
}

/* Who spoke last is obeyed, the manager or the program. */
static void obey(enum batch_order order)
{
    if (order == BATCH_START || order == BATCH_STOP)
        __atomic_store_n(&agent.queue->is_paused, order == BATCH_STOP, __ATOMIC_RELAXED);
    if (order == BATCH_START)
        store_go_on(agent.recording.store, now_ns());
    follow_pauses();
    if (order == BATCH_SEND && agent.samples != NULL)
        cpu_samples_tell_anew(agent.samples);
    agent.is_restart_due = agent.is_restart_due || order == BATCH_RESET;
    agent.is_left = agent.is_left || order == BATCH_QUIT;
}

static void tell_flows(void)
{
    agent.flows_told_ns = now_ns();
    for (uint32_t i = 0; i < FLOWS_MOST; i++) {
        const struct flow *flow = &agent.flows.flow[i];
        if (flow->n > 0)
            agent_send_row(&agent.send, &(struct events_row){.kind = EVENTS_NETWORK,
                                                             .time_ns = agent.flows_told_ns - agent.start_ns,
                                                             .process = flow->process,
                                                             .thread = flow->thread,
                                                             .flags = flow->direction,
                                                             .n_bytes = flow->n_bytes,
                                                             .n = flow->n});
    }
    agent.flows = (struct flows){0};
}

static void take_flow(const struct queue_event *event)
{
    bool is_known = event->flags == EVENTS_IN || event->flags == EVENTS_OUT;
    const struct flow flow = {event->process, event->thread, event->flags, 1, event->n_bytes};
    if (is_known && !flows_add(&agent.flows, &flow)) {
        tell_flows();
        is_known = flows_add(&agent.flows, &flow);
    }
    agent.send.n_given_up += !is_known;
}

/* Of a file, or of a mark. False: it is not known. */
static bool find_name(const struct queue_event *event, char name[STORE_NAME_SIZE])
{
    const struct store *store = agent.recording.store;
    if (!store_is_sound(store, STORE_BYTES))
        return false;
    if (event->kind == EVENTS_MARK)
        return marks_find_name(&store->marks, store_marks(store), event->file, name);
    return store_find_name(store, event->file, name);
}

static void take_event(const struct queue_event *event)
{
    char name[STORE_NAME_SIZE];
    bool is_reap = event->kind == EVENTS_REAP;
    const struct events_row row = {
        .kind = (enum events_kind)event->kind,
        .time_ns = event->start_ns > agent.start_ns ? event->start_ns - agent.start_ns : 0,
        .duration_ns = event->duration_ns,
        .process = event->process,
        .thread = event->thread,
        .handle = event->handle,
        .flags = event->flags,
        .object = event->file,
        .offset_bytes = event->offset_bytes,
        .n_bytes = is_reap ? 0 : event->n_bytes,
        .n = is_reap ? event->n_bytes : 1};
    if (!agent_send_is_told(&agent.send, row.object) && find_name(event, name))
        agent_send_name(&agent.send, row.object, name);
    agent_send_row(&agent.send, &row);
}

static void tell_places(void)
{
    for (uint32_t i = 0; i < PLACES_MOST; i++) {
        const struct place_count *count = &agent.places.counts[i];
        if (count->n > 0)
            agent_send_row(&agent.send, &(struct events_row){.kind = EVENTS_CPU,
                                                             .duration_ns = count->n * agent.send.sample_ns,
                                                             .object = count->object,
                                                             .offset_bytes = count->offset_bytes,
                                                             .n = count->n});
    }
    memset(&agent.places, 0, sizeof agent.places);
}

static void take_sample(const struct queue_event *event)
{
    char name[STORE_NAME_SIZE];
    const uint64_t n = event->n_bytes;
    bool is_sound = n > 0 && n <= UINT32_MAX && agent.send.sample_ns > 0;
    if (is_sound && !agent_send_is_told(&agent.send, event->file) && find_name(event, name))
        agent_send_name(&agent.send, event->file, name);
    if (is_sound && places_add(&agent.places, event->file, event->offset_bytes, n))
        return;
    tell_places();
    if (!is_sound || !places_add(&agent.places, event->file, event->offset_bytes, n))
        agent.send.n_given_up++;
}

static void tell_processor(void)
{
    tell_places();
    if (agent.samples != NULL) {
        cpu_samples_poll(agent.samples);
        cpu_samples_tell(agent.samples, record_events_take_place, &agent.sink);
    }
    agent.cpu_told_ns = now_ns();
}

/* What has come or was lost until now is the recording that ends here. */
static void begin_anew(uint64_t at_ns)
{
    tell_flows();
    tell_processor();
    uint64_t spent_ns = at_ns > agent.start_ns ? at_ns - agent.start_ns : 0;
    agent.start_ns = agent.cpu_told_ns = at_ns;
    record_memory_restart(agent.memory, at_ns);
    if (agent.samples != NULL)
        cpu_samples_forget(agent.samples);
    agent_send_mark(&agent.send, BATCH_RESTART, spent_ns, 0);
    agent.n_lost_before = n_lost_ever();
}

/* The program's new beginning of that number, by whatever it becomes known first. */
static void renew(uint64_t number, uint64_t at_ns)
{
    if (number <= agent.n_renewed)
        return;
    agent.n_renewed = number;
    begin_anew(at_ns);
}

static uint64_t n_renewed_ever(void)
{
    return __atomic_load_n(&agent.recording.store->n_renewed, __ATOMIC_ACQUIRE);
}

static uint64_t renewed_ns(void)
{
    return __atomic_load_n(&agent.recording.store->start_ns, __ATOMIC_RELAXED);
}

/* A new beginning for which there was no room in the queue shows by what began behind it. */
static void take(const struct queue_event *event)
{
    if (event->kind == QUEUE_RENEWED) {
        renew(event->n_bytes, event->start_ns);
        return;
    }
    uint64_t number = n_renewed_ever();
    if (number > agent.n_renewed && event->start_ns >= renewed_ns())
        renew(number, renewed_ns());
    if (event->kind == EVENTS_NETWORK)
        take_flow(event);
    else if (event->kind == EVENTS_CPU)
        take_sample(event);
    else
        take_event(event);
}

static void fetch(void)
{
    struct queue_event event;
    uint64_t at_ns = now_ns();
    while (agent_send_has_room(&agent.send, 2) && queue_get(agent.queue, &agent.reader, at_ns, &event))
        take(&event);
}

/* What waits in the queue belongs to the recording that ends here; what finds no room is lost with it. */
static void restart(void)
{
    struct queue_event event;
    uint64_t at_ns = now_ns();
    fetch();
    while (queue_get(agent.queue, &agent.reader, at_ns, &event))
        agent.send.n_given_up++;
    /* Those of the program until now are part of it. */
    agent.n_renewed = n_renewed_ever();
    begin_anew(at_ns);
    agent.is_restart_due = false;
}

/* Or by nothing that waits in the queue. */
static void look_for_renewals(void)
{
    uint64_t number = n_renewed_ever();
    if (agent.reader.next == __atomic_load_n(&agent.queue->next, __ATOMIC_RELAXED) &&
        agent_send_has_room(&agent.send, 1))
        renew(number, renewed_ns());
}

static void look(void *data)
{
    (void)data;
    follow_pauses();
    record_dead_end(agent.recording.store);
    if (agent.is_restart_due && agent_send_has_room(&agent.send, 1))
        restart();
    fetch();
    look_for_renewals();
    if (agent.samples != NULL)
        cpu_samples_poll(agent.samples);
    if (now_ns() - agent.flows_told_ns >= FLOWS_NS && agent_send_has_room(&agent.send, BACKLOG_BATCHES / 2))
        tell_flows();
    if (!is_paused() && agent_send_has_room(&agent.send, BACKLOG_BATCHES / 2)) {
        record_memory_poll(agent.memory, &agent.sink);
        if (now_ns() - agent.cpu_told_ns >= CPU_NS)
            tell_processor();
    }
    agent_send_step(&agent.send);
}

/* The last events, then what the processor and the memory were used for, then the end. */
static void deliver(void)
{
    uint64_t since_ns = now_ns();
    const struct launch_end *end = &agent.recording.end;
    agent.send.is_ending = true;
    fetch();
    while (agent.reader.next != __atomic_load_n(&agent.queue->next, __ATOMIC_RELAXED) &&
           now_ns() - since_ns < LAST_WRITE_NS) {
        agent_send_wait(&agent.send);
        fetch();
    }
    look_for_renewals();
    if (agent.recording.store->count[STORE_PROCESSES] == 0)
        agent_send_say(
            "the wrappers were not loaded into the command, whose C library may be another one; build "
            "libfstune-profile.so for it");
    agent.send.n_given_up += record_memory_end(agent.memory, &agent.sink);
    tell_processor();
    tell_flows();
    agent_send_has_room(&agent.send, 1);
    uint64_t spent_ns = since_ns > agent.start_ns ? since_ns - agent.start_ns : 0;
    agent_send_mark(&agent.send, BATCH_END, spent_ns, end->is_left ? 0 : (uint64_t)(uint32_t)end->status + 1);
}

/* That of the command; a failure of ours where it had none. */
static int exit_code(void)
{
    bool is_whole;
    const struct launch_end *end = &agent.recording.end;
    uint64_t n_missing = agent_send_finish(&agent.send, &is_whole);
    if (!is_whole)
        agent_send_say(
            "the manager has not confirmed the end: it may lack %llu events, beside %llu that found no room",
            (unsigned long long)n_missing, (unsigned long long)n_lost());
    int code = end->is_left               ? EXIT_DONE
               : WIFSIGNALED(end->status) ? EXIT_SIGNAL + WTERMSIG(end->status)
                                          : WEXITSTATUS(end->status);
    return code == EXIT_DONE && !is_whole ? EXIT_FAILED : code;
}

/* The store with the queue behind it. */
static int open_memory(struct err *err)
{
    size_t n_queue = ((size_t)agent.queue_bytes + QUEUE_ALIGN - 1) / QUEUE_ALIGN * QUEUE_ALIGN;
    struct recording *recording = &agent.recording;
    agent.start_ns = agent.cpu_told_ns = now_ns();
    int code = shared_memory_open(&recording->shared, STORE_BYTES + n_queue, err);
    if (code < 0)
        return code;
    recording->store = recording->shared.memory;
    agent.queue = (void *)((char *)recording->shared.memory + STORE_BYTES);
    code = store_init(recording->store, STORE_BYTES, agent.start_ns);
    if (code == 0)
        code = queue_init(agent.queue, n_queue);
    if (code < 0)
        return err_set(err, code, "--store: is too small; give at least 32k");
    agent.reader.n_slots = (size_t)agent.queue->n_slots;
    agent.queue->is_paused = agent.begins_stopped;
    return 0;
}

/* Both libraries where memory is recorded, each with a variable of its own. */
static int prepare(struct launch *launch, char *libraries, size_t size, struct err *err)
{
    char wrappers[PATH_MAX];
    int code = record_find_wrappers(wrappers, sizeof wrappers, err);
    if (code == 0)
        code = open_memory(err);
    if (code == 0 && agent.with_memory)
        code = record_memory_open(&agent.memory, launch->argv[0], agent.start_ns, err);
    if (code < 0)
        return code;
    record_memory_prepare(agent.memory, launch);
    if (agent.memory != NULL)
        setenv(launch->variable, launch->value, 1);
    snprintf(libraries, size, "%s%s%s", wrappers, agent.memory != NULL ? ":" : "",
             agent.memory != NULL ? launch->library : "");
    launch->library = libraries;
    launch->variable = RECORD_STORE_VARIABLE;
    launch->value = agent.recording.shared.path;
    launch->is_over = &agent.recording.store->is_stopped;
    if (cpu_samples_open(&agent.samples, RECORD_EVENTS_SAMPLE_NS, NULL) < 0)
        agent.samples = NULL;
    follow_pauses();
    agent.queue->sample_ns = agent.samples != NULL ? 0 : RECORD_EVENTS_SAMPLE_NS;
    agent.send.sample_ns = RECORD_EVENTS_SAMPLE_NS;
    return 0;
}

static int run(struct err *err)
{
    static char libraries[2 * PATH_MAX + 1], path[PATH_MAX];
    struct launch launch = {.path = path,
                            .argv = agent.send.command,
                            .look = look,
                            .interrupted = &interrupt_signal,
                            .outlives_us = true,
                            .is_left = &agent.is_left};
    int code = program_find(launch.argv[0], path, sizeof path, err);
    if (code == 0)
        code = prepare(&launch, libraries, sizeof libraries, err);
    if (code == 0)
        code = agent_send_open(&agent.send, err);
    if (code == 0)
        code = launch_run(&launch, &agent.recording.end, err);
    if (code == 0)
        deliver();
    return code;
}

static int read_value(const char *name, const char *text, struct err *err)
{
    int code = 0;
    bool is_size = strcmp(name, "--store") == 0;
    if (text == NULL)
        return err_set(err, -EINVAL, "%s: its value is missing; see fstune-agent --help", name);
    if (strcmp(name, "--connect") == 0)
        agent.send.address = text;
    else
        code = is_size ? units_parse_size(text, &agent.queue_bytes)
                       : units_parse_duration(text, &agent.send.wait_ns);
    if (code < 0 || agent.queue_bytes < STORE_MIN_BYTES || agent.queue_bytes > STORE_MAX_BYTES)
        return err_set(err, -EINVAL, "%s: '%.40s' is no %s", name, text,
                       is_size ? "size from 32k to 64m" : "duration; write it with a unit, as 60s");
    return 0;
}

static int read_options(const char *const *argv, struct err *err)
{
    for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++) {
        bool has_value =
            strcmp(*argv, "--connect") == 0 || strcmp(*argv, "--store") == 0 || strcmp(*argv, "--wait") == 0;
        if (strcmp(*argv, "--memory") == 0)
            agent.with_memory = true;
        else if (strcmp(*argv, "--stopped") == 0)
            agent.begins_stopped = true;
        else if (!has_value)
            return err_set(err, -EINVAL, "%.60s: is no option; the command stands behind --", *argv);
        else if (read_value(argv[0], argv[1], err) < 0)
            return err->code;
        else
            argv++;
    }
    if (argv[0] == NULL || argv[1] == NULL)
        return err_set(err, -EINVAL, "the command is missing; write fstune-agent -- COMMAND [ARGUMENT...]");
    agent.send.command = argv + 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    bool asks_help = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (asks_help || (argc == 2 && strcmp(argv[1], "--version") == 0)) {
        dprintf(STDOUT_FILENO, "%s", asks_help ? usage : "fstune-agent " FSTUNE_VERSION "\n");
        return EXIT_DONE;
    }
    agent.send = (struct agent_send){.wait_ns = WAIT_NS, .n_lost = n_lost, .obey = obey};
    agent.sink = (struct events_sink){.to = &agent.send, .add = agent_send_row, .name = agent_send_name};
    agent.queue_bytes = QUEUE_BYTES;
    /* The manager keeps Ctrl-C from what stands between, such as ssh; the command is to have it. */
    signal(SIGINT, SIG_DFL);
    int code = interrupt_setup(&err);
    if (code == 0)
        code = read_options((const char *const *)argv + 1, &err);
    if (code == 0)
        code = run(&err);
    if (code == 0)
        return exit_code();
    agent_send_say("%s", err.text);
    return code == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}
