/* models/profile/marks: a table by the hash of the name, and totals that are shared out at each mark. */
#include "models/profile/marks.h"

#include "models/profile/cells.h"

#include <string.h>

static uint64_t key_of(const char *name, size_t length)
{
    uint64_t key = length;
    for (size_t i = 0; i < length; i++)
        key = cells_hash(key ^ (unsigned char)name[i]);
    return key != 0 ? key : 1;
}

/* Everyone who uses a slot writes its name first, whoever made it: all write the same, and none depends on
 * another that may be late or killed. */
static void write_name(struct mark *mark, const char *name, size_t length)
{
    struct mark as = {0};
    memcpy(as.name, name, length);
    for (size_t i = 0; i < sizeof as.name_words / sizeof as.name_words[0]; i++)
        __atomic_store_n(&mark->name_words[i], as.name_words[i], __ATOMIC_RELAXED);
}

/* The number of the key's slot; n_slots: there is no room. */
static uint64_t find(const struct marks *marks, struct mark *slots, uint64_t key)
{
    uint64_t n = marks->n_slots;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = (key + i) % n, is_free = 0;
        if (__atomic_compare_exchange_n(&slots[at].key, &is_free, key, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED) ||
            is_free == key)
            return at;
    }
    return n;
}

/* What the total has gained since it was told last, by whoever it was. */
static uint64_t gain(uint64_t *told, uint64_t total)
{
    uint64_t before = cells_read(told);
    while (before < total &&
           !__atomic_compare_exchange_n(told, &before, total, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return before < total ? total - before : 0;
}

/* The first moment stands there as one that no other one is before. Who sees the count sees the name. */
static void note_time(struct mark *mark, uint64_t now_ns)
{
    uint64_t first_ns = cells_read(&mark->first_ns);
    while ((first_ns == 0 || now_ns < first_ns) &&
           !__atomic_compare_exchange_n(&mark->first_ns, &first_ns, now_ns, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    cells_raise(&mark->last_ns, now_ns);
    __atomic_fetch_add(&mark->count, 1, __ATOMIC_RELEASE);
}

uint64_t marks_take(struct marks *marks, struct mark *slots, const char *name, uint64_t now_ns,
                    const uint64_t totals[MARKS_N_TOTALS])
{
    size_t length = strnlen(name, MARKS_NAME_SIZE - 1);
    uint64_t key = key_of(name, length), at = find(marks, slots, key), n = marks->n_slots;
    uint64_t before = __atomic_exchange_n(&marks->current, at < n ? at + 1 : 0, __ATOMIC_ACQ_REL);
    for (size_t i = 0; i < MARKS_N_TOTALS; i++) {
        uint64_t n_gained = gain(&marks->told[i], totals[i]);
        if (n_gained > 0 && before > 0 && before <= n)
            cells_add(&slots[before - 1].since[i], n_gained);
    }
    if (at == n) {
        cells_add(&marks->n_lost, 1);
        return 0;
    }
    write_name(&slots[at], name, length);
    note_time(&slots[at], now_ns);
    return key;
}

/* Others may change it meanwhile. */
static struct mark read_mark(const struct mark *slot)
{
    union {
        struct mark mark;
        uint64_t words[sizeof(struct mark) / sizeof(uint64_t)];
    } as;
    const uint64_t *words = (const uint64_t *)(const void *)slot;
    uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < sizeof as.words / sizeof as.words[0]; i++)
        as.words[i] = cells_read(&words[i]);
    as.mark.count = count;
    as.mark.name[MARKS_NAME_SIZE - 1] = '\0';
    return as.mark;
}

bool marks_find_name(const struct marks *marks, const struct mark *slots, uint64_t key,
                     char ret_name[MARKS_NAME_SIZE])
{
    for (uint64_t i = 0; i < marks->n_slots; i++) {
        const struct mark mark = read_mark(&slots[i]);
        if (mark.key != key || mark.name[0] == '\0')
            continue;
        memcpy(ret_name, mark.name, MARKS_NAME_SIZE);
        return true;
    }
    return false;
}

size_t marks_list(const struct marks *marks, const struct mark *slots, const uint64_t totals[MARKS_N_TOTALS],
                  struct mark ret[MARKS_MOST])
{
    size_t n = 0;
    uint64_t current = cells_read(&marks->current);
    for (uint64_t i = 0; i < marks->n_slots && i < MARKS_MOST; i++) {
        struct mark mark = read_mark(&slots[i]);
        for (size_t k = 0; k < MARKS_N_TOTALS && current == i + 1; k++) {
            uint64_t told = cells_read(&marks->told[k]);
            mark.since[k] += totals[k] > told ? totals[k] - told : 0;
        }
        size_t at = n;
        if (mark.count == 0)
            continue;
        for (; at > 0 && ret[at - 1].first_ns > mark.first_ns; at--)
            ret[at] = ret[at - 1];
        ret[at] = mark;
        n++;
    }
    return n;
}

void marks_forget(struct marks *marks, struct mark *slots, const uint64_t totals[MARKS_N_TOTALS])
{
    cells_clear(&marks->current, sizeof marks->current);
    cells_clear(&marks->n_lost, sizeof marks->n_lost);
    for (size_t i = 0; i < MARKS_N_TOTALS; i++)
        cells_raise(&marks->told[i], totals[i]);
    for (uint64_t i = 0; i < marks->n_slots; i++)
        cells_clear(&slots[i].count, offsetof(struct mark, name) - offsetof(struct mark, count));
}
