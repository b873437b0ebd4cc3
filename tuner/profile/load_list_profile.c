/* tuner/profile/load_list_profile: requests drawn so that their profile is the one given. Sequential ones go
 * on from each other, in each direction; random ones are drawn with the profile's skew; phases follow one
 * another. */
#include "bench/base/rng.h"
#include "models/profile/summary.h"
#include "tuner/base/json.h"
#include "tuner/profile/load_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR          512
#define MOST_RANKS      1000000
#define DIRECT_SHARE    0.5
#define LEAST_THETA     0.05
#define MOSTLY          0.9
#define MOST_WHOLE      1e18 /* larger numbers of a damaged profile are that, and as nanoseconds, too */
#define GROUP           16   /* requests of each thread that come together in time */
#define SPREAD_MULTIPLE 2654435761ULL /* a prime: the hottest places do not lie side by side */

struct sizes {
    uint64_t bytes[SUMMARY_MODES];
    double share[SUMMARY_MODES];
    size_t n;
    uint64_t usual;
};

struct drawing {
    struct load_list *list;
    size_t room; /* for requests in the list */
    struct rng rng;
    struct sizes sizes[2]; /* of reads, of writes */
    uint64_t alignment, cursor[2];
    uint64_t begin[2], end[2]; /* of what is read, and written, in sequence */
    uint64_t between;          /* writes from flush to flush; 0: none */
    uint64_t n_unflushed;
    double *ranks; /* sums of the ranks' weights; NULL: all places alike */
    size_t n_ranks;
};

static uint64_t whole(const json_t *object, const char *key)
{
    double value = json_read_number(object, key);
    return value > 0 ? (uint64_t)fmin(value, MOST_WHOLE) : 0;
}

static uint64_t ns_of(double seconds)
{
    return (uint64_t)fmin(1e9 * fmax(0, seconds), MOST_WHOLE);
}

static void read_sizes(struct sizes *sizes, const json_t *of)
{
    size_t i;
    json_t *mode;
    sizes->usual = whole(of, "p50");
    json_array_foreach(json_object_get(of, "modes"), i, mode)
    {
        if (sizes->n == SUMMARY_MODES)
            break;
        sizes->bytes[sizes->n] = whole(mode, "bytes");
        sizes->share[sizes->n++] = json_read_number(mode, "share");
    }
}

static uint64_t fit(const struct load_list *list, uint64_t bytes)
{
    if (list->direct)
        bytes = (bytes + SECTOR - 1) / SECTOR * SECTOR;
    bytes = bytes > 0 ? bytes : 1;
    bytes = bytes < REQUESTS_BYTES_MOST ? bytes : REQUESTS_BYTES_MOST;
    return bytes < list->span_bytes ? bytes : list->span_bytes;
}

static uint64_t draw_size(struct drawing *drawing, bool writes)
{
    const struct sizes *sizes = &drawing->sizes[writes];
    double at = rng_uniform(&drawing->rng);
    for (size_t i = 0; i < sizes->n; i++) {
        at -= sizes->share[i];
        if (at <= 0)
            return fit(drawing->list, sizes->bytes[i]);
    }
    return fit(drawing->list, sizes->usual);
}

static uint64_t draw_rank(struct drawing *drawing)
{
    double at = rng_uniform(&drawing->rng) * drawing->ranks[drawing->n_ranks - 1];
    size_t low = 0, high = drawing->n_ranks - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (drawing->ranks[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Places lie as far from each other as requests are aligned or long. */
static uint64_t draw_offset(struct drawing *drawing, uint64_t n_bytes)
{
    uint64_t span = drawing->list->span_bytes;
    uint64_t step = n_bytes % drawing->alignment == 0 ? n_bytes : drawing->alignment;
    uint64_t n_places = (span - n_bytes) / step + 1;
    if (drawing->ranks != NULL)
        return draw_rank(drawing) * SPREAD_MULTIPLE % n_places * step;
    return rng_next(&drawing->rng) % n_places * step;
}

static uint64_t go_on(struct drawing *drawing, bool writes, uint64_t n_bytes)
{
    uint64_t *cursor = &drawing->cursor[writes];
    if (*cursor < drawing->begin[writes] || *cursor + n_bytes > drawing->end[writes])
        *cursor = drawing->begin[writes] + n_bytes <= drawing->end[writes] ? drawing->begin[writes] : 0;
    uint64_t offset = *cursor;
    *cursor += n_bytes;
    return offset;
}

static enum summary_kind draw_kind(struct drawing *drawing, const double share[SUMMARY_N_KINDS])
{
    double total = 0, at;
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        total += share[i];
    at = rng_uniform(&drawing->rng) * total;
    for (int i = 0; i < SUMMARY_N_KINDS; i++) {
        at -= share[i];
        if (at <= 0)
            return (enum summary_kind)i;
    }
    return SUMMARY_RAND_WRITE;
}

static void draw_one(struct drawing *drawing, const double share[SUMMARY_N_KINDS], double at_s)
{
    struct load_list *list = drawing->list;
    enum summary_kind kind = draw_kind(drawing, share);
    bool writes = kind == SUMMARY_SEQ_WRITE || kind == SUMMARY_RAND_WRITE;
    bool is_random = kind == SUMMARY_RAND_READ || kind == SUMMARY_RAND_WRITE;
    struct requests_item *item = &list->items[list->n++];
    *item = (struct requests_item){
        .at_ns = ns_of(at_s), .n_bytes = (uint32_t)draw_size(drawing, writes), .writes = writes};
    item->offset_bytes =
        is_random ? draw_offset(drawing, item->n_bytes) : go_on(drawing, writes, item->n_bytes);
    drawing->n_unflushed += writes;
    item->flushes = writes && drawing->between > 0 && drawing->n_unflushed >= drawing->between;
    if (item->flushes)
        drawing->n_unflushed = 0;
    list->writes = list->writes || writes;
}

/* Of the whole, with names; or of a phase, in the same order. */
static void read_shares(const json_t *from, double share[SUMMARY_N_KINDS])
{
    static const char *const names[] = {"seq_read", "seq_write", "rand_read", "rand_write"};
    for (size_t i = 0; i < SUMMARY_N_KINDS; i++)
        share[i] = json_number_value(json_is_array(from) ? json_array_get(from, i)
                                                         : json_object_get(from, names[i]));
}

static void draw_phase(struct drawing *drawing, const json_t *shares, uint64_t n, double start_s,
                       double end_s)
{
    double share[SUMMARY_N_KINDS];
    read_shares(shares, share);
    /* Evenly spread they would hardly be in flight together. */
    uint64_t group = drawing->list->depth > 1 ? (uint64_t)GROUP * drawing->list->depth : 1;
    for (uint64_t i = 0; i < n && drawing->list->n < drawing->room; i++)
        draw_one(drawing, share, start_s + (end_s - start_s) * (double)(i - i % group) / (double)n);
}

static void draw_all(struct drawing *drawing, uint64_t n)
{
    struct load_list *list = drawing->list;
    const json_t *phases = json_object_get(list->profile, "phases");
    for (size_t i = 0; i < json_array_size(phases); i++) {
        const json_t *phase = json_array_get(phases, i);
        draw_phase(drawing, json_object_get(phase, "shares"), whole(phase, "requests"),
                   json_read_number(phase, "start_s"), json_read_number(phase, "end_s"));
    }
    if (list->n == 0)
        draw_phase(drawing, json_object_get(list->profile, "shares"), n, 0, list->seconds);
    list->n_left_out = n > list->n ? n - list->n : 0;
}

static void read_sync(struct drawing *drawing)
{
    const json_t *sync = json_object_get(drawing->list->profile, "sync");
    const char *kind = json_read_text(sync, "kind", "none");
    if (strcmp(kind, "each") == 0)
        drawing->between = 1;
    else if (strcmp(kind, "every") == 0)
        drawing->between = whole(sync, "requests_between_p50");
}

/* Without memory for it the places are drawn alike. */
static void read_skew(struct drawing *drawing)
{
    double theta = json_read_number(json_object_get(drawing->list->profile, "skew"), "zipf_theta");
    uint64_t n = drawing->list->span_bytes / drawing->alignment;
    if (!(theta > 0) || n < 2)
        return;
    drawing->n_ranks = n < MOST_RANKS ? n : MOST_RANKS;
    drawing->ranks = malloc(drawing->n_ranks * sizeof *drawing->ranks);
    double total = 0;
    for (size_t i = 0; i < drawing->n_ranks && drawing->ranks != NULL; i++)
        drawing->ranks[i] = total += pow((double)i + 1, -theta);
}

/* Random requests touch less than the file that they are spread over, some of it twice: as large a file that
 * what they touch is what the load touched. */
static uint64_t find_span(const struct drawing *drawing, double touched, double n, double most)
{
    double share[SUMMARY_N_KINDS], low = touched, high = fmin(most, 64 * touched);
    read_shares(json_object_get(drawing->list->profile, "shares"), share);
    double bytes = n * (share[SUMMARY_RAND_READ] * (double)drawing->sizes[0].usual +
                        share[SUMMARY_RAND_WRITE] * (double)drawing->sizes[1].usual);
    bool is_skewed =
        json_read_number(json_object_get(drawing->list->profile, "skew"), "zipf_theta") > LEAST_THETA;
    bool is_random = share[SUMMARY_RAND_READ] + share[SUMMARY_RAND_WRITE] >= MOSTLY;
    if (is_skewed || !is_random || bytes < touched)
        return (uint64_t)fmin(touched, most);
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(middle * -expm1(-bytes / middle) < touched ? &low : &high) = middle;
    }
    return (uint64_t)fmin(low, most);
}

/* A program that mostly copies reads one place and writes another. */
static void place_cursors(struct drawing *drawing)
{
    double share[SUMMARY_N_KINDS];
    uint64_t span = drawing->list->span_bytes;
    read_shares(json_object_get(drawing->list->profile, "shares"), share);
    double reads = share[SUMMARY_SEQ_READ] * (double)drawing->sizes[0].usual,
           writes = share[SUMMARY_SEQ_WRITE] * (double)drawing->sizes[1].usual;
    bool copies = share[SUMMARY_SEQ_READ] + share[SUMMARY_SEQ_WRITE] >= MOSTLY && reads > 0 && writes > 0;
    double place = copies ? (double)span * reads / (reads + writes) : 0;
    uint64_t border = (uint64_t)place;
    border -= border % drawing->alignment;
    drawing->end[0] = copies ? border : span;
    drawing->begin[1] = copies ? border : 0;
    drawing->end[1] = span;
}

static int prepare(struct drawing *drawing, uint64_t most_bytes, uint64_t n, struct err *err)
{
    struct load_list *list = drawing->list;
    const json_t *sizes = json_object_get(list->profile, "request_size");
    double depth = json_read_number(json_object_get(list->profile, "queue_depth"), "mean");
    read_sizes(&drawing->sizes[0], json_object_get(sizes, "read"));
    read_sizes(&drawing->sizes[1], json_object_get(sizes, "write"));
    drawing->alignment = whole(list->profile, "alignment_bytes");
    drawing->alignment = drawing->alignment > 0 ? drawing->alignment : 1;
    list->direct = json_read_number(list->profile, "direct_share") >= DIRECT_SHARE;
    list->depth = isfinite(depth) && depth > 1 ? (uint32_t)fmin(round(depth), REQUESTS_THREADS_MOST) : 1;
    list->seconds = fmax(0, json_read_number(list->profile, "seconds"));
    list->source = "fstune";
    uint64_t footprint = whole(list->profile, "footprint_bytes");
    list->span_bytes = find_span(drawing, (double)footprint, (double)n, (double)most_bytes);
    place_cursors(drawing);
    /* Whatever its phases say, and one more for a flush at the end. */
    drawing->room = n < LOAD_LIST_MOST ? n : LOAD_LIST_MOST;
    list->items = calloc(drawing->room + 1, sizeof *list->items);
    return list->items == NULL ? err_set(err, -ENOMEM, "no memory") : 0;
}

int load_list_from_profile(struct load_list *list, uint64_t most_bytes, uint64_t seed, struct err *err)
{
    struct drawing drawing = {.list = list};
    uint64_t n = whole(list->profile, "events");
    double share[SUMMARY_N_KINDS], sum = 0;
    if (n == 0 || whole(list->profile, "footprint_bytes") == 0)
        return err_set(err, -EINVAL, "it has no requests");
    read_shares(json_object_get(list->profile, "shares"), share);
    for (size_t i = 0; i < SUMMARY_N_KINDS; i++)
        sum += share[i];
    if (!(sum > 0))
        return err_set(err, -EINVAL, "it has no shares of reads and writes");
    int code = prepare(&drawing, most_bytes, n, err);
    if (code < 0)
        return code;
    rng_init(&drawing.rng, seed);
    read_sync(&drawing);
    read_skew(&drawing);
    draw_all(&drawing, n);
    const char *kind = json_read_text(json_object_get(list->profile, "sync"), "kind", "none");
    if (strcmp(kind, "end") == 0)
        list->items[list->n++] =
            (struct requests_item){.at_ns = ns_of(list->seconds), .writes = true, .flushes = true};
    free(drawing.ranks);
    return 0;
}
