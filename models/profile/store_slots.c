/* models/profile/store_slots: tables that forget instead of growing. */
#include "models/profile/store_slots.h"

#include "models/profile/cells.h"

#include <string.h>

/* One for each set of slots: of the files, then of the streams. */
static uint32_t *lock_of(const struct store *store, uint64_t set)
{
    return (uint32_t *)(void *)((char *)(uintptr_t)store + store->locks_at + set * sizeof(uint64_t));
}

/* STORE_SLOTS_WAYS: it is not there. */
static size_t look_for_file(const struct store_file *set, uint64_t file)
{
    size_t i = 0;
    while (i < STORE_SLOTS_WAYS && cells_read(&set[i].key) != file)
        i++;
    return i;
}

/* A free slot, else the one unused for longest. Others may still use it for its last file. */
static struct store_file *make_file(struct store_file *set, uint64_t file, uint64_t now_ns)
{
    size_t oldest = 0;
    for (size_t i = 1; i < STORE_SLOTS_WAYS && cells_read(&set[oldest].key) != 0; i++) {
        if (cells_read(&set[i].key) == 0 || cells_read(&set[i].last_ns) < cells_read(&set[oldest].last_ns))
            oldest = i;
    }
    struct store_file *victim = &set[oldest];
    __atomic_store_n(&victim->key, 0, __ATOMIC_RELEASE);
    cells_clear(&victim->last_ns, sizeof *victim - offsetof(struct store_file, last_ns));
    cells_put(&victim->last_ns, now_ns);
    cells_put(&victim->last_end[PROFILE_READ], UINT64_MAX);
    cells_put(&victim->last_end[PROFILE_WRITE], UINT64_MAX);
    __atomic_store_n(&victim->key, file, __ATOMIC_RELEASE);
    return victim;
}

static uint64_t number_of_set(const struct store *store, uint64_t file)
{
    return cells_hash(file) & (store->n_files / STORE_SLOTS_WAYS - 1);
}

struct store_file *store_slots_file(struct store *store, uint64_t file, uint64_t now_ns)
{
    uint64_t set = number_of_set(store, file);
    struct store_file *slots = store_files(store) + set * STORE_SLOTS_WAYS;
    size_t at = look_for_file(slots, file);
    if (at < STORE_SLOTS_WAYS)
        return &slots[at];
    if (!cells_take(lock_of(store, set)))
        return NULL;
    at = look_for_file(slots, file);
    struct store_file *found = at < STORE_SLOTS_WAYS ? &slots[at] : make_file(slots, file, now_ns);
    cells_give(lock_of(store, set));
    return found;
}

/* The file's slot with its lock taken, so that it makes no room for another file meanwhile; NULL where it has
 * none, or the lock is busy. */
static struct store_file *hold_file(const struct store *store, uint64_t file)
{
    uint64_t set = number_of_set(store, file);
    struct store_file *slots = store_files(store) + set * STORE_SLOTS_WAYS;
    if (look_for_file(slots, file) == STORE_SLOTS_WAYS || !cells_take(lock_of(store, set)))
        return NULL;
    size_t at = look_for_file(slots, file);
    if (at < STORE_SLOTS_WAYS)
        return &slots[at];
    cells_give(lock_of(store, set));
    return NULL;
}

void store_name(struct store *store, uint64_t file, const char *name)
{
    store_slots_file(store, file, cells_read(&store->last_ns));
    struct store_file *slot = hold_file(store, file);
    size_t length = strlen(name), skipped = length < STORE_NAME_SIZE ? 0 : length - STORE_NAME_SIZE + 1;
    if (slot == NULL)
        return;
    /* Who finds the lock held reads it all the same. */
    for (size_t i = 0; slot->is_named == 0 && i < length - skipped; i++)
        __atomic_store_n(&slot->name[i], name[skipped + i], __ATOMIC_RELEASE);
    __atomic_store_n(&slot->is_named, 1, __ATOMIC_RELEASE);
    cells_give(lock_of(store, number_of_set(store, file)));
}

/* The lock is held for good where its holder was killed, perhaps while it wrote a name: one counts if it is
 * whole, and its slot the file's, before and after. */
static bool is_named_for(const struct store_file *slot, uint64_t file)
{
    return __atomic_load_n(&slot->is_named, __ATOMIC_ACQUIRE) != 0 &&
           __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) == file;
}

static bool find_unheld(const struct store *store, uint64_t file, char ret_name[STORE_NAME_SIZE])
{
    const struct store_file *slots = store_files(store) + number_of_set(store, file) * STORE_SLOTS_WAYS;
    size_t at = look_for_file(slots, file);
    if (at == STORE_SLOTS_WAYS || !is_named_for(&slots[at], file))
        return false;
    for (size_t i = 0; i < STORE_NAME_SIZE; i++)
        ret_name[i] = __atomic_load_n(&slots[at].name[i], __ATOMIC_ACQUIRE);
    ret_name[STORE_NAME_SIZE - 1] = '\0';
    return ret_name[0] != '\0' && is_named_for(&slots[at], file);
}

bool store_find_name(const struct store *store, uint64_t file, char ret_name[STORE_NAME_SIZE])
{
    const struct store_file *slot = hold_file(store, file);
    if (slot == NULL)
        return find_unheld(store, file, ret_name);
    bool has_one = slot->name[0] != '\0';
    if (has_one)
        memcpy(ret_name, slot->name, STORE_NAME_SIZE);
    cells_give(lock_of(store, number_of_set(store, file)));
    return has_one;
}

static uint64_t stream_key(uint64_t file, uint32_t handle, unsigned direction)
{
    uint64_t key = cells_hash(file ^ cells_hash((uint64_t)handle << 1 | direction));
    return key != 0 ? key : 1;
}

static struct stream *stream_set(const struct store *store, uint64_t key)
{
    uint64_t set = (key >> 8) & (store->n_streams / STORE_SLOTS_WAYS - 1);
    return store_streams(store) + set * STORE_SLOTS_WAYS;
}

static struct stream *look_for_stream(struct stream *set, uint64_t key)
{
    for (size_t i = 0; i < STORE_SLOTS_WAYS; i++) {
        if (cells_read(&set[i].key) == key)
            return &set[i];
    }
    return NULL;
}

/* Closed ones go first, of these the one with the fewest requests, which says least; then the one unused for
 * longest. */
static bool matters_less(const struct stream *a, const struct stream *b)
{
    bool is_closed = stream_is_closed(a);
    if (is_closed != stream_is_closed(b))
        return is_closed;
    return is_closed ? stream_n(a) < stream_n(b) : cells_read(&a->last_ns) < cells_read(&b->last_ns);
}

static void occupy(struct stream *slot, uint64_t key, const struct profile_request *request)
{
    stream_clear(slot);
    cells_put(&slot->file, request->file);
    slot->handle = request->handle;
    slot->thread = request->thread;
    __atomic_store_n(&slot->direction, request->direction, __ATOMIC_RELAXED);
    slot->first_ns = request->start_ns;
    cells_put(&slot->last_ns, request->start_ns);
    __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
}

static struct stream *make_stream(struct store *store, struct stream *set, uint64_t key,
                                  const struct profile_request *request)
{
    struct stream *victim = &set[0];
    for (size_t i = 1; i < STORE_SLOTS_WAYS && cells_read(&victim->key) != 0; i++) {
        if (cells_read(&set[i].key) == 0 || matters_less(&set[i], victim))
            victim = &set[i];
    }
    if (!cells_take(&victim->lock))
        return NULL;
    if (cells_read(&victim->key) != 0 && !stream_is_closed(victim))
        store_count(store, STORE_EVICTED, 1);
    occupy(victim, key, request);
    return victim;
}

/* Finds it and takes its lock; it may have made room for another one in between. */
static struct stream *take_stream(struct stream *set, uint64_t key, bool *ret_is_busy)
{
    struct stream *found = look_for_stream(set, key);
    if (found == NULL)
        return NULL;
    *ret_is_busy = !cells_take(&found->lock);
    if (*ret_is_busy)
        return NULL;
    if (cells_read(&found->key) == key)
        return found;
    cells_give(&found->lock);
    return NULL;
}

struct stream *store_slots_stream(struct store *store, const struct profile_request *request)
{
    uint64_t key = stream_key(request->file, request->handle, request->direction);
    struct stream *set = stream_set(store, key);
    bool is_busy = false;
    struct stream *stream = take_stream(set, key, &is_busy);
    if (stream != NULL)
        return stream;
    uint64_t number = (uint64_t)(set - store_streams(store)) / STORE_SLOTS_WAYS;
    uint32_t *lock = lock_of(store, store->n_files / STORE_SLOTS_WAYS + number);
    if (is_busy || !cells_take(lock)) {
        store_count(store, STORE_LOST_BUSY, 1);
        return NULL;
    }
    stream = take_stream(set, key, &is_busy);
    if (stream == NULL && !is_busy)
        stream = make_stream(store, set, key, request);
    cells_give(lock);
    store_count(store, STORE_LOST_STREAMS, stream == NULL);
    return stream;
}

void store_close(struct store *store, uint64_t file, uint32_t handle)
{
    for (unsigned direction = 0; direction < PROFILE_N_DIRECTIONS; direction++) {
        uint64_t key = stream_key(file, handle, direction);
        struct stream *found = look_for_stream(stream_set(store, key), key);
        if (found != NULL)
            __atomic_store_n(&found->is_closed, 1, __ATOMIC_RELAXED);
    }
}
