/* tuner/report/report_rates: one line, or one object, for each offered rate. */
#include "tuner/report/report_rates.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <math.h>

/* Quantiles need so many requests beyond them. */
#define LEAST_BEYOND 5

/* NaN where the requests are too few to tell. */
static double quantile_ns(const struct rates_step *step, double share)
{
    uint64_t ns;
    if ((double)step->latency.n * (1 - share) < LEAST_BEYOND ||
        histogram_quantile_ns(&step->latency, share, &ns) < 0)
        return NAN;
    return (double)ns;
}

/* Of the runs that know it. */
static struct interval p99_range(const struct rates_step *step)
{
    struct interval range = {NAN, NAN};
    for (size_t i = 0; i < step->achieved_bps.n; i++) {
        range.low = fmin(range.low, step->p99_ns[i]);
        range.high = fmax(range.high, step->p99_ns[i]);
    }
    return range;
}

static json_t *json_step(const struct rates_step *step, const struct rates *rates, double confidence,
                         double offered_iops)
{
    struct interval ci = student_interval(step->achieved_bps, confidence), range = p99_range(step);
    double mean_ns = NAN, max_ns = step->latency.n > 0 ? (double)step->latency.max_ns : NAN;
    bool known = step->achieved_bps.n > 0;
    histogram_mean_ns(&step->latency, &mean_ns);
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:b, s:I, s:I, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}}", "offered_bps",
        json_number(step->offered_bps), "offered_iops", json_number(offered_iops), "offered_share",
        json_number(rates->full_bps > 0 ? step->offered_bps / rates->full_bps : NAN), "process",
        rates->random ? "poisson" : "linear", "achieved_bps",
        json_interval(known ? step->achieved_bps.mean : NAN, ci.low, ci.high), "kept", rates_is_kept(step),
        "replays", (json_int_t)step->achieved_bps.n, "requests", (json_int_t)step->latency.n, "latency_ns",
        "mean", json_number(mean_ns), "p50", json_number(quantile_ns(step, 0.5)), "p90",
        json_number(quantile_ns(step, 0.9)), "p99", json_number(quantile_ns(step, 0.99)), "p999",
        json_number(quantile_ns(step, 0.999)), "max", json_number(max_ns), "p99_lowest_run",
        json_number(range.low), "p99_highest_run", json_number(range.high));
}

json_t *report_rates_json(const struct rates *rates, const struct session *session, const struct point *point)
{
    json_t *list = json_array();
    for (size_t i = 0; rates->step != NULL && i < rates->n; i++) {
        const struct rates_step *step = &rates->step[i];
        json_array_append_new(list, json_step(step, rates, session->settings->runs.confidence_share,
                                              rates_iops(session, point, step->offered_bps)));
    }
    return list;
}

static void print_step(FILE *out, const struct rates_step *step, const struct rates *rates)
{
    char offered[UNITS_TEXT_SIZE], achieved[UNITS_TEXT_SIZE], text[6][UNITS_TEXT_SIZE];
    struct interval range = p99_range(step);
    double mean_ns = NAN;
    histogram_mean_ns(&step->latency, &mean_ns);
    fprintf(out, "  %10s %5.0f %% %11s  %8s  %8s  %8s  %8s  %8s to %-8s%s\n",
            text_short_rate(step->offered_bps, offered),
            rates->full_bps > 0 ? 100 * step->offered_bps / rates->full_bps : NAN,
            text_short_rate(step->achieved_bps.n > 0 ? step->achieved_bps.mean : NAN, achieved),
            text_short_duration(mean_ns, text[0]), text_short_duration(quantile_ns(step, 0.5), text[1]),
            text_short_duration(quantile_ns(step, 0.99), text[2]),
            text_short_duration(quantile_ns(step, 0.999), text[3]), text_short_duration(range.low, text[4]),
            text_short_duration(range.high, text[5]), rates_is_kept(step) ? "" : "  not served");
}

void report_rates_text(FILE *out, const struct rates *rates, const struct session *session,
                       const struct point *point)
{
    size_t n_kept = 0, n_served = 0;
    char rate[UNITS_TEXT_SIZE];
    if (rates->step == NULL)
        return;
    fprintf(out,
            "\nOffered rates (requests begin at %s times, whatever has come back; latency counts from "
            "then)\n  %10s %7s %11s  %8s  %8s  %8s  %8s  %s\n",
            rates->random ? "random" : "fixed", "offered", "of full", "achieved", "mean", "p50", "p99",
            "p99.9", "p99 of single runs");
    for (size_t i = 0; i < rates->n; i++) {
        print_step(out, &rates->step[i], rates);
        n_served += rates_is_kept(&rates->step[i]);
        n_kept += rates_is_kept(&rates->step[i]) && n_kept == i;
    }
    if (n_kept < n_served)
        fprintf(out,
                "Serves       %zu of these, but not every lower one: the device was slower for a while\n",
                n_served);
    else if (n_kept > 0)
        fprintf(out, "Serves       up to %s (%.0f requests/s) of these\n",
                text_short_rate(rates->step[n_kept - 1].offered_bps, rate),
                rates_iops(session, point, rates->step[n_kept - 1].offered_bps));
    else
        fputs("Serves       none of these\n", out);
}
