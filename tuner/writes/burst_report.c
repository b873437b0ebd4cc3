/* Bursts in the answer. */
#include "tuner/writes/burst.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <math.h>

#define INDENT "             "

static const char *const class_words[BURST_N_CLASSES] = {"buffered", "direct"};

static enum burst_class class_of(const struct burst *burst, size_t setting)
{
    return burst->setting[setting].point.direct != 0 ? BURST_DIRECT : BURST_BUFFERED;
}

static json_t *json_figure(const struct burst *burst, size_t setting, bool durable)
{
    struct burst_figure figure = burst_figure(burst, setting, durable);
    return figure.n > 0 ? json_interval(figure.mean, figure.ci.low, figure.ci.high) : json_null();
}

static json_t *json_setting(const struct burst *burst, size_t i)
{
    if (i == BURST_NONE)
        return json_null();
    const struct burst_setting *setting = &burst->setting[i];
    size_t n = setting->n - setting->n_looks;
    json_t *object = json_point(&setting->point);
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "accepted_seconds", json_figure(burst, i, false));
    json_object_set_new(object, "durable_seconds", json_figure(burst, i, true));
    json_object_set_new(object, "bursts", json_integer((json_int_t)n));
    json_object_set_new(object, "preliminary", json_boolean(n < 5));
    json_object_set_new(object, "failed", json_boolean(setting->failed));
    json_object_set_new(object, "named_by_model", json_boolean(setting->by_model));
    json_object_set_new(object, "predicted_seconds", json_number(setting->predicted_s));
    return object;
}

static json_t *json_model(const struct burst *burst)
{
    char text[WRITE_ADVICE_LINE_SIZE];
    if (!burst->has_model || burst->modelled.request_bytes == 0)
        return json_null();
    write_advice_line(&burst->crossings, &burst->modelled, &burst->predicted, text, sizeof text);
    const double *seconds = burst->predicted.seconds;
    enum cawl_advice_way first = burst->crossings.first;
    return json_pack("{s:b, s:b, s:o, s:o, s:s, s:o}", "predicted", 1, "contradicted",
                     burst_contradicts(burst), "host", json_text(burst->settings->prediction.host),
                     "crossings", write_advice_crossings_json(&burst->crossings), "text", text, "seconds",
                     json_pack("{s:o, s:o}", cawl_advice_names[first], json_number(seconds[first]), "direct",
                               json_number(seconds[CAWL_ADVICE_DIRECT])));
}

static json_t *json_looks(const struct burst *burst)
{
    json_t *list = json_array();
    for (size_t i = 0; i < burst->n && list != NULL; i++) {
        const struct burst_setting *setting = &burst->setting[i];
        json_t *object = json_point(&setting->point);
        json_object_set_new(
            object, "accepted_seconds",
            json_number(setting->n_looks > 0 ? moments_of(setting->accepted_s, setting->n_looks).mean : NAN));
        json_object_set_new(object, "named_by_model", json_boolean(setting->by_model));
        json_object_set_new(object, "failed", json_boolean(setting->failed));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *make_document(const struct burst *burst)
{
    json_t *gain =
        burst->has_gain ? json_interval(burst->gain, burst->gain_ci.low, burst->gain_ci.high) : json_null();
    return json_pack("{s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o}", "bytes",
                     (json_int_t)burst->settings->burst.bytes, "interval_seconds",
                     json_number((double)burst->settings->burst.interval_ns / 1e9), "judged_by",
                     burst->by_durable ? "durable" : "accepted", "recommendation",
                     burst->best != BURST_NONE ? json_point(&burst->setting[burst->best].point) : json_null(),
                     "buffered", json_setting(burst, burst->chosen[BURST_BUFFERED]), "direct",
                     json_setting(burst, burst->chosen[BURST_DIRECT]), "gain", gain, "conclusive",
                     burst->conclusive, "interval_too_short", burst->falls_behind, "reason",
                     burst->why != NULL ? json_text(burst->why) : json_null(), "looks", json_looks(burst),
                     "model", json_model(burst));
}

static void add_document(json_t *object, const void *context)
{
    json_object_set_new(object, "burst", make_document(context));
}

static void print_figure(FILE *out, const struct burst *burst, size_t setting, bool durable)
{
    char mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    struct burst_figure figure = burst_figure(burst, setting, durable);
    fprintf(out, "%s in %s", durable ? "durable" : "accepted", text_short_duration(figure.mean * 1e9, mean));
    if (isfinite(figure.ci.low))
        fprintf(out, " (%g %% interval %s to %s)", burst->settings->runs.confidence_share * 100,
                text_short_duration(fmax(figure.ci.low, 0) * 1e9, low),
                text_short_duration(figure.ci.high * 1e9, high));
}

static void print_burst_setting(FILE *out, const struct burst *burst, size_t setting)
{
    char text[FACTORS_TEXT_SIZE];
    fprintf(out, "%s: ", factors_format(&burst->setting[setting].point, text));
    print_figure(out, burst, setting, false);
    fputs(",\n" INDENT, out);
    print_figure(out, burst, setting, true);
    fprintf(out, ", %zu bursts\n", burst_figure(burst, setting, false).n);
}

static void print_gain(FILE *out, const struct burst *burst)
{
    enum burst_class class = class_of(burst, burst->best);
    const char *other = class_words[class == BURST_DIRECT ? BURST_BUFFERED : BURST_DIRECT];
    const char *what = burst->by_durable ? "until it is durable" : "as the application sees it";
    if (!burst->has_gain)
        fprintf(out, INDENT "No %s setting could be measured beside it.\n", other);
    else
        fprintf(out, INDENT "%.2f times as fast as the best %s setting, %s (%g %% interval %.2f to %.2f)%s\n",
                burst->gain, other, what, burst->settings->runs.confidence_share * 100, burst->gain_ci.low,
                burst->gain_ci.high, burst->conclusive ? "" : ": this is not settled");
}

static void print_other(FILE *out, const struct burst *burst)
{
    size_t other =
        burst->chosen[class_of(burst, burst->best) == BURST_DIRECT ? BURST_BUFFERED : BURST_DIRECT];
    if (!burst->has_gain)
        return;
    fprintf(out, INDENT "The best %s setting is ", class_words[class_of(burst, other)]);
    print_burst_setting(out, burst, other);
}

static void print_model(FILE *out, const struct burst *burst)
{
    char text[WRITE_ADVICE_LINE_SIZE];
    if (!burst->has_model || burst->modelled.request_bytes == 0)
        return;
    write_advice_line(&burst->crossings, &burst->modelled, &burst->predicted, text, sizeof text);
    fprintf(out, INDENT "By the model, not measured: %s%s\n", text,
            burst_contradicts(burst) ? " - which the bursts contradict" : "");
}

static void print_lines(FILE *out, const void *context)
{
    const struct burst *burst = context;
    char bytes[UNITS_TEXT_SIZE], interval[UNITS_TEXT_SIZE];
    fprintf(out, "\nBursts       of %s", units_format_size(burst->settings->burst.bytes, bytes));
    if (burst->settings->burst.interval_ns > 0)
        fprintf(out, ", %s apart", units_format_duration(burst->settings->burst.interval_ns, interval));
    if (burst->best == BURST_NONE) {
        fprintf(out, ": no answer, %s\n", burst->why);
        return;
    }
    fputs(": use\n" INDENT, out);
    print_burst_setting(out, burst, burst->best);
    print_gain(out, burst);
    print_other(out, burst);
    if (burst->falls_behind)
        fputs(INDENT "The interval is too short to write a buffered burst back: sooner or later writers wait "
                     "for the device.\n",
              out);
    fputs(INDENT "For a steady load, the setting above.\n", out);
    print_model(out, burst);
}

struct answer_part burst_answer_part(const struct burst *burst)
{
    return (struct answer_part){.add = add_document, .print = print_lines, .context = burst};
}
