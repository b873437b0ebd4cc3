/* tuner/profile/profile_phases: each phase with a pattern of its own, and what was done after each mark of
 * the program. */
#include "tuner/profile/profile_document.h"

#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "models/profile/phases.h"
#include "models/profile/summary.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/profile/profile_advice.h"

#include <math.h>

/* The phase's shares and its pattern's name; "" where it has no reads and writes. Returns their number. */
static uint64_t describe(const struct phase *phase, double share[SUMMARY_N_KINDS],
                         char name[PATTERN_NAME_SIZE])
{
    static const enum timeline_kind kinds[] = {[SUMMARY_SEQ_READ] = TIMELINE_SEQ_READ,
                                               [SUMMARY_SEQ_WRITE] = TIMELINE_SEQ_WRITE,
                                               [SUMMARY_RAND_READ] = TIMELINE_RAND_READ,
                                               [SUMMARY_RAND_WRITE] = TIMELINE_RAND_WRITE};
    uint64_t n = 0;
    unsigned percent[SUMMARY_N_KINDS];
    name[0] = '\0';
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        n += phase->n[kinds[i]];
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        share[i] = n > 0 ? (double)phase->n[kinds[i]] / (double)n : 0;
    if (summary_percent(share, percent))
        profile_advice_name(percent, name);
    return n;
}

static json_t *phase_json(const struct phase *phase)
{
    double share[SUMMARY_N_KINDS];
    char name[PATTERN_NAME_SIZE];
    uint64_t n = describe(phase, share, name);
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "start_s", json_number(phase->start_s), "end_s",
                     json_number(phase->end_s), "requests", (json_int_t)n, "flushes",
                     (json_int_t)phase->n[TIMELINE_FLUSH], "bytes", (json_int_t)phase->n_bytes, "pattern",
                     name[0] != '\0' ? json_string(name) : json_null(), "shares",
                     json_numbers(share, SUMMARY_N_KINDS));
}

json_t *profile_phases_json(const struct store *store)
{
    struct phase phases[PHASES_MOST];
    size_t n = phases_find(store, phases);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, phase_json(&phases[i]));
    return array;
}

void profile_phases_print(FILE *out, const struct store *store)
{
    struct phase phases[PHASES_MOST];
    size_t n = phases_find(store, phases);
    if (n < 2)
        return;
    fputs("\nPhases\n", out);
    for (size_t i = 0; i < n; i++) {
        double share[SUMMARY_N_KINDS];
        char name[PATTERN_NAME_SIZE], count[UNITS_TEXT_SIZE];
        uint64_t n_requests = describe(&phases[i], share, name);
        fprintf(out, "  %8.3f s to %8.3f s  %s: %s requests\n", phases[i].start_s, phases[i].end_s,
                name[0] != '\0' ? name : "flushes alone", units_format_count((double)n_requests, count));
    }
}

static double since_start_s(const struct store *store, uint64_t time_ns)
{
    return time_ns > store->start_ns ? (double)(time_ns - store->start_ns) / 1e9 : 0;
}

/* Shares of the four kinds; false where no request was made. A run's first requests may be known for
 * sequential only behind the next mark. */
static bool share_out(const struct mark *mark, double share[SUMMARY_N_KINDS])
{
    const uint64_t *since = mark->since;
    double n = (double)since[MARKS_READS] + (double)since[MARKS_WRITES];
    uint64_t n_seq_reads = since[MARKS_SEQ_READS], n_seq_writes = since[MARKS_SEQ_WRITES];
    if (n_seq_reads > since[MARKS_READS])
        n_seq_reads = since[MARKS_READS];
    if (n_seq_writes > since[MARKS_WRITES])
        n_seq_writes = since[MARKS_WRITES];
    const uint64_t count[SUMMARY_N_KINDS] = {[SUMMARY_SEQ_READ] = n_seq_reads,
                                             [SUMMARY_SEQ_WRITE] = n_seq_writes,
                                             [SUMMARY_RAND_READ] = since[MARKS_READS] - n_seq_reads,
                                             [SUMMARY_RAND_WRITE] = since[MARKS_WRITES] - n_seq_writes};
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        share[i] = n > 0 ? (double)count[i] / n : 0;
    return n > 0;
}

static json_t *mark_json(const struct store *store, const struct mark *mark)
{
    double share[SUMMARY_N_KINDS];
    const uint64_t *since = mark->since;
    share_out(mark, share);
    return json_pack(
        "{s:o, s:I, s:o, s:o, s:o, s:{s:I, s:I, s:I}, s:{s:I, s:I}, s:o}", "name", json_text(mark->name),
        "count", (json_int_t)mark->count, "first_s", json_number(since_start_s(store, mark->first_ns)),
        "last_s", json_number(since_start_s(store, mark->last_ns)), "seconds",
        json_number((double)since[MARKS_NS] / 1e9), "requests", "read", (json_int_t)since[MARKS_READS],
        "write", (json_int_t)since[MARKS_WRITES], "flush", (json_int_t)since[MARKS_FLUSHES], "bytes", "read",
        (json_int_t)since[MARKS_READ_BYTES], "write", (json_int_t)since[MARKS_WRITTEN_BYTES], "shares",
        json_numbers(share, SUMMARY_N_KINDS));
}

json_t *profile_phases_marks_json(const struct store *store)
{
    struct mark marks[MARKS_MOST];
    size_t n = store_list_marks(store, marks);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, mark_json(store, &marks[i]));
    return array;
}

static void print_mark(FILE *out, const struct store *store, const struct mark *mark)
{
    double share[SUMMARY_N_KINDS];
    char name[4 * MARKS_NAME_SIZE], pattern[PATTERN_NAME_SIZE] = "", n[UNITS_TEXT_SIZE],
                                    times[UNITS_TEXT_SIZE];
    char read[UNITS_TEXT_SIZE], written[UNITS_TEXT_SIZE];
    unsigned percent[SUMMARY_N_KINDS];
    const uint64_t *since = mark->since;
    text_printable(mark->name, name, sizeof name);
    if (share_out(mark, share) && summary_percent(share, percent))
        profile_advice_name(percent, pattern);
    fprintf(out, "  %-32s at %.3f s", name, since_start_s(store, mark->first_ns));
    if (mark->count > 1)
        fprintf(out, " to %.3f s, %s times", since_start_s(store, mark->last_ns),
                units_format_count((double)mark->count, times));
    fprintf(out, ": %.3f s, ", (double)since[MARKS_NS] / 1e9);
    if (pattern[0] == '\0') {
        fprintf(out, "no requests%s\n", since[MARKS_FLUSHES] > 0 ? " but flushes" : "");
        return;
    }
    fprintf(out, "%s: %s requests, %s read, %s written\n", pattern,
            units_format_count((double)(since[MARKS_READS] + since[MARKS_WRITES]), n),
            units_format_bytes(since[MARKS_READ_BYTES], read),
            units_format_bytes(since[MARKS_WRITTEN_BYTES], written));
}

void profile_phases_print_marks(FILE *out, const struct store *store)
{
    struct mark marks[MARKS_MOST];
    size_t n = store_list_marks(store, marks);
    if (n == 0 && store->marks.n_lost == 0)
        return;
    fputs("\nMarks, and what was done until the next one\n", out);
    for (size_t i = 0; i < n; i++)
        print_mark(out, store, &marks[i]);
    if (store->marks.n_lost > 0)
        fprintf(out, "  and %llu without a place\n", (unsigned long long)store->marks.n_lost);
}

#define MOST_INTERVALS 64 /* that are told */

/* How many of the timeline's intervals are told as one, and how many that makes. */
static size_t join_intervals(const struct store *store, size_t *ret_n)
{
    uint64_t used = (store_spent_ns(store) >> store->timeline.log2_ns) + 1;
    if (used > store->timeline.n_intervals)
        used = store->timeline.n_intervals;
    size_t joined = (size_t)((used + MOST_INTERVALS - 1) / MOST_INTERVALS);
    *ret_n = (size_t)((used + joined - 1) / joined);
    return joined;
}

/* kind: TIMELINE_N_KINDS for the bytes. */
static json_t *intervals_json(const struct store *store, int kind)
{
    const struct timeline_interval *intervals = store_intervals(store);
    json_t *array = json_array();
    size_t n, joined = join_intervals(store, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (size_t k = i * joined; k < (i + 1) * joined && k < store->timeline.n_intervals; k++)
            sum += kind == TIMELINE_N_KINDS ? intervals[k].n_bytes : intervals[k].n[kind];
        json_array_append_new(array, json_integer((json_int_t)sum));
    }
    return array;
}

json_t *profile_phases_over_time_json(const struct store *store)
{
    static const char *const names[] = {
        [TIMELINE_SEQ_READ] = "seq_read",   [TIMELINE_SEQ_WRITE] = "seq_write",
        [TIMELINE_RAND_READ] = "rand_read", [TIMELINE_RAND_WRITE] = "rand_write",
        [TIMELINE_FLUSH] = "flushes",       [TIMELINE_N_KINDS] = "bytes"};
    size_t n, joined = join_intervals(store, &n);
    double interval_s = (double)joined * ldexp(1e-9, (int)store->timeline.log2_ns);
    json_t *object = json_pack("{s:o}", "interval_s", json_number(interval_s));
    for (int kind = 0; kind <= TIMELINE_N_KINDS; kind++)
        json_object_set_new(object, names[kind], intervals_json(store, kind));
    return object;
}
