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

/* The number of the name's slot; n_slots: there is no room. Whoever makes it writes the name, before
 * the name is counted. */
static uint64_t find(const struct marks *marks, struct mark *slots, const char *name)
{
    size_t length = strnlen(name, MARKS_NAME_SIZE - 1);
    uint64_t key = key_of(name, length), n = marks->n_slots;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = (key + i) % n, is_free = 0;
        if (__atomic_compare_exchange_n(&slots[at].key, &is_free, key, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            memcpy(slots[at].name, name, length);
            return at;
        }
        if (is_free == key)
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

/* The first moment stands there as one that no other one is before. */
static void note_time(struct mark *mark, uint64_t now_ns)
{
    uint64_t first_ns = cells_read(&mark->first_ns);
    while ((first_ns == 0 || now_ns < first_ns) &&
           !__atomic_compare_exchange_n(&mark->first_ns, &first_ns, now_ns, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    cells_raise(&mark->last_ns, now_ns);
    cells_add(&mark->count, 1);
}

uint64_t marks_take(struct marks *marks, struct mark *slots, const char *name, uint64_t now_ns,
                    const uint64_t totals[MARKS_N_TOTALS])
{
    uint64_t at = find(marks, slots, name), n = marks->n_slots;
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
    note_time(&slots[at], now_ns);
    return cells_read(&slots[at].key);
}

bool marks_find_name(const struct marks *marks, const struct mark *slots, uint64_t key,
                     char ret_name[MARKS_NAME_SIZE])
{
    for (uint64_t i = 0; i < marks->n_slots; i++) {
        if (cells_read(&slots[i].key) != key || cells_read(&slots[i].count) == 0)
            continue;
        memcpy(ret_name, slots[i].name, MARKS_NAME_SIZE);
        ret_name[MARKS_NAME_SIZE - 1] = '\0';
        return true;
    }
    return false;
}

size_t marks_list(const struct marks *marks, const struct mark *slots, const uint64_t totals[MARKS_N_TOTALS],
                  struct mark ret[MARKS_MOST])
{
    size_t n = 0;
    for (uint64_t i = 0; i < marks->n_slots && i < MARKS_MOST; i++) {
        struct mark mark = slots[i];
        mark.name[MARKS_NAME_SIZE - 1] = '\0';
        for (size_t k = 0; k < MARKS_N_TOTALS && marks->current == i + 1; k++)
            mark.since[k] += totals[k] > marks->told[k] ? totals[k] - marks->told[k] : 0;
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

void marks_forget(struct marks *marks, struct mark *slots)
{
    cells_clear(&marks->current, sizeof *marks - offsetof(struct marks, current));
    cells_clear(slots, (size_t)marks->n_slots * sizeof *slots);
}
