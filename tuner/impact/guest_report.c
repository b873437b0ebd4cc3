/* Rates inside a guest, from those of the search and the atomic tests of both machines. */
#include "tuner/impact/guest_report.h"

#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "models/impact/guest_rate.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/impact/atoms_figures.h"

#include <errno.h>
#include <math.h>

#define SMALL_BYTES 4096.0
#define LARGE_BYTES 65536.0

/* What is said of one setting. */
struct guest_row {
    struct atomic_cost added; /* to each request */
    double bps;
    struct interval interval;
};

/* The cost that the terms add up to; NaN where one of them is no number. */
static struct atomic_cost sum_of(const struct atomic_term *terms, size_t n)
{
    struct atomic_prediction sum;
    if (atomic_predict((struct atomic_cost){0}, terms, n, &sum) < 0)
        return (struct atomic_cost){NAN, {NAN, NAN}};
    return (struct atomic_cost){sum.vm_s, sum.interval};
}

static struct atomic_cost difference(struct atomic_cost guest, struct atomic_cost host)
{
    return sum_of(&(struct atomic_term){.count = 1, .guest = guest, .host = host}, 1);
}

/* 0; -EINVAL: one of the files lacks the test. */
static int take_difference(const struct atoms_figures *host, const struct atoms_figures *guest,
                           const char *name, struct atomic_cost *ret, struct err *err)
{
    const struct atoms_figure *here = atoms_figures_find_any(host, name),
                              *there = atoms_figures_find_any(guest, name);
    if (here == NULL || there == NULL)
        return err_set(err, -EINVAL,
                       "--%s-atoms: %s was not measured; run fstune atoms with --path on a disk with direct "
                       "I/O",
                       there == NULL ? "guest" : "host", name);
    *ret = difference(atoms_figures_cost(there), atoms_figures_cost(here));
    return 0;
}

static int take_differences(struct guest_costs *costs, const struct atoms_figures *host,
                            const struct atoms_figures *guest, struct err *err)
{
    const bool writes = pattern_writes(&costs->settings->workload.pattern);
    int result = take_difference(host, guest, "direct_read_4k", &costs->read_4k, err);
    if (result == 0)
        result = take_difference(host, guest, "direct_read_64k", &costs->read_64k, err);
    if (result == 0)
        result = take_difference(host, guest, "direct_read_4k_queued", &costs->queued_4k, err);
    if (result == 0 && writes)
        result = take_difference(host, guest, "direct_write_4k", &costs->write_4k, err);
    if (result == 0 && writes)
        result = take_difference(host, guest, "flush", &costs->flush, err);
    return result;
}

int guest_report_read(struct guest_costs *ret, const struct settings *settings, struct err *err)
{
    struct atoms_figures host = {0}, guest = {0};
    const struct settings_vm *asked = &settings->prediction.vm;
    *ret = (struct guest_costs){0};
    if (asked->host_atoms[0] == '\0' && asked->guest_atoms[0] == '\0')
        return 0;
    ret->settings = settings;
    int result = atoms_figures_read_both(asked, &host, &guest, err);
    if (result == 0)
        result = take_differences(ret, &host, &guest, err);
    atoms_figures_free(&host);
    atoms_figures_free(&guest);
    return result;
}

/* A request of `bytes`, on average of reads and writes. A larger write adds as much more as a larger read. */
static struct atomic_cost added_to(const struct guest_costs *costs, const struct point *point, double bytes)
{
    const unsigned *percent = costs->settings->workload.pattern.percent;
    const double writes = (percent[PATTERN_SEQ_WRITE] + percent[PATTERN_RAND_WRITE]) / 100.0;
    const double flushes = point->sync == SYNC_EACH ? writes : 0;
    const struct atomic_cost read =
        guest_rate_added(costs->read_4k, SMALL_BYTES, costs->read_64k, LARGE_BYTES, bytes);
    const struct atomic_term terms[] = {
        {.count = 1, .guest = read},
        {.count = writes, .guest = costs->write_4k, .host = costs->read_4k},
        {.count = flushes, .guest = costs->flush},
    };
    return sum_of(terms, sizeof terms / sizeof terms[0]);
}

static struct guest_row predict(const struct guest_costs *costs, const struct row *row)
{
    struct guest_row guest = {0};
    const unsigned in_flight = row->point.queue_depth * row->point.threads;
    const double bytes = row->mean_bps / row->iops;
    /* Requests of a queue do this at the same time. */
    const struct atomic_cost shared = difference(costs->read_4k, costs->queued_4k);
    guest.added = added_to(costs, &row->point, bytes);
    guest.bps = bytes * guest_rate(row->iops, in_flight, guest.added.s, shared.s);
    guest.interval.low = bytes * guest_rate(row->ci_low_bps / bytes, in_flight, guest.added.interval.high,
                                            shared.interval.low);
    guest.interval.high = bytes * guest_rate(row->ci_high_bps / bytes, in_flight, guest.added.interval.low,
                                             shared.interval.high);
    return guest;
}

static json_t *json_row_of(const struct guest_costs *costs, const struct row *row)
{
    const struct guest_row guest = predict(costs, row);
    return json_pack("{s:o, s:o, s:o}", "setting", json_point(&row->point), "added_s",
                     json_interval(guest.added.s, guest.added.interval.low, guest.added.interval.high),
                     "throughput_bps", json_interval(guest.bps, guest.interval.low, guest.interval.high));
}

static void add_document(json_t *object, const void *context)
{
    const struct guest_report *report = context;
    const struct answer *answer = report->answer;
    if (answer->has_rows)
        json_object_set_new(object, "guest",
                            json_pack("{s:o, s:o}", "recommended",
                                      json_row_of(report->costs, &answer->chosen), "fastest",
                                      json_row_of(report->costs, &answer->best)));
}

static void print_row(FILE *out, const struct guest_row *guest)
{
    char rate[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE], added[UNITS_TEXT_SIZE];
    fputs(units_format_rate(guest->bps, rate), out);
    if (isfinite(guest->interval.low))
        fprintf(out, " (%s to %s)", units_format_rate(guest->interval.low, low),
                units_format_rate(guest->interval.high, high));
    fputs(" predicted, ", out);
    if (guest->added.interval.low > 0)
        fprintf(out, "each request takes %s longer there\n",
                text_short_duration(guest->added.s * 1e9, added));
    else if (guest->added.interval.high < 0)
        fprintf(out, "each request takes %s less there: its disk is not the storage that is measured here\n",
                text_short_duration(-guest->added.s * 1e9, added));
    else
        fputs("no request was shown to take longer there\n", out);
}

static void print_lines(FILE *out, const void *context)
{
    const struct guest_report *report = context;
    const struct answer *answer = report->answer;
    char text[FACTORS_TEXT_SIZE];
    if (!answer->has_rows)
        return;
    const struct guest_row chosen = predict(report->costs, &answer->chosen),
                           best = predict(report->costs, &answer->best);
    fprintf(out, "%-12s ", "In the guest");
    print_row(out, &chosen);
    if (factors_equal(&answer->chosen.point, &answer->best.point))
        return;
    fprintf(out, "%-12s the fastest, %s: ", "", factors_format(&answer->best.point, text));
    print_row(out, &best);
    if (chosen.interval.high < best.interval.low &&
        chosen.bps < (1 - report->costs->settings->search.tolerance_share) * best.bps)
        fprintf(out,
                "%-12s There the recommended setting gives %.0f %% less: take the fastest for the guest.\n",
                "", 100 * (1 - chosen.bps / best.bps));
}

struct answer_part guest_report_part(const struct guest_report *report)
{
    return (struct answer_part){.add = add_document, .print = print_lines, .context = report};
}
