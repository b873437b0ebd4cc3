/* tuner/profile/load_replay_compare: how alike a load and its replay are, figure by figure. */
#include "bench/base/units.h"
#include "models/profile/summary.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/profile/load_replay.h"
#include "tuner/profile/profile_document.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum unit { SHARE, BYTES, SIZE, DEPTH, RATE, PLAIN, WORD };

/* A figure of a profile; a difference is kept within the bound: absolute of shares, else relative. */
static const struct figure {
    const char *path, *name;
    enum unit unit;
    double bound;
    bool is_of_time; /* judged where requests are made when their time has come */
    const char *of;  /* judged where there are enough of these */
} figures[] = {
    {"shares.seq_read", "read in sequence", SHARE, 0.02, false, NULL},
    {"shares.seq_write", "write in sequence", SHARE, 0.02, false, NULL},
    {"shares.rand_read", "read at random", SHARE, 0.02, false, NULL},
    {"shares.rand_write", "write at random", SHARE, 0.02, false, NULL},
    {"request_size.read.p50", "usual read", SIZE, 0, false, "read"},
    {"request_size.write.p50", "usual write", SIZE, 0, false, "write"},
    {"direct_share", "direct", SHARE, 0.02, false, NULL},
    {"queue_depth.mean", "in flight", DEPTH, 0.1, true, NULL},
    {"footprint_bytes", "touched", BYTES, 0.1, false, NULL},
    {"skew.zipf_theta", "skew (Zipf)", PLAIN, 0.1, false, NULL},
    {"sync.kind", "durable", WORD, 0, false, NULL},
    {"rate.mean_bps", "rate", RATE, 0.1, true, NULL},
};
#define N_FIGURES (sizeof figures / sizeof figures[0])

static const json_t *find(const json_t *document, const char *path)
{
    char key[32];
    while (document != NULL && path[0] != '\0') {
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        document = json_object_get(document, key);
        path += length + (path[length] == '.');
    }
    return document;
}

static bool has_enough(const struct figure *figure, const json_t *profile)
{
    if (figure->of == NULL)
        return true;
    double n = json_read_number(json_object_get(profile, "requests"), figure->of);
    return n >= SUMMARY_LEAST_SHARE * json_read_number(profile, "events");
}

/* -1: one of them does not know it, or it is not judged here. */
static int is_alike(const struct figure *figure, const json_t *load, const json_t *replay, bool timed)
{
    if (json_is_string(load) && json_is_string(replay))
        return strcmp(json_string_value(load), json_string_value(replay)) == 0;
    if (!json_is_number(load) || !json_is_number(replay) || (figure->is_of_time && !timed))
        return -1;
    double was = json_number_value(load), is = json_number_value(replay);
    double scale = figure->unit == SHARE || figure->unit == PLAIN ? 1 : fmax(fabs(was), 1e-9);
    return fabs(is - was) / scale <= figure->bound;
}

static json_t *or_null(const json_t *value)
{
    return value != NULL ? json_deep_copy(value) : json_null();
}

int load_replay_compare(struct load_replay *replayed, struct err *err)
{
    static struct summary summary;
    summary_make(&summary, replayed->recording.store);
    replayed->profile = profile_document_make(&replayed->recording, &summary);
    json_t *rows = json_array();
    replayed->is_alike = !replayed->interrupted;
    for (size_t i = 0; i < N_FIGURES; i++) {
        const json_t *load = find(replayed->list->profile, figures[i].path),
                     *replay = find(replayed->profile, figures[i].path);
        int alike = has_enough(&figures[i], replayed->list->profile)
                        ? is_alike(&figures[i], load, replay, replayed->timed)
                        : -1;
        replayed->is_alike = replayed->is_alike && alike != 0;
        json_array_append_new(rows, json_pack("{s:s, s:o, s:o, s:o}", "figure", figures[i].path, "load",
                                              or_null(load), "replay", or_null(replay), "alike",
                                              alike < 0 ? json_null() : json_boolean(alike)));
    }
    json_t *member =
        json_pack("{s:s, s:b, s:I, s:I, s:b, s:o}", "of", replayed->list->source, "timed", replayed->timed,
                  "requests_made", (json_int_t)replayed->n_made, "requests_left_out",
                  (json_int_t)(replayed->list->n_left_out + replayed->list->n - replayed->n_made), "alike",
                  replayed->is_alike, "figures", rows);
    if (replayed->profile == NULL || json_object_set_new(replayed->profile, "replay", member) < 0)
        return err_set(err, -ENOMEM, "no memory");
    return 0;
}

static const char *show(enum unit unit, const json_t *value, char *buffer)
{
    double number = json_number_value(value);
    if (unit == WORD && json_is_string(value))
        return json_string_value(value);
    if (!json_is_number(value))
        return "unknown";
    if (unit == SIZE)
        return units_format_size((uint64_t)number, buffer);
    if (unit == BYTES)
        return units_format_bytes((uint64_t)number, buffer);
    if (unit == RATE)
        return units_format_rate(number, buffer);
    snprintf(buffer, UNITS_TEXT_SIZE, unit == SHARE ? "%.1f %%" : "%.2f",
             unit == SHARE ? 100 * number : number);
    return buffer;
}

static bool is_worth_a_line(const struct figure *figure, const json_t *row)
{
    const json_t *load = json_object_get(row, "load"), *replay = json_object_get(row, "replay");
    bool is_nothing = json_is_number(load) && json_number_value(load) == 0 && json_number_value(replay) == 0;
    return !json_is_null(load) && !(is_nothing && figure->unit != DEPTH);
}

int load_replay_print(FILE *out, const struct load_replay *replayed, struct err *err)
{
    const json_t *member = json_object_get(replayed->profile, "replay"),
                 *rows = json_object_get(member, "figures");
    char load[UNITS_TEXT_SIZE], replay[UNITS_TEXT_SIZE], n[UNITS_TEXT_SIZE];
    fprintf(out, "Replay     %s requests in %.2f s, %s; the load took ",
            units_format_count((double)replayed->n_made, n), json_read_number(replayed->profile, "seconds"),
            replayed->timed ? "each in its time" : "as fast as possible");
    if (replayed->list->seconds > 0)
        fprintf(out, "%.2f s\n\n", replayed->list->seconds);
    else
        fputs("a time that it does not tell\n\n", out);
    fprintf(out, "%-20s %14s %14s\n", "", "load", "replay");
    for (size_t i = 0; i < N_FIGURES; i++) {
        const json_t *row = json_array_get(rows, i), *alike = json_object_get(row, "alike");
        if (!is_worth_a_line(&figures[i], row))
            continue;
        fprintf(out, "%-20s %14s %14s%s\n", figures[i].name,
                show(figures[i].unit, json_object_get(row, "load"), load),
                show(figures[i].unit, json_object_get(row, "replay"), replay),
                json_is_false(alike) ? "  differs" : "");
    }
    if (replayed->list->n_left_out > 0)
        fprintf(out, "\nLeft out   %zu requests behind the first %d\n", replayed->list->n_left_out,
                LOAD_LIST_MOST);
    fprintf(out, "\nAlike      %s\n",
            replayed->interrupted ? "unknown: it was interrupted"
            : replayed->is_alike  ? "yes, in all figures that both know"
                                  : "no, see above");
    return text_finish(out, err);
}
