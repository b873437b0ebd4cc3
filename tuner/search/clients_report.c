/* What each client reached. */
#include "tuner/search/clients_report.h"

#include "bench/base/units.h"
#include "models/statistics/student.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/search/clients.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static struct moments rates_of(const struct clients_report *report, uint32_t rank)
{
    const struct clients *clients = clients_of(report->session);
    struct moments rates = {0};
    for (size_t i = clients->n_runs; i > 0 && rates.n < report->n_runs; i--) {
        if (factors_equal(&clients->runs[i - 1].point, report->point))
            moments_add(&rates, clients->runs[i - 1].rates_bps[rank]);
    }
    return rates;
}

/* Of the runs that are told of. */
static uint32_t n_active_of(const struct clients_report *report)
{
    bool varied = report->point != NULL && report->point->clients > 0;
    return varied ? report->point->clients : report->session->clients->n;
}

static struct interval interval_of(const struct clients_report *report, struct moments rates)
{
    return student_interval(rates, report->session->settings->runs.confidence_share);
}

/* What all clients together say. */
struct fairness {
    double jain;
    uint32_t slowest;
    double slowest_share; /* of an equal part of the sum */
};

static struct fairness fairness_of(const struct clients_report *report)
{
    const uint32_t n = n_active_of(report);
    struct fairness fairness = {.jain = NAN, .slowest_share = NAN};
    double sum = 0, *means_bps = calloc(n, sizeof *means_bps);
    for (uint32_t i = 0; means_bps != NULL && i < n; i++) {
        means_bps[i] = rates_of(report, i).mean;
        sum += means_bps[i];
        if (means_bps[i] < means_bps[fairness.slowest])
            fairness.slowest = i;
    }
    if (means_bps != NULL && sum > 0) {
        fairness.jain = combine_jain(means_bps, n);
        fairness.slowest_share = means_bps[fairness.slowest] * n / sum;
    }
    free(means_bps);
    return fairness;
}

static bool is_about_clients(const struct clients_report *report)
{
    return report->session->clients != NULL;
}

static json_t *json_client(const struct clients_report *report, uint32_t rank)
{
    struct moments rates = rates_of(report, rank);
    struct interval interval = interval_of(report, rates);
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "rank", (json_int_t)rank, "host",
                     json_text(clients_of(report->session)->hello[rank].host), "throughput",
                     json_number(rates.n > 0 ? rates.mean : NAN), "ci_low", json_number(interval.low),
                     "ci_high", json_number(interval.high));
}

void clients_report_json(json_t *object, const struct clients_report *report)
{
    json_t *list = is_about_clients(report) ? json_array() : NULL;
    if (list == NULL)
        return;
    const struct clients *clients = clients_of(report->session);
    struct fairness fairness = fairness_of(report);
    for (uint32_t i = 0; i < n_active_of(report); i++)
        json_array_append_new(list, json_client(report, i));
    json_object_set_new(object, "clients", json_integer((json_int_t)clients->seen.n));
    json_object_set_new(object, "clients_file",
                        json_string(report->session->settings->file.shared ? "shared" : "own"));
    json_object_set_new(object, "clients_detail", list);
    json_object_set_new(object, "clients_fairness",
                        json_pack("{s:o, s:o, s:o}", "jain", json_number(fairness.jain), "slowest_rank",
                                  isfinite(fairness.jain) ? json_integer(fairness.slowest) : json_null(),
                                  "slowest_share", json_number(fairness.slowest_share)));
    json_object_set_new(object, "clock_error_ns", json_integer((json_int_t)clients->clock_error_ns));
}

static void print_client(FILE *out, const struct clients_report *report, uint32_t rank)
{
    char rate[UNITS_TEXT_SIZE], host[CLIENTS_HOST_SIZE];
    struct moments rates = rates_of(report, rank);
    struct interval interval = interval_of(report, rates);
    fprintf(out, "             %u on %s: %s", rank,
            text_printable(clients_of(report->session)->hello[rank].host, host, sizeof host),
            text_short_rate(rates.mean, rate));
    if (isfinite(interval.low))
        fprintf(out, " +- %.1f %%", 50 * (interval.high - interval.low) / rates.mean);
    fputc('\n', out);
}

void clients_report_text(FILE *out, const struct clients_report *report)
{
    char error[UNITS_TEXT_SIZE];
    if (!is_about_clients(report))
        return;
    const struct clients *clients = clients_of(report->session);
    struct fairness fairness = fairness_of(report);
    const uint32_t n_active = n_active_of(report);
    char of[32] = "";
    if (n_active != clients->seen.n)
        snprintf(of, sizeof of, " of %u", clients->seen.n);
    fprintf(out, "Clients      %u%s at once%s", n_active, of,
            report->session->settings->file.shared ? ", in one file" : "");
    if (isfinite(fairness.jain))
        fprintf(out,
                "; the slowest, client %u, has %.0f %% of an equal share; Jain's index %.3f; clocks agree "
                "within %s",
                fairness.slowest, 100 * fairness.slowest_share, fairness.jain,
                text_short_duration((double)clients->clock_error_ns, error));
    fputc('\n', out);
    for (uint32_t i = 0; i < n_active && isfinite(fairness.jain); i++)
        print_client(out, report, i);
}
