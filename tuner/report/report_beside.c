/* tuner/report/report_beside: the loads of --beside as text and as JSON. */
#include "tuner/report/report_beside.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <math.h>

/* NaN where there were no requests. */
static double quantile_ns(const struct beside_figures *figures, double share)
{
    uint64_t ns;
    return histogram_quantile_ns(&figures->latency, share, &ns) == 0 ? (double)ns : NAN;
}

static double rate_bps(const struct beside_figures *figures)
{
    return figures->seconds > 0 ? (double)(figures->bytes_read + figures->bytes_written) / figures->seconds
                                : NAN;
}

static json_t *json_figures(const struct beside_figures *figures)
{
    double mean_ns = NAN;
    if (figures == NULL)
        return json_null();
    histogram_mean_ns(&figures->latency, &mean_ns);
    return json_pack("{s:o, s:o, s:{s:o, s:o, s:o, s:o}, s:I}", "seconds", json_number(figures->seconds),
                     "throughput_bps", json_number(rate_bps(figures)), "latency_ns", "mean",
                     json_number(mean_ns), "p50", json_number(quantile_ns(figures, 0.5)), "p99",
                     json_number(quantile_ns(figures, 0.99)), "max",
                     json_number(figures->latency.n > 0 ? (double)figures->latency.max_ns : NAN), "requests",
                     (json_int_t)figures->latency.n);
}

static const struct beside_figures *during_of(const struct report_beside *beside, size_t load)
{
    const struct beside_figures *during =
        beside->point != NULL ? beside_loads_during(beside->session, beside->point) : NULL;
    return during != NULL ? &during[load] : NULL;
}

static const char *verdict_of(const struct beside_figures *during, uint64_t limit_ns)
{
    static const char *const names[] = {
        [BESIDE_UNSETTLED] = "not settled", [BESIDE_WITHIN] = "kept", [BESIDE_OVER] = "not kept"};
    return names[during != NULL ? beside_loads_judge(&during->latency, limit_ns) : BESIDE_UNSETTLED];
}

json_t *report_beside_json(const struct report_beside *beside)
{
    const struct beside_loads *loads = beside->session->beside;
    const struct settings_beside *asked = &beside->session->settings->beside;
    json_t *list = json_array();
    for (size_t i = 0; loads != NULL && i < loads->beside.n && list != NULL; i++) {
        const struct beside_load *load = &loads->beside.load[i];
        json_array_append_new(
            list,
            json_pack(
                "{s:o, s:s, s:I, s:i, s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "load", json_text(asked->text[i]),
                "pattern", load->pattern.name, "request_size", (json_int_t)load->request_bytes, "queue_depth",
                (int)load->queue_depth, "direct", load->direct ? 1 : 0, "sync",
                load->sync_each ? "each" : "none", "rate_bps",
                load->rate_bps > 0 ? json_integer((json_int_t)load->rate_bps) : json_null(), "limit_p99_ns",
                asked->limit_p99_ns > 0 ? json_integer((json_int_t)asked->limit_p99_ns) : json_null(),
                "limit_is",
                asked->limit_p99_ns > 0 ? json_string(verdict_of(during_of(beside, i), asked->limit_p99_ns))
                                        : json_null(),
                "before", json_figures(&loads->before[i]), "during", json_figures(during_of(beside, i))));
    }
    return list;
}

static void print_figures(FILE *out, const struct beside_figures *figures, const char *when)
{
    char rate[UNITS_TEXT_SIZE], p99[UNITS_TEXT_SIZE] = "unknown";
    double p99_ns = quantile_ns(figures, 0.99);
    if (isfinite(p99_ns))
        units_format_duration((uint64_t)p99_ns, p99);
    fprintf(out, "%s, p99 %s %s", units_format_rate(rate_bps(figures), rate), p99, when);
}

void report_beside_text(FILE *out, const struct report_beside *beside)
{
    const struct beside_loads *loads = beside->session->beside;
    const struct settings_beside *asked = &beside->session->settings->beside;
    char text[SETTINGS_BESIDE_SIZE], limit[UNITS_TEXT_SIZE];
    for (size_t i = 0; loads != NULL && i < loads->beside.n; i++) {
        const struct beside_figures *during = during_of(beside, i);
        fprintf(out, "%-12s %s: ", i == 0 ? "Beside" : "", text_printable(asked->text[i], text, sizeof text));
        print_figures(out, &loads->before[i], "alone");
        if (during != NULL) {
            fputs("; ", out);
            print_figures(out, during, "beside this setting");
        }
        if (asked->limit_p99_ns > 0)
            fprintf(out, " (limit %s: %s)", units_format_duration(asked->limit_p99_ns, limit),
                    verdict_of(during, asked->limit_p99_ns));
        fputc('\n', out);
    }
}

static void add_document(json_t *object, const void *context)
{
    json_object_set_new(object, "beside", report_beside_json(context));
}

static void print_lines(FILE *out, const void *context)
{
    report_beside_text(out, context);
}

struct answer_part report_beside_part(const struct report_beside *beside)
{
    return (struct answer_part){.add = add_document, .print = print_lines, .context = beside};
}
