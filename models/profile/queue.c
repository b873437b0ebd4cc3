/* models/profile/queue: a ring of slots, each with the number of the event that may use it (after Vyukov's
 * bounded queue). */
#include "models/profile/queue.h"

#include "models/profile/cells.h"

#include <errno.h>

#define MAGIC       0x3165756575717066ULL
#define LEAST_SLOTS 64U
#define MOST_TRIES  64U
#define PATIENCE_NS 200000000ULL /* a writer needs some 20 ns */
#define N_WORDS     (sizeof(struct queue_event) / sizeof(uint64_t))

_Static_assert(sizeof(struct queue_event) % sizeof(uint64_t) == 0, "the sum takes whole words");

static size_t n_slots_of(size_t n_bytes)
{
    size_t room = n_bytes > sizeof(struct queue) ? n_bytes - sizeof(struct queue) : 0, n = LEAST_SLOTS;
    while (n * 2 * sizeof(struct queue_slot) <= room)
        n *= 2;
    return n * sizeof(struct queue_slot) <= room ? n : 0;
}

int queue_init(struct queue *queue, size_t n_bytes)
{
    size_t n = n_slots_of(n_bytes);
    if (n == 0)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        queue->slots[i].turn = i;
    queue->n_slots = n;
    queue->magic = MAGIC;
    return 0;
}

bool queue_is_sound(const struct queue *queue, size_t n_bytes)
{
    size_t n = n_slots_of(n_bytes);
    return n > 0 && queue->magic == MAGIC && queue->n_slots == n;
}

static uint64_t sum_of(const struct queue_event *event, uint64_t number)
{
    union {
        struct queue_event event;
        uint64_t words[N_WORDS];
    } as = {.event = *event};
    uint64_t sum = number;
    for (size_t i = 0; i < N_WORDS; i++)
        sum = (sum << 9 | sum >> 55) ^ as.words[i];
    return sum;
}

/* A slot that this writer alone has now, and its number. NULL: there is none. */
static struct queue_slot *claim(struct queue *queue, uint64_t *ret_number)
{
    uint64_t number = cells_read(&queue->next);
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        struct queue_slot *slot = &queue->slots[number & (queue->n_slots - 1)];
        int64_t ahead = (int64_t)(__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) - number);
        if (ahead < 0)
            return NULL;
        *ret_number = number;
        if (ahead == 0 && cells_swap(&queue->next, number, number + 1))
            return slot;
        number = cells_read(&queue->next);
    }
    return NULL;
}

/* The reader had it last, on another processor. */
void queue_expect(const struct queue *queue)
{
    const struct queue_slot *slot = &queue->slots[cells_read(&queue->next) & (queue->n_slots - 1)];
    __builtin_prefetch(slot, 1);
    __builtin_prefetch((const char *)(slot + 1) - 1, 1);
}

void queue_put(struct queue *queue, const struct queue_event *event)
{
    uint64_t number;
    if (__atomic_load_n(&queue->is_paused, __ATOMIC_RELAXED) != 0)
        return;
    struct queue_slot *slot = claim(queue, &number);
    if (slot == NULL) {
        cells_add(&queue->n_lost, 1);
        return;
    }
    slot->event = *event;
    slot->sum = sum_of(event, number);
    /* Where the reader did not wait for it, it has counted it. */
    cells_swap(&slot->turn, number, number + 1);
}

/* The writer of the next event has not ended it. True: it was given up. */
static bool give_up(struct queue_slot *slot, struct queue_reader *reader, uint64_t now_ns)
{
    if (reader->waits_since_ns == 0)
        reader->waits_since_ns = now_ns;
    if (now_ns - reader->waits_since_ns < PATIENCE_NS ||
        !cells_swap(&slot->turn, reader->next, reader->next + reader->n_slots))
        return false;
    reader->waits_since_ns = 0;
    reader->next++;
    reader->n_lost++;
    return true;
}

bool queue_get(struct queue *queue, struct queue_reader *reader, uint64_t now_ns, struct queue_event *ret)
{
    for (size_t i = 0; i < reader->n_slots; i++) {
        struct queue_slot *slot = &queue->slots[reader->next & (reader->n_slots - 1)];
        uint64_t turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);
        if (turn != reader->next + 1 && cells_read(&queue->next) == reader->next)
            return false;
        if (turn != reader->next + 1) {
            if (!give_up(slot, reader, now_ns))
                return false;
            continue;
        }
        *ret = slot->event;
        bool is_whole = slot->sum == sum_of(ret, reader->next);
        __atomic_store_n(&slot->turn, reader->next + reader->n_slots, __ATOMIC_RELEASE);
        reader->waits_since_ns = 0;
        reader->next++;
        if (is_whole)
            return true;
        reader->n_lost++;
    }
    return false;
}

uint64_t queue_lost(const struct queue *queue, const struct queue_reader *reader)
{
    return cells_read(&queue->n_lost) + reader->n_lost;
}
