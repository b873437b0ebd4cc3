/* tuner/profile/load_replay: requests made, and put into a store as those of a program are. */
#include "tuner/profile/load_replay.h"

#include "models/profile/store.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/worker.h"

#include <errno.h>
#include <math.h>

#define FILE_NUMBER 1

struct job {
    struct requests_plan plan;
    size_t n_made;
    struct err err;
};

static void begins(void *data, uint64_t now_ns)
{
    store_begin(data, now_ns, 1);
}

static void ends(void *data, uint64_t now_ns)
{
    store_end(data, now_ns, 1);
}

static void took(void *data, const struct requests_item *item, uint32_t thread, bool is_flush,
                 uint64_t start_ns, uint64_t end_ns)
{
    struct store *store = data;
    enum profile_direction direction = item->writes ? PROFILE_WRITE : PROFILE_READ;
    if (is_flush) {
        store_flush(store, FILE_NUMBER, end_ns, end_ns - start_ns);
        return;
    }
    const struct profile_request request = {.start_ns = start_ns,
                                            .file = FILE_NUMBER,
                                            .handle = 1,
                                            .thread = thread + 1,
                                            .offset_bytes = item->offset_bytes,
                                            .n_bytes = item->n_bytes,
                                            .direction = direction};
    store_take(store, &request);
    store_took(store, direction, end_ns - start_ns);
}

static int work(void *context)
{
    struct job *job = context;
    return requests_run(&job->plan, &job->n_made, &job->err);
}

int load_replay_run(struct load_replay *replayed, struct session *session, struct err *err)
{
    static struct job job; /* a request that hangs goes on using it */
    const struct load_list *list = replayed->list;
    enum target_cold cold;
    int code = record_open(&replayed->recording, STORE_DEFAULT_BYTES, clock_now_ns(&session->clock), err);
    if (code == 0)
        code = target_drop_cache(&session->target, &cold, err);
    if (code < 0)
        return code;
    struct store *store = replayed->recording.store;
    const struct settings_profile *settings = &session->settings->profile;
    job.plan =
        (struct requests_plan){.target = &session->target,
                               .items = list->items,
                               .n = list->n,
                               .n_threads = list->depth,
                               .direct = list->direct,
                               .timed = replayed->timed,
                               .seed = session->seed,
                               .arena = &session->arena,
                               .clock = &session->clock,
                               .interrupted = &interrupt_signal,
                               .observer = {.begins = begins, .ends = ends, .took = took, .data = store}};
    store->start_ns = store->last_ns = clock_now_ns(&session->clock);
    flight_start(&store->flight, store->start_ns);
    if (settings->duration_ns > 0)
        job.plan.end_ns = store->start_ns + settings->duration_ns;
    code = worker_call(work, &job, &session->abandoned, err);
    if (code < 0 && code != -EINTR)
        return err_set(err, code, "%s", job.err.text);
    replayed->interrupted = code == -EINTR;
    replayed->n_made = job.n_made;
    replayed->recording.source = "replay";
    replayed->recording.knows_calls = replayed->recording.knows_flushes = true;
    replayed->recording.overhead_share = NAN;
    /* The requests' own flags are the descriptor's here. */
    if (list->direct)
        store->n_direct = bins_n(&store->sizes[PROFILE_READ]) + bins_n(&store->sizes[PROFILE_WRITE]);
    return 0;
}

void load_replay_close(struct load_replay *replayed)
{
    json_decref(replayed->profile);
    record_close(&replayed->recording);
}
