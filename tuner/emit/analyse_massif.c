/* tuner/emit/analyse_massif: memory, and bytes over sockets, over time in the words of valgrind's massif. */
#include "tuner/emit/analyse.h"
#include "tuner/emit/analyse_symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define FUNCTION_SIZE 128
#define N_SLOTS       16384U /* a power of two, of places */
#define N_PROBES      64U
#define N_SNAPSHOTS   72U
#define DETAIL_EVERY  10U
#define LEAST_SHARE   0.01
#define NS_PER_MS     1000000U

/* Where memory was allocated; slot 0 is for all that found none. */
struct place {
    uint64_t object, address, bytes, peak_bytes;
    bool is_used;
    char function[FUNCTION_SIZE]; /* ""; not looked for yet */
};

struct massif {
    FILE *out;
    struct events *events;
    int64_t run_id;
    enum events_kind kind;
    struct place places[N_SLOTS], *sorted[N_SLOTS];
    uint64_t n_rows, end_ns, peak_ns, next_ns;
    unsigned n_printed;
    bool has_peak, is_peak_printed;
    struct err err; /* why a name could not be read, the first time */
};

static struct place *find(struct massif *massif, const struct events_row *row)
{
    uint64_t hash = (row->object ^ row->offset_bytes * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL >> 32;
    for (uint64_t i = 0; i < N_PROBES; i++) {
        struct place *place = &massif->places[1 + (hash + i) % (N_SLOTS - 1)];
        if (!place->is_used)
            *place = (struct place){.object = row->object, .address = row->offset_bytes, .is_used = true};
        if (place->object == row->object && place->address == row->offset_bytes)
            return place;
    }
    return &massif->places[0];
}

static int check(const struct events_row *row, struct err *err)
{
    return row->n_bytes > EVENTS_FILE_BYTES
               ? err_set(err, -EBADMSG, "it holds an event that makes no sense; restore a copy")
               : 0;
}

/* Of the network a thread and a direction are a place. */
static struct events_row placed(const struct events_row *row)
{
    struct events_row place = *row;
    if (row->kind == EVENTS_NETWORK) {
        place.object = row->process;
        place.offset_bytes = (uint64_t)row->thread << 2 | (row->flags & 3);
    }
    return place;
}

/* Memory is what a place holds, a row of the network what has come since the one before. */
static void set_bytes(const struct massif *massif, uint64_t *bytes, uint64_t n_bytes)
{
    *bytes = massif->kind == EVENTS_NETWORK ? *bytes + n_bytes : n_bytes;
}

/* How long it takes, and what the peak is made of; of the network, where only more comes, that is the end. */
static int look(void *data, const struct events_row *row, struct err *err)
{
    struct massif *massif = data;
    if (row->kind != massif->kind)
        return 0;
    massif->n_rows++;
    massif->end_ns = row->time_ns > massif->end_ns ? row->time_ns : massif->end_ns;
    if (massif->kind == EVENTS_MEMORY && (row->flags & EVENTS_AT_PEAK) == 0)
        return check(row, err);
    const struct events_row place = placed(row);
    massif->peak_ns = row->time_ns;
    massif->has_peak = true;
    set_bytes(massif, &find(massif, &place)->peak_bytes, row->n_bytes);
    return check(row, err);
}

/* These characters would begin a comment or another line. */
static void make_plain(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        if (*at == '#' || (unsigned char)*at < ' ')
            *at = '?';
    }
}

/* Of a program or a library. */
static void name_of(struct massif *massif, uint64_t object, char name[SETTINGS_TEXT_SIZE])
{
    struct err err = {0};
    if (events_name_of(massif->events, massif->run_id, object, name, SETTINGS_TEXT_SIZE, &err) < 0 &&
        massif->err.code == 0)
        massif->err = err;
    make_plain(name);
    if (name[0] == '\0')
        snprintf(name, SETTINGS_TEXT_SIZE, "???");
}

/* The address behind a call may be the next function's. */
static void find_function(struct massif *massif, struct place *place)
{
    char name[SETTINGS_TEXT_SIZE];
    if (place->function[0] != '\0')
        return;
    snprintf(place->function, sizeof place->function, "???");
    if (massif->kind == EVENTS_NETWORK) {
        snprintf(place->function, sizeof place->function, "thread %" PRIu64 " of process %" PRIu64 " %s",
                 place->address >> 2, place->object,
                 (place->address & 3) == EVENTS_OUT ? "sends" : "receives");
        return;
    }
    name_of(massif, place->object, name);
    analyse_symbol(name, place->address - 1, place->function, sizeof place->function);
    make_plain(place->function);
}

static uint64_t held_by(const struct place *place, bool at_peak)
{
    return at_peak ? place->peak_bytes : place->bytes;
}

static int most_first(const void *a, const void *b)
{
    const struct place *left = *(struct place *const *)a, *right = *(struct place *const *)b;
    return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static int most_at_peak_first(const void *a, const void *b)
{
    const struct place *left = *(struct place *const *)a, *right = *(struct place *const *)b;
    return (left->peak_bytes < right->peak_bytes) - (left->peak_bytes > right->peak_bytes);
}

static uint64_t sum(const struct massif *massif, bool at_peak)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < N_SLOTS; i++)
        bytes += held_by(&massif->places[i], at_peak);
    return bytes;
}

/* Places of less than a hundredth stand in one line. */
static void print_tree(struct massif *massif, uint64_t all, bool at_peak)
{
    char name[SETTINGS_TEXT_SIZE] = "sockets";
    size_t n = 0, n_large = 0;
    uint64_t small = all;
    for (size_t i = 0; i < N_SLOTS; i++) {
        if (held_by(&massif->places[i], at_peak) > 0)
            massif->sorted[n++] = &massif->places[i];
    }
    qsort(massif->sorted, n, sizeof massif->sorted[0], at_peak ? most_at_peak_first : most_first);
    while (n_large < n && (double)held_by(massif->sorted[n_large], at_peak) >= LEAST_SHARE * (double)all)
        small -= held_by(massif->sorted[n_large++], at_peak);
    fprintf(massif->out, "n%zu: %" PRIu64 " (%s)%s\n", n_large + (n > n_large), all,
            massif->kind == EVENTS_NETWORK ? "sockets" : "heap allocation functions",
            massif->kind == EVENTS_NETWORK ? " bytes sent and received"
                                           : " malloc/new/new[], --alloc-fns, etc.");
    for (size_t i = 0; i < n_large; i++) {
        struct place *place = massif->sorted[i];
        find_function(massif, place);
        if (massif->kind == EVENTS_MEMORY)
            name_of(massif, place->object, name);
        fprintf(massif->out, " n0: %" PRIu64 " 0x%" PRIX64 ": %s (in %s)\n", held_by(place, at_peak),
                place->address, place->function, name);
    }
    if (n > n_large)
        fprintf(massif->out, " n0: %" PRIu64 " in %zu place%s, below massif's threshold (1.00%%)\n", small,
                n - n_large, n - n_large > 1 ? "s, all" : "");
}

static void print_snapshot(struct massif *massif, uint64_t time_ns, bool at_peak)
{
    uint64_t bytes = sum(massif, at_peak);
    bool is_detailed = at_peak || (massif->n_printed % DETAIL_EVERY == DETAIL_EVERY - 1 && bytes > 0);
    fprintf(massif->out,
            "#-----------\nsnapshot=%u\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64 "\n",
            massif->n_printed++, time_ns / NS_PER_MS, bytes);
    fprintf(massif->out, "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
            at_peak       ? "peak"
            : is_detailed ? "detailed"
                          : "empty");
    if (is_detailed)
        print_tree(massif, bytes, at_peak);
}

/* What stands between the last row and this time. */
static void print_until(struct massif *massif, uint64_t time_ns)
{
    uint64_t step_ns = massif->end_ns / N_SNAPSHOTS + 1;
    for (;;) {
        bool is_peak_due = massif->has_peak && !massif->is_peak_printed && massif->peak_ns <= time_ns;
        if (is_peak_due && massif->peak_ns <= massif->next_ns) {
            print_snapshot(massif, massif->peak_ns, true);
            massif->is_peak_printed = true;
        } else if (massif->next_ns <= time_ns) {
            print_snapshot(massif, massif->next_ns, false);
            massif->next_ns += step_ns;
        } else {
            return;
        }
    }
}

static int take(void *data, const struct events_row *row, struct err *err)
{
    struct massif *massif = data;
    (void)err;
    if (row->kind != massif->kind || (row->kind == EVENTS_MEMORY && (row->flags & EVENTS_AT_PEAK) != 0))
        return 0;
    const struct events_row place = placed(row);
    if (row->time_ns > 0)
        print_until(massif, row->time_ns - 1);
    set_bytes(massif, &find(massif, &place)->bytes, row->n_bytes);
    return 0;
}

static int print_all(struct massif *massif, struct events *events, const struct events_run *run,
                     struct err *err)
{
    char command[EVENTS_TEXT_SIZE];
    int code = events_each(events, run->id, look, massif, err);
    if (code == 0 && massif->n_rows == 0)
        code =
            err_set(err, -ENODATA, "%s",
                    massif->kind == EVENTS_NETWORK
                        ? "the recording has no bytes over sockets; fstune manager and fstune-agent keep them"
                        : "the recording has no memory: it was made without --memory, or killed too early; "
                          "fstune profile --memory --save-events FILE.db keeps it");
    if (code < 0)
        return code;
    snprintf(command, sizeof command, "%s", run->command);
    make_plain(command);
    fprintf(massif->out, "desc: recorded by fstune\ncmd: %s\ntime_unit: ms\n", command);
    code = events_each(events, run->id, take, massif, err);
    print_until(massif, massif->end_ns);
    print_snapshot(massif, massif->end_ns, false);
    return code == 0 && massif->err.code < 0 ? err_set(err, massif->err.code, "%s", massif->err.text) : code;
}

int analyse_print_massif(FILE *out, struct events *events, const struct events_run *run,
                         enum events_kind kind, struct err *err)
{
    struct massif *massif = calloc(1, sizeof *massif);
    if (massif == NULL)
        return err_set(err, -ENOMEM, "no memory");
    massif->out = out;
    massif->events = events;
    massif->run_id = run->id;
    massif->kind = kind;
    int code = print_all(massif, events, run, err);
    free(massif);
    return code;
}
