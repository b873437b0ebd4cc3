/* Requests of clients, and what is learnt from them. */
#include "tuner/disk/served.h"

#include "bench/base/clock.h"
#include "tuner/disk/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void served_say(const struct served *served, bool is_wrong, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (served->options.say != NULL)
        served->options.say(is_wrong, format, arguments);
    va_end(arguments);
}

static struct fst_space *space_of(void *context, unsigned kind)
{
    struct served *served = context;
    return ways_space(&served->ways, kind);
}

static bool may_use(void *context, const struct online_setting *setting)
{
    const struct served *served = context;
    struct image_way way = ways_of_setting(setting);
    return (!way.direct || served->ways.can_direct) && (way.piece_bytes == 0 || served->ways.can_split);
}

static void begin_tuning(struct served *served)
{
    struct online_options options = {.regret_share = served->options.regret_share,
                                     .dry_run = served->options.dry_run,
                                     .seed = 1,
                                     .first = ways_to_setting(WAYS_PLAIN),
                                     .space = space_of,
                                     .may_use = may_use,
                                     .context = served};
    served->ways = (struct ways){.can_direct = served->image.fd_direct >= 0, .can_split = image_can_split()};
    snprintf(served->why_not_direct, sizeof(served->why_not_direct), "%s", served->image.direct_why);
    online_init(&served->online, &options);
}

/* With the lock held, which is away while the file is written. */
static void tell_settled(struct served *served, unsigned kind)
{
    const struct online_mind *mind = &served->online.mind[kind];
    char setting[WAYS_TEXT_SIZE];
    served_say(served, false, "%s: %s, %.2f times the rate of what ran first", kind_name(kind),
               ways_format(ways_of_setting(&mind->best), setting), mind->gain);
    if (served->options.history == NULL)
        return;
    char *text = history_text(served);
    pthread_mutex_unlock(&served->gate.lock);
    history_save(served, text, false);
    free(text);
    pthread_mutex_lock(&served->gate.lock);
}

/* libfstune may take milliseconds, for which no request waits. */
static void *think(void *context)
{
    struct served *served = context;
    struct online_thought thought;
    pthread_mutex_lock(&served->gate.lock);
    while (!served->is_over) {
        if (!online_thought_take(&served->online, &thought)) {
            pthread_cond_wait(&served->slice_ended, &served->gate.lock);
            continue;
        }
        pthread_mutex_unlock(&served->gate.lock);
        online_think(&thought);
        pthread_mutex_lock(&served->gate.lock);
        if (online_thought_give(&served->online, &thought))
            tell_settled(served, thought.kind);
    }
    pthread_mutex_unlock(&served->gate.lock);
    return NULL;
}

static int begin_serving(struct served *served)
{
    int code = image_lanes_open(&served->lanes);
    if (code < 0)
        return code;
    if ((code = gate_init(&served->gate, &served->image, WAYS_PLAIN)) == 0) {
        if ((code = -pthread_cond_init(&served->slice_ended, NULL)) == 0 &&
            (code = -pthread_create(&served->thinker, NULL, think, served)) == 0)
            return 0;
        gate_done(&served->gate);
    }
    image_lanes_close(&served->lanes);
    return code;
}

int served_open(struct served *served, const struct served_options *options, struct err *err)
{
    *served = (struct served){.options = *options};
    int code = image_open(&served->image, options->path, options->writable, err);
    if (code < 0)
        return code;
    begin_tuning(served);
    if (options->history != NULL)
        history_load(served);
    if ((code = begin_serving(served)) < 0) {
        image_close(&served->image);
        return err_sys(err, code, "%s: cannot be served", options->path);
    }
    return 0;
}

void served_close(struct served *served)
{
    pthread_mutex_lock(&served->gate.lock);
    served->is_over = true;
    pthread_cond_signal(&served->slice_ended);
    pthread_mutex_unlock(&served->gate.lock);
    pthread_join(served->thinker, NULL);
    if (served->options.history != NULL) {
        char *text = history_text(served);
        history_save(served, text, true);
        free(text);
    }
    online_done(&served->online);
    pthread_cond_destroy(&served->slice_ended);
    gate_done(&served->gate);
    image_lanes_close(&served->lanes);
    image_close(&served->image);
}

/* From now on requests go through the cache, for as long as the image is served. With the lock held. */
static void give_up_direct(struct served *served, const char *why)
{
    if (!served->ways.can_direct)
        return;
    served->ways.can_direct = false;
    snprintf(served->why_not_direct, sizeof(served->why_not_direct), "%s", why);
    served_say(served, false, "no direct requests any more: %s", why);
    if (served->online.is_pinned && served->online.pinned.values[0] > 0)
        online_pin(&served->online, NULL);
    struct image_way way = served->gate.wanted;
    way.direct = false;
    gate_want(&served->gate, way);
}

/* With the lock held. */
static void end_slice(struct served *served, bool is_bad)
{
    struct gate *gate = &served->gate;
    struct online_slice slice = {.kind = kind_of(&gate->slice.counts),
                                 .setting = ways_to_setting(gate->now),
                                 .n_bytes = gate->slice.counts.n_bytes,
                                 .seconds = (double)gate->slice.busy_ns / (double)CLOCK_NS_PER_S,
                                 .switch_seconds = (double)gate->slice.switch_ns / (double)CLOCK_NS_PER_S,
                                 .is_whole = is_bad || gate_slice_is_whole(gate)};
    struct online_setting next = online_next(&served->online, &slice);
    gate_want(gate, ways_of_setting(&next));
    gate_slice_begin(gate);
    pthread_cond_signal(&served->slice_ended);
}

/* The first error ends all trials; what runs stays. With the lock held. */
static void note_error(struct served *served, const char *what, int code)
{
    if (served->n_errors++ == 0 && !served->online.is_frozen) {
        online_freeze(&served->online);
        struct online_setting running = online_running(&served->online);
        gate_want(&served->gate, ways_of_setting(&running));
        served_say(served, true, "%s failed: %s; nothing is tried any more", what, strerror(-code));
    }
}

/* A request is over, and with it perhaps a slice. */
static void leave(struct served *served, const struct gate_pass *pass, const struct profile_request *request,
                  enum gate_end end, const char *what, int code)
{
    struct gate *gate = &served->gate;
    gate_leave(gate, pass, request, end);
    if (end == GATE_FAILED)
        note_error(served, what, code);
    const struct gate_slice *slice = &gate->slice;
    bool is_bad = online_should_end(&served->online, slice->n_requests, slice->counts.n_bytes,
                                    (double)slice->busy_ns / (double)CLOCK_NS_PER_S);
    if (is_bad || gate_slice_is_over(gate))
        end_slice(served, is_bad);
    pthread_mutex_unlock(&gate->lock);
}

static void check_alignment(struct served *served, const struct profile_request *request)
{
    if (served->image.fd_direct < 0 ||
        image_is_aligned(&served->image, request->offset_bytes, request->n_bytes))
        return;
    pthread_mutex_lock(&served->gate.lock);
    give_up_direct(served, "the client's requests are not aligned to the blocks of direct requests");
    pthread_mutex_unlock(&served->gate.lock);
}

static int move(struct served *served, const struct gate_pass *pass, const struct profile_request *request,
                void *buffer, const void *data)
{
    if (pass->ahead_n_bytes > 0)
        image_read_ahead(&served->image, pass->ahead_from, pass->ahead_n_bytes);
    return buffer != NULL ? image_read(&served->image, &served->lanes, pass->way, buffer, request->n_bytes,
                                       request->offset_bytes)
                          : image_write(&served->image, &served->lanes, pass->way, data, request->n_bytes,
                                        request->offset_bytes);
}

/* A direct request that the kernel refuses is no error of the image: it is made again through the cache. */
static bool is_refused(const struct gate_pass *pass, int code)
{
    return pass->way.direct && (code == -EINVAL || code == -EOPNOTSUPP);
}

/* A flush for the client. With `lost_code`, which a flush of our own may have set, none succeeds. */
static int sync_image(struct served *served)
{
    int code = image_sync(&served->image);
    pthread_mutex_lock(&served->gate.lock);
    if (served->gate.lost_code == 0)
        served->gate.lost_code = code;
    code = served->gate.lost_code;
    pthread_mutex_unlock(&served->gate.lock);
    return code;
}

static int carry(struct served *served, struct gate_client *client, const struct profile_request *request,
                 void *buffer, const void *data)
{
    bool durable = (request->flags & PROFILE_DURABLE) != 0;
    struct gate_pass pass;
    check_alignment(served, request);
    gate_enter(&served->gate, client, request, &pass);
    int code = move(served, &pass, request, buffer, data);
    if (is_refused(&pass, code)) {
        gate_leave(&served->gate, &pass, request, GATE_FAILED);
        give_up_direct(served, "the kernel refused one");
        pthread_mutex_unlock(&served->gate.lock);
        gate_enter(&served->gate, client, request, &pass);
        code = move(served, &pass, request, buffer, data);
    }
    if (code == 0 && durable)
        code = sync_image(served);
    leave(served, &pass, request,
          code < 0  ? GATE_FAILED
          : durable ? GATE_FLUSHED
                    : GATE_MOVED,
          buffer != NULL ? "a read" : "a write", code);
    return code;
}

int served_read(struct served *served, struct gate_client *client, void *buffer, size_t n_bytes,
                uint64_t offset_bytes)
{
    struct profile_request request = {
        .offset_bytes = offset_bytes, .n_bytes = n_bytes, .direction = PROFILE_READ};
    return carry(served, client, &request, buffer, NULL);
}

int served_write(struct served *served, struct gate_client *client, const void *buffer, size_t n_bytes,
                 uint64_t offset_bytes, bool durable)
{
    struct profile_request request = {.offset_bytes = offset_bytes,
                                      .n_bytes = n_bytes,
                                      .direction = PROFILE_WRITE,
                                      .flags = durable ? PROFILE_DURABLE : 0};
    return carry(served, client, &request, NULL, buffer);
}

int served_zero(struct served *served, uint64_t offset_bytes, uint64_t n_bytes, bool punch, bool durable)
{
    struct gate_pass pass;
    gate_enter(&served->gate, NULL, NULL, &pass);
    int code = image_zero(&served->image, offset_bytes, n_bytes, punch);
    if (code == 0 && durable)
        code = sync_image(served);
    enum gate_end end = code < 0 && code != -EOPNOTSUPP ? GATE_FAILED
                        : code == 0 && durable          ? GATE_FLUSHED
                                                        : GATE_MOVED;
    leave(served, &pass, NULL, end, "a range of zeroes", code);
    return code;
}

int served_flush(struct served *served)
{
    struct gate_pass pass;
    gate_enter(&served->gate, NULL, NULL, &pass);
    int code = sync_image(served);
    leave(served, &pass, NULL, code < 0 ? GATE_FAILED : GATE_FLUSHED, "a flush", code);
    return code;
}
