/* The advice about writes as text, JSON (fstune/write-advice/1) and picture. */
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"
#include "tuner/writes/write_advice.h"

#include <math.h>

static double rate_of(const struct write_advice *advice, double seconds)
{
    return (double)advice->burst.bytes / seconds;
}

static void print_load(FILE *out, const struct write_advice *advice)
{
    const struct cawl_advice_burst *burst = &advice->burst;
    char total[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE], delay[UNITS_TEXT_SIZE];
    fprintf(out, "A burst of %s in %s requests of %s", units_format_bytes(burst->bytes, total),
            burst->random ? "random" : "sequential", units_format_size(burst->request_bytes, size));
    if (burst->delay_s > 0)
        fprintf(out, ", %s of computing before each",
                units_format_duration(advice->settings->prediction.delay_ns, delay));
    if (burst->interval_s > 0)
        fprintf(out, ", again and again %s after the last one",
                units_format_duration(advice->settings->burst.interval_ns, delay));
    fputc('\n', out);
}

static void print_way(FILE *out, const struct write_advice *advice, enum cawl_advice_way way)
{
    char time[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    double seconds = advice->cost.seconds[way];
    fprintf(out, "  %-40s %10s %12s   %s", write_advice_words[way], text_short_duration(seconds * 1e9, time),
            text_short_rate(rate_of(advice, seconds), rate), way == CAWL_ADVICE_BUFFERED ? "no" : "yes");
    if (advice->has_untouched && way <= CAWL_ADVICE_FLUSHED)
        fprintf(out, "      %s in memory never touched before",
                text_short_duration(advice->untouched.seconds[way] * 1e9, time));
    fputc('\n', out);
}

static void print_crossings(FILE *out, const struct write_advice *advice)
{
    char text[WRITE_ADVICE_LINE_SIZE];
    for (size_t i = 0; i < 2; i++) {
        write_advice_line(&advice->crossings[i], &advice->burst, &advice->cost, text, sizeof text);
        fprintf(out, "%s %s\n", i == 0 ? "\nAccepted    " : "Durable     ", text);
    }
}

static void print_cache(FILE *out, const struct write_advice *advice)
{
    char bytes[UNITS_TEXT_SIZE];
    if (isfinite(advice->free_run_bytes))
        fprintf(out, "Page cache   a burst of up to %s into an idle page cache meets no writeback\n",
                units_format_bytes((uint64_t)advice->free_run_bytes, bytes));
    else
        fprintf(out, "Page cache   no burst meets writeback at this pace\n");
    if (advice->cost.piles_up)
        fprintf(out,
                "Interval     too short for the device: buffered bursts pile up, and writers come to wait "
                "for it\n");
}

void write_advice_text(FILE *out, const struct write_advice *advice)
{
    const struct host_file *host = advice->host;
    char path[256], system[128];
    fprintf(out, "Predicted by a model, not measured; from %s",
            text_printable(advice->settings->prediction.host, path, sizeof path));
    if (host->path[0] != '\0')
        fprintf(out, ": %s", text_printable(host->path, path, sizeof path));
    if (host->file_system[0] != '\0')
        fprintf(out, ", %s", text_printable(host->file_system, system, sizeof system));
    fputs("\n\n", out);
    print_load(out, advice);
    fprintf(out, "\n  %-40s %10s %12s   %s\n", "Time in writes", "total", "rate", "durable then");
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
        print_way(out, advice, (enum cawl_advice_way)way);
    print_crossings(out, advice);
    print_cache(out, advice);
    fputs("\nfstune recommend --burst measures it.\n", out);
}

static json_t *json_seconds(const struct cawl_advice_cost *cost)
{
    json_t *object = json_object();
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS && object != NULL; way++)
        json_object_set_new(object, cawl_advice_names[way], json_number(cost->seconds[way]));
    return object;
}

static json_t *json_modes(const struct write_advice *advice)
{
    json_t *list = json_array();
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS && list != NULL; way++) {
        double seconds = advice->cost.seconds[way], untouched = advice->untouched.seconds[way];
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:b, s:o}", "mode", cawl_advice_names[way],
                                              "seconds", json_number(seconds), "bytes_per_s",
                                              json_number(rate_of(advice, seconds)), "durable",
                                              way != CAWL_ADVICE_BUFFERED, "seconds_first_touch",
                                              advice->has_untouched ? json_number(untouched) : json_null()));
    }
    return list;
}

json_t *write_advice_crossings_json(const struct write_advice_crossings *crossings)
{
    const char *first = cawl_advice_names[crossings->first], *second = cawl_advice_names[CAWL_ADVICE_DIRECT];
    json_t *list = json_array(), *clear = json_array();
    for (size_t k = 0; k < crossings->n && list != NULL; k++) {
        bool below = crossings->at[k].first_below;
        json_array_append_new(
            list, json_pack("{s:o, s:s, s:s}", "bytes", json_number(round(crossings->at[k].bytes)),
                            "faster_below", below ? first : second, "faster_above", below ? second : first));
    }
    for (size_t k = 0; k < crossings->n_clear && clear != NULL; k++)
        json_array_append_new(clear,
                              json_pack("{s:o, s:b}", "bytes", json_number(round(crossings->clear[k].bytes)),
                                        "clear_below", crossings->clear[k].first_below));
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "first", first, "second", second, "crossings", list,
                     "clear_lead", json_number(WRITE_ADVICE_CLEAR_LEAD), "clear", clear);
}

static json_t *json_curve(const struct write_advice *advice)
{
    json_t *list = json_array();
    for (size_t i = 0; i < advice->n_points && list != NULL; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "bytes", json_number(advice->bytes[i]), "seconds",
                                              json_seconds(&advice->curve[i])));
    return list;
}

/* The fastest way among those that end with the data accepted, or durable. */
static const char *fastest(const struct write_advice *advice, bool durable)
{
    enum cawl_advice_way best = CAWL_ADVICE_DIRECT;
    const double *seconds = advice->cost.seconds;
    for (unsigned way = durable ? CAWL_ADVICE_FLUSHED : CAWL_ADVICE_BUFFERED; way < CAWL_ADVICE_N_WAYS; way++)
        best = seconds[way] < seconds[best] ? (enum cawl_advice_way)way : best;
    return cawl_advice_names[best];
}

json_t *write_advice_json(const struct write_advice *advice)
{
    const struct cawl_advice_burst *burst = &advice->burst;
    const struct host_file *host = advice->host;
    return json_pack(
        "{s:s, s:s, s:b, s:b, s:{s:o, s:o, s:o}, s:{s:I, s:I, s:o, s:o, s:b}, s:o, s:{s:s, s:s}, s:b, s:o, "
        "s:[o, o], s:{s:o, s:o}, s:o}",
        "schema", "fstune/write-advice/1", "version", FSTUNE_VERSION, "predicted", 1, "measured", 0, "host",
        "file", json_text(advice->settings->prediction.host), "path", json_text(host->path), "file_system",
        json_text(host->file_system), "load", "total", (json_int_t)burst->bytes, "request_size",
        (json_int_t)burst->request_bytes, "delay_s", json_number(burst->delay_s), "interval_s",
        json_number(burst->interval_s), "random", burst->random, "modes", json_modes(advice), "fastest",
        "accepted", fastest(advice, false), "durable", fastest(advice, true), "piles_up",
        advice->cost.piles_up, "free_run_bytes", json_number(advice->free_run_bytes), "crossings",
        write_advice_crossings_json(&advice->crossings[0]),
        write_advice_crossings_json(&advice->crossings[1]), "crossings_range", "low",
        json_number(advice->low_bytes), "high", json_number(advice->high_bytes), "curve", json_curve(advice));
}

static double rate_at(const struct write_advice *advice, size_t i, size_t way)
{
    return advice->bytes[i] / advice->curve[i].seconds[way];
}

static double fastest_of(const struct write_advice *advice)
{
    double most = 0;
    for (size_t i = 0; i < advice->n_points; i++) {
        for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
            most = rate_at(advice, i, way) > most ? rate_at(advice, i, way) : most;
    }
    return most;
}

static void write_blocks(FILE *script, const struct write_advice *advice)
{
    fputs("$curve << EOD\n", script);
    for (size_t i = 0; i < advice->n_points; i++) {
        fprintf(script, "%.17g", advice->bytes[i]);
        for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
            plot_script_number(script, rate_at(advice, i, way));
        fputc('\n', script);
    }
    fputs("EOD\n$asked << EOD\n", script);
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++) {
        double bytes = (double)advice->burst.bytes;
        fprintf(script, "%.17g", bytes);
        plot_script_number(script, bytes / advice->cost.seconds[way]);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

/* Where, without an exponent, which gnuplot would not read from a word, and the way that crosses, counted
 * from 1. */
static void write_crossings(FILE *script, const struct write_advice *advice)
{
    size_t n = 0;
    fputs("$crossings << EOD\n", script);
    for (size_t i = 0; i < 2; i++) {
        const struct write_advice_crossings *crossings = &advice->crossings[i];
        for (size_t k = 0; k < crossings->n; k++)
            fprintf(script, "%.3f %d\n", crossings->at[k].bytes, (int)crossings->first + 1);
        n += crossings->n;
    }
    fprintf(script, "EOD\nn_crossings = %zu\n", n);
}

int write_advice_draw(FILE *script, const struct plot_request *request, const void *context, struct err *err)
{
    const struct write_advice *advice = context;
    static const struct plot_data nothing;
    char size[UNITS_TEXT_SIZE], detail[128];
    snprintf(detail, sizeof detail, "requests of %s; dotted: where another way takes over",
             units_format_size(advice->burst.request_bytes, size));
    plot_script_begin(script, request, &nothing, "Writing a burst: predicted by a model, not measured",
                      detail);
    fprintf(script, "top = %.6g\nlow = %.17g\nhigh = %.17g\nn_ways = %d\nsync_way = %d\n", fastest_of(advice),
            advice->low_bytes, advice->high_bytes, CAWL_ADVICE_N_WAYS, CAWL_ADVICE_SYNC + 1);
    plot_script_begin_array(script, "ways", CAWL_ADVICE_N_WAYS);
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
        plot_script_item(script, way, write_advice_words[way], 64, false);
    plot_script_end_array(script);
    write_crossings(script, advice);
    write_blocks(script, advice);
    fputs(plot_assets_head, script);
    fputs(plot_assets_advice, script);
    (void)err;
    return 0;
}
