/* tuner/profile/collector_sink: what the wrappers see goes into the store. Part of libfstune-profile.so
 * alone. */
#include "bench/collector/sink.h"

#include "models/profile/cells.h"
#include "models/profile/events_row.h"
#include "models/profile/queue.h"
#include "models/profile/store.h"

#include <sys/single_threaded.h>

static struct store *store;
static struct store_process *process; /* NULL: it has no place */
static struct queue *queue;           /* behind the store; NULL: nobody asks for events one by one */
static uint32_t own_pid;

/* Nobody but this process changes the number while it runs: as long as it has one thread, none waits for the
 * other processors to hear of it. */
static void note_in_flight(uint64_t n)
{
    if (process == NULL)
        return;
    if (__libc_single_threaded)
        __atomic_store_n(&process->n_in_flight, cells_read(&process->n_in_flight) + n, __ATOMIC_RELAXED);
    else
        cells_add(&process->n_in_flight, n);
}

void sink_join(uint32_t pid)
{
    own_pid = pid;
    process = pid != 0 ? store_join(store, pid) : NULL;
}

bool sink_open(void *memory, size_t size)
{
    struct store *found = memory;
    size_t n_bytes = size >= sizeof *found && found->n_bytes < size ? (size_t)found->n_bytes : size;
    if (size < sizeof *found || !store_is_sound(found, n_bytes))
        return false;
    struct queue *behind = (void *)((char *)memory + n_bytes);
    if (n_bytes < size && queue_is_sound(behind, size - n_bytes))
        queue = behind;
    store = found;
    store_count(store, STORE_PROCESSES, 1);
    return true;
}

bool sink_is_on(void)
{
    return __atomic_load_n(&store->is_stopped, __ATOMIC_RELAXED) == 0;
}

bool sink_is_followed(void)
{
    return (__atomic_load_n(&store->is_stopped, __ATOMIC_RELAXED) & STORE_OVER) == 0;
}

bool sink_is_heard(void)
{
    return queue == NULL || __atomic_load_n(&queue->is_paused, __ATOMIC_RELAXED) == 0;
}

void sink_pause(uint64_t now_ns)
{
    store_pause(store, now_ns);
}

/* The manager may have stopped it as well; who spoke last is obeyed. */
void sink_go_on(uint64_t now_ns)
{
    store_go_on(store, now_ns);
    if (queue != NULL)
        __atomic_store_n(&queue->is_paused, 0, __ATOMIC_RELAXED);
}

/* The count tells it where there is no room in the queue, and start_ns when it was. */
void sink_renew(uint64_t now_ns)
{
    store_renew(store, now_ns);
    uint64_t number = __atomic_add_fetch(&store->n_renewed, 1, __ATOMIC_RELEASE);
    if (queue != NULL)
        queue_put(queue, &(struct queue_event){.kind = QUEUE_RENEWED, .start_ns = now_ns, .n_bytes = number});
}

void sink_mark(uint64_t now_ns, uint32_t thread, const char *name)
{
    uint64_t key = store_mark(store, name, now_ns);
    if (queue != NULL && key != 0)
        queue_put(
            queue,
            &(struct queue_event){
                .kind = EVENTS_MARK, .start_ns = now_ns, .file = key, .thread = thread, .process = own_pid});
}

uint32_t sink_new_handle(void)
{
    return store_new_handle(store);
}

void sink_expect(uint64_t file, uint64_t offset_bytes)
{
    store_expect(store, file, offset_bytes);
}

void sink_begin(uint64_t now_ns, uint32_t n)
{
    note_in_flight(n);
    store_begin(store, now_ns, n);
    if (queue != NULL)
        queue_expect(queue);
}

/* The depth is that of the program, but no time passes for it while it is not recorded. */
static void skip_pause(uint64_t now_ns)
{
    if (!sink_is_on())
        store_skip(store, now_ns);
}

void sink_end(uint64_t now_ns, uint32_t n)
{
    skip_pause(now_ns);
    store_end(store, now_ns, n);
    note_in_flight(0 - (uint64_t)n);
}

void sink_submit(uint64_t now_ns, uint32_t n)
{
    skip_pause(now_ns);
    sink_begin(now_ns, n);
}

void sink_reap(uint64_t now_ns, uint32_t n)
{
    sink_end(now_ns, n);
    if (queue != NULL && n > 0 && sink_is_on())
        queue_put(queue, &(struct queue_event){.kind = EVENTS_REAP, .start_ns = now_ns, .n_bytes = n});
}

static unsigned flags_of(unsigned seen)
{
    return ((seen & SINK_DIRECT) != 0 ? PROFILE_DIRECT : 0U) |
           ((seen & SINK_DURABLE) != 0 ? PROFILE_DURABLE : 0U) |
           ((seen & SINK_ASYNC) != 0 ? PROFILE_ASYNC : 0U) | ((seen & SINK_RINGED) != 0 ? PROFILE_RING : 0U);
}

void sink_take(const struct sink_request *seen)
{
    enum profile_direction direction = (seen->flags & SINK_WRITES) != 0 ? PROFILE_WRITE : PROFILE_READ;
    const struct profile_request request = {.start_ns = seen->start_ns,
                                            .file = seen->file,
                                            .handle = seen->handle,
                                            .thread = seen->thread,
                                            .offset_bytes = seen->offset_bytes,
                                            .n_bytes = seen->n_bytes,
                                            .direction = direction,
                                            .flags = flags_of(seen->flags)};
    store_take(store, &request);
    uint64_t spent_ns = seen->end_ns > seen->start_ns ? seen->end_ns - seen->start_ns : 0;
    if (spent_ns > 0)
        store_took(store, direction, spent_ns);
    if (queue != NULL)
        queue_put(queue, &(struct queue_event){.kind = direction == PROFILE_READ ? EVENTS_READ : EVENTS_WRITE,
                                               .start_ns = seen->start_ns,
                                               .duration_ns = spent_ns,
                                               .file = seen->file,
                                               .offset_bytes = seen->offset_bytes,
                                               .n_bytes = seen->n_bytes,
                                               .handle = seen->handle,
                                               .thread = seen->thread,
                                               .process = own_pid,
                                               .flags = (uint16_t)request.flags});
}

void sink_flush(uint64_t file, uint64_t start_ns, uint64_t end_ns)
{
    store_flush(store, file, end_ns, end_ns - start_ns);
    if (queue != NULL)
        queue_put(queue, &(struct queue_event){.kind = EVENTS_FLUSH,
                                               .start_ns = start_ns,
                                               .duration_ns = end_ns - start_ns,
                                               .file = file,
                                               .process = own_pid});
}

void sink_network(uint32_t thread, unsigned flags, uint64_t n_bytes)
{
    bool is_out = (flags & SINK_WRITES) != 0;
    if (queue != NULL)
        queue_put(queue, &(struct queue_event){.kind = EVENTS_NETWORK,
                                               .n_bytes = n_bytes,
                                               .thread = thread,
                                               .process = own_pid,
                                               .flags = is_out ? EVENTS_OUT : EVENTS_IN});
}

uint64_t sink_sample_ns(void)
{
    return queue != NULL ? queue->sample_ns : 0;
}

void sink_sample(uint64_t file, uint64_t offset_bytes, uint64_t n)
{
    queue_put(queue, &(struct queue_event){.kind = EVENTS_CPU,
                                           .file = file,
                                           .offset_bytes = offset_bytes,
                                           .n_bytes = n,
                                           .process = own_pid});
}

void sink_close(uint64_t file, uint32_t handle)
{
    store_close(store, file, handle);
}

void sink_name(uint64_t file, const char *path)
{
    store_name(store, file, path);
}

void sink_add(enum sink_count what, uint64_t n)
{
    static const enum store_count counts[] = {[SINK_EMPTY_READ] = STORE_EMPTY_READS,
                                              [SINK_FAILED] = STORE_FAILED,
                                              [SINK_OTHER] = STORE_OTHER_CALLS,
                                              [SINK_LATE] = STORE_LATE_BYTES,
                                              [SINK_MAP] = STORE_MAPS,
                                              [SINK_RING] = STORE_RINGS,
                                              [SINK_LOST] = STORE_LOST_REQUESTS,
                                              [SINK_RANGE_FLUSH] = STORE_RANGE_FLUSHES,
                                              [SINK_PASSED] = STORE_PASSED_BYTES};
    /* Of these two the bytes are counted beside how often. */
    if (what == SINK_OTHER)
        store_count(store, STORE_OTHER_BYTES, n);
    if (what == SINK_MAP)
        store_count(store, STORE_MAPPED_BYTES, n);
    store_count(store, counts[what], what == SINK_OTHER || what == SINK_MAP ? 1 : n);
}
