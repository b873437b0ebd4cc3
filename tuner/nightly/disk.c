/* Requests of clients, and what is learnt from them. */
#include "tuner/nightly/disk.h"

#include "bench/base/clock.h"
#include "bench/host/hostinfo.h"
#include "tuner/nightly/disk_history.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void disk_say(const struct disk *disk, bool is_wrong, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (disk->options.say != NULL)
        disk->options.say(is_wrong, format, arguments);
    va_end(arguments);
}

static struct fst_space *space_of(void *context, unsigned kind)
{
    struct disk *disk = context;
    return disk_ways_space(&disk->ways, kind);
}

static bool may_use(void *context, const struct online_setting *setting)
{
    const struct disk *disk = context;
    return disk_ways_may_use(&disk->ways, setting);
}

/* Requests past the cache, and reads without the kernel's read-ahead, leave less there for those that come
 * later, which no trial sees. Where there is room for the whole image, all is read from the disk once. */
static bool is_kept(const struct disk *disk)
{
    struct hostinfo_memory_room room = {.bytes = disk->options.cache_bytes};
    if (isnan(room.bytes))
        hostinfo_find_memory_room(&room);
    return (double)disk->image.size_bytes <= room.bytes;
}

static void begin_tuning(struct disk *disk)
{
    struct online_options options = {.regret_share = disk->options.regret_share,
                                     .dry_run = disk->options.dry_run,
                                     .n_factors = DISK_WAYS_N,
                                     .is_timed = true,
                                     .seed = 1,
                                     .first = disk_ways_to_setting(DISK_WAYS_PLAIN),
                                     .space = space_of,
                                     .may_use = may_use,
                                     .context = disk};
    disk->ways = (struct disk_ways){
        .can_direct = disk->image.fd_direct >= 0, .can_split = image_can_split(), .is_kept = is_kept(disk)};
    snprintf(disk->why_not_direct, sizeof(disk->why_not_direct), "%s", disk->image.direct_why);
    online_init(&disk->online, &options);
}

/* With the lock held, which is away while the file is written. */
static void tell_settled(struct disk *disk, unsigned kind)
{
    const struct online_mind *mind = &disk->online.mind[kind];
    char setting[DISK_WAYS_TEXT_SIZE];
    disk_say(disk, false, "%s: %s, %.2f times the rate of what ran first", kind_name(kind),
             disk_ways_format(disk_ways_of_setting(&mind->best), setting), mind->gain);
    if (disk->options.history == NULL)
        return;
    char *text = disk_history_text(disk);
    pthread_mutex_unlock(&disk->gate.lock);
    disk_history_save(disk, text);
    free(text);
    pthread_mutex_lock(&disk->gate.lock);
}

const char *disk_state(const struct disk *disk)
{
    const struct online *online = &disk->online;
    return online->is_pinned         ? "pinned"
           : online->options.dry_run ? "dry run"
           : online->is_frozen       ? "frozen"
                                     : "tuning";
}

/* The next thought waits until this one has its share of the time that passes. With the lock held. */
static void rest_after(struct disk *disk, uint64_t thought_ns)
{
    double share = disk->options.thinking_share;
    disk->thinking_ns += thought_ns;
    if (share > 0)
        disk->rest_until_ns =
            clock_now_ns(&clock_monotonic) + (uint64_t)((double)thought_ns * (1 / share - 1));
}

/* libfstune may take milliseconds, for which no request waits. Each slice of the load wakes it. */
static void *think(void *context)
{
    struct disk *disk = context;
    struct online_thought thought;
    pthread_mutex_lock(&disk->gate.lock);
    while (!disk->is_over) {
        if (clock_now_ns(&clock_monotonic) < disk->rest_until_ns ||
            !online_thought_take(&disk->online, &thought)) {
            pthread_cond_wait(&disk->slice_ended, &disk->gate.lock);
            continue;
        }
        pthread_mutex_unlock(&disk->gate.lock);
        uint64_t began_ns = clock_thread_ns();
        online_think(&thought);
        uint64_t thought_ns = clock_thread_ns() - began_ns;
        pthread_mutex_lock(&disk->gate.lock);
        rest_after(disk, thought_ns);
        if (online_thought_give(&disk->online, &thought))
            tell_settled(disk, thought.kind);
    }
    pthread_mutex_unlock(&disk->gate.lock);
    return NULL;
}

static bool is_over(struct disk *disk)
{
    pthread_mutex_lock(&disk->gate.lock);
    bool is = disk->is_over;
    pthread_mutex_unlock(&disk->gate.lock);
    return is;
}

/* What runs stays. With the lock held. */
static void end_trials(struct disk *disk, const char *what, const char *why)
{
    if (disk->online.is_frozen)
        return;
    online_freeze(&disk->online);
    struct online_setting running = online_running(&disk->online);
    disk_gate_want(&disk->gate, disk_ways_of_setting(&running));
    disk_say(disk, true, "%s %s; nothing is tried any more", what, why);
}

/* The first error and each stall end all trials. With the lock held. */
static void note_trouble(struct disk *disk, const char *what, int code, uint64_t took_ns)
{
    char why[128];
    if (code < 0)
        snprintf(why, sizeof(why), "failed: %s", strerror(-code));
    else
        snprintf(why, sizeof(why), "took %.1f s", (double)took_ns / (double)CLOCK_NS_PER_S);
    if (code == 0 || disk->n_errors == 0)
        end_trials(disk, what, why);
    disk->n_errors += code < 0;
    disk->n_stalls += code == 0;
}

/* Beginning to write may wait for the device. Only a flush waits for that: it must know what was lost. */
static void *write_out(void *context)
{
    struct disk *disk = context;
    while (!is_over(disk)) {
        if (sem_wait(&disk->gathered) != 0)
            continue;
        while (sem_trywait(&disk->gathered) == 0) {
        }
        int code = image_flush_write_out(&disk->flush);
        if (code < 0) {
            pthread_mutex_lock(&disk->gate.lock);
            note_trouble(disk, "writing out", code, 0);
            pthread_mutex_unlock(&disk->gate.lock);
        }
    }
    return NULL;
}

static void end_thinking(struct disk *disk)
{
    pthread_mutex_lock(&disk->gate.lock);
    disk->is_over = true;
    pthread_cond_signal(&disk->slice_ended);
    pthread_mutex_unlock(&disk->gate.lock);
    pthread_join(disk->thinker, NULL);
}

static int begin_threads(struct disk *disk)
{
    int code = -pthread_create(&disk->thinker, NULL, think, disk);
    if (code == 0 && (code = -pthread_create(&disk->writer, NULL, write_out, disk)) < 0)
        end_thinking(disk);
    return code;
}

static int begin_serving(struct disk *disk)
{
    int code = image_lanes_open(&disk->lanes);
    if (code < 0)
        return code;
    if ((code = disk_gate_init(&disk->gate, &disk->flush, DISK_WAYS_PLAIN)) == 0) {
        if ((code = -pthread_cond_init(&disk->slice_ended, NULL)) == 0 &&
            (code = sem_init(&disk->gathered, 0, 0) == 0 ? 0 : -errno) == 0 &&
            (code = begin_threads(disk)) == 0)
            return 0;
        disk_gate_done(&disk->gate);
    }
    image_lanes_close(&disk->lanes);
    return code;
}

int disk_open(struct disk *disk, const struct disk_options *options, struct err *err)
{
    *disk = (struct disk){.options = *options};
    int code = image_open(&disk->image, options->path, options->writable, options->device_bytes, err);
    if (code < 0)
        return code;
    image_flush_init(&disk->flush, &disk->image);
    begin_tuning(disk);
    if (options->history != NULL)
        disk_history_load(disk);
    if ((code = begin_serving(disk)) < 0) {
        image_close(&disk->image);
        return err_sys(err, code, "%s: cannot be served", options->path);
    }
    return 0;
}

void disk_close(struct disk *disk)
{
    end_thinking(disk);
    sem_post(&disk->gathered);
    pthread_join(disk->writer, NULL);
    if (disk->options.history != NULL) {
        char *text = disk_history_text(disk);
        disk_history_save(disk, text);
        free(text);
    }
    online_done(&disk->online);
    sem_destroy(&disk->gathered);
    pthread_cond_destroy(&disk->slice_ended);
    disk_gate_done(&disk->gate);
    image_lanes_close(&disk->lanes);
    image_close(&disk->image);
}

/* From now on requests go through the cache, for as long as the image is served. With the lock held. */
static void give_up_direct(struct disk *disk, const char *why)
{
    if (!disk->ways.can_direct)
        return;
    disk->ways.can_direct = false;
    snprintf(disk->why_not_direct, sizeof(disk->why_not_direct), "%s", why);
    disk_say(disk, false, "no direct requests any more: %s", why);
    if (disk->online.is_pinned && disk->online.pinned.values[0] > 0)
        online_pin(&disk->online, NULL);
    struct image_way way = disk->gate.wanted;
    way.direct = false;
    disk_gate_want(&disk->gate, way);
}

/* With the lock held. */
static void end_slice(struct disk *disk, bool is_bad, bool is_flushed, uint64_t now_ns)
{
    struct disk_gate *gate = &disk->gate;
    struct kind_counts counts = disk_gate_slice_counts(gate);
    /* Before those that are late: none of them may be missed. */
    uint32_t n_tried = atomic_load(&gate->n_tried);
    /* A bad one ended too soon to tell. */
    struct online_slice slice = {.kind = is_bad ? disk->online.kind : kind_of(&counts),
                                 .setting = disk_ways_to_setting(disk_gate_way(gate)),
                                 .n_bytes = counts.n_bytes,
                                 .seconds =
                                     (double)disk_gate_slice_busy_ns(gate, now_ns) / (double)CLOCK_NS_PER_S,
                                 .switch_seconds = (double)gate->slice.switch_ns / (double)CLOCK_NS_PER_S,
                                 .end_seconds = (double)now_ns / (double)CLOCK_NS_PER_S,
                                 .is_whole = is_bad || disk_gate_slice_is_whole(gate, is_flushed),
                                 .latencies = disk_gate_slice_latencies(gate),
                                 .late_tried = disk_gate_take_late(gate, DISK_GATE_TRIED),
                                 .late_others = disk_gate_take_late(gate, DISK_GATE_OTHERS),
                                 .n_tried_under_way = n_tried};
    struct online_setting next = online_next(&disk->online, &slice);
    const struct online *online = &disk->online;
    bool is_trying = online->step == ONLINE_TRYING;
    /* The tried way may go on for a while, until it is safe to change. */
    bool is_marked = is_trying || (online->step == ONLINE_AFTER && !online_is_same(&online->tried, &next));
    struct image_way way = disk_ways_of_setting(&next), tried = disk_ways_of_setting(&online->tried);
    atomic_store(&disk->is_trying, is_trying);
    disk_gate_try(gate, is_marked ? &tried : NULL);
    disk_gate_want(gate, way);
    disk_gate_slice_begin(gate, now_ns);
    pthread_cond_signal(&disk->slice_ended);
}

/* In this order: from FLUSHED on the gate must be told. */
enum ending {
    MOVED,
    SHARED,  /* the flush was another request's */
    FLUSHED, /* all that had been written when it began is on the disk now */
    FAILED
};

/* A tried setting goes badly, by its rate or by how long its requests wait. With the lock held. */
static bool is_bad_slice(const struct disk *disk, const struct disk_gate_pass *pass, uint64_t now_ns)
{
    struct kind_counts counts = disk_gate_slice_counts(&disk->gate);
    if (online_should_end(&disk->online, counts.n[PROFILE_READ] + counts.n[PROFILE_WRITE], counts.n_bytes,
                          (double)disk_gate_slice_busy_ns(&disk->gate, now_ns) / (double)CLOCK_NS_PER_S))
        return true;
    if (now_ns - pass->begin_ns < online_slow_ns(&disk->online))
        return false;
    struct latency_counts latencies = disk_gate_slice_latencies(&disk->gate);
    return online_waits_too_long(&disk->online, &latencies);
}

/* A slice may be over with this request. Others that see it meanwhile go on. */
static void look_at_slice(struct disk *disk, const struct disk_gate_pass *pass, enum ending end,
                          const char *what, int code, uint64_t now_ns)
{
    struct disk_gate *gate = &disk->gate;
    if (end > SHARED)
        pthread_mutex_lock(&gate->lock);
    else if (pthread_mutex_trylock(&gate->lock) != 0)
        return;
    if (end == FAILED)
        note_trouble(disk, what, code, 0);
    bool is_flushed = end == FLUSHED && disk_gate_note_flush(gate, pass);
    bool is_bad = is_bad_slice(disk, pass, now_ns);
    if (is_bad || disk_gate_slice_is_over(gate, is_flushed, now_ns))
        end_slice(disk, is_bad, is_flushed, now_ns);
    pthread_mutex_unlock(&gate->lock);
}

/* Something is wrong with an image whose requests take so long; flushes may. */
static void look_for_stall(struct disk *disk, const struct disk_gate_pass *pass, const char *what,
                           uint64_t now_ns)
{
    uint64_t took_ns = now_ns - pass->begin_ns;
    if (disk->options.stall_ns == 0 || took_ns <= disk->options.stall_ns)
        return;
    pthread_mutex_lock(&disk->gate.lock);
    note_trouble(disk, what, 0, took_ns);
    pthread_mutex_unlock(&disk->gate.lock);
}

/* A request is over, mostly without any lock. */
static void leave(struct disk *disk, const struct disk_gate_pass *pass, const struct profile_request *request,
                  enum ending end, const char *what, int code)
{
    uint64_t now_ns = disk_gate_leave(&disk->gate, pass, request, end != FAILED);
    if (end == MOVED && request != NULL)
        look_for_stall(disk, pass, what, now_ns);
    if (end > SHARED || atomic_load_explicit(&disk->is_trying, memory_order_relaxed) ||
        disk_gate_slice_is_over(&disk->gate, false, now_ns))
        look_at_slice(disk, pass, end, what, code, now_ns);
}

static void refuse_direct(struct disk *disk, const char *why)
{
    pthread_mutex_lock(&disk->gate.lock);
    give_up_direct(disk, why);
    pthread_mutex_unlock(&disk->gate.lock);
}

static void check_alignment(struct disk *disk, const struct profile_request *request)
{
    if (atomic_load_explicit(&disk->ways.can_direct, memory_order_relaxed) &&
        !image_is_aligned(&disk->image, request->offset_bytes, request->n_bytes))
        refuse_direct(disk, "the client's requests are not aligned to the blocks of direct requests");
}

/* Whoever fills what may be gathered has it written out. */
static void gather(struct disk *disk, uint32_t most_bytes, uint64_t n_bytes)
{
    uint64_t before = atomic_fetch_add_explicit(&disk->gathered_bytes, n_bytes, memory_order_relaxed);
    if (before / most_bytes != (before + n_bytes) / most_bytes)
        sem_post(&disk->gathered);
}

static int move(struct disk *disk, const struct disk_gate_pass *pass, const struct profile_request *request,
                void *buffer, const void *data)
{
    if (pass->ahead_n_bytes > 0)
        image_read_ahead(&disk->image, pass->ahead_from_bytes, pass->ahead_n_bytes);
    if (buffer != NULL)
        return image_read(&disk->image, &disk->lanes, pass->way, buffer, request->n_bytes,
                          request->offset_bytes);
    int code =
        image_write(&disk->image, &disk->lanes, pass->way, data, request->n_bytes, request->offset_bytes);
    bool is_durable = (request->flags & PROFILE_DURABLE) != 0;
    disk_gate_note_written(&disk->gate, request->n_bytes);
    if (code == 0 && pass->way.out_bytes > 0 && !is_durable)
        gather(disk, pass->way.out_bytes, request->n_bytes);
    return code;
}

/* What is durable ends with a flush. One that others wait for, too, is told to the gate once. request: NULL
 * for what moves no data; that a range of zeroes is not supported is no failure. */
static int finish(struct disk *disk, struct disk_gate_pass *pass, const struct profile_request *request,
                  bool durable, const char *what, int code)
{
    bool is_refused = request == NULL && code == -EOPNOTSUPP;
    enum ending end = MOVED;
    if (code == 0 && durable) {
        if (request != NULL)
            look_for_stall(disk, pass, what, clock_now_ns(&clock_monotonic));
        end = image_flush_wait(&disk->flush, &code) ? FLUSHED : SHARED;
    }
    if (end == FLUSHED) {
        pass->written_bytes = disk_gate_written_bytes(&disk->gate);
        code = image_flush_make(&disk->flush);
    }
    if (code < 0 && !is_refused)
        end = FAILED;
    leave(disk, pass, request, end, what, code);
    return code;
}

static int carry(struct disk *disk, struct disk_gate_client *client, const struct profile_request *request,
                 void *buffer, const void *data)
{
    bool durable = (request->flags & PROFILE_DURABLE) != 0;
    const char *what = buffer != NULL ? "a read" : "a write";
    struct disk_gate_pass pass;
    check_alignment(disk, request);
    disk_gate_enter(&disk->gate, client, request, &pass);
    int code = move(disk, &pass, request, buffer, data);
    /* A direct request that the kernel refuses is no error of the image: the cache makes it again. */
    if (pass.way.direct && (code == -EINVAL || code == -EOPNOTSUPP)) {
        disk_gate_leave(&disk->gate, &pass, request, false);
        refuse_direct(disk, "the kernel refused one");
        disk_gate_enter(&disk->gate, client, request, &pass);
        code = move(disk, &pass, request, buffer, data);
    }
    return finish(disk, &pass, request, durable, what, code);
}

int disk_read(struct disk *disk, struct disk_gate_client *client, void *buffer, size_t n_bytes,
              uint64_t offset_bytes)
{
    struct profile_request request = {
        .offset_bytes = offset_bytes, .n_bytes = n_bytes, .direction = PROFILE_READ};
    return carry(disk, client, &request, buffer, NULL);
}

int disk_write(struct disk *disk, struct disk_gate_client *client, const void *buffer, size_t n_bytes,
               uint64_t offset_bytes, bool durable)
{
    struct profile_request request = {.offset_bytes = offset_bytes,
                                      .n_bytes = n_bytes,
                                      .direction = PROFILE_WRITE,
                                      .flags = durable ? PROFILE_DURABLE : 0};
    return carry(disk, client, &request, NULL, buffer);
}

int disk_zero(struct disk *disk, uint64_t offset_bytes, uint64_t n_bytes, bool punch, bool durable)
{
    struct disk_gate_pass pass;
    disk_gate_enter(&disk->gate, NULL, NULL, &pass);
    int code = image_zero(&disk->image, offset_bytes, n_bytes, punch);
    return finish(disk, &pass, NULL, durable, "a range of zeroes", code);
}

int disk_flush(struct disk *disk)
{
    struct disk_gate_pass pass;
    disk_gate_enter(&disk->gate, NULL, NULL, &pass);
    return finish(disk, &pass, NULL, true, "a flush", 0);
}
