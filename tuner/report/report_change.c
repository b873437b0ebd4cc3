/* tuner/report/report_change: from the setting in use to the recommended one, in words. */
#include "tuner/report/report_change.h"

#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/report/report_objective.h"

#define LEAST_GAIN 1.05 /* of the whole program, to be told as one */

/* Of what is looked for, more is better: the recommended setting's over that of what is in use. A profile's
 * score has no such figure. */
static struct objective_ratio gain_of(const struct answer *answer)
{
    return tune_is_of_throughput(answer->tune) ? answer->speedup : report_objective_gain(answer->tune);
}

/* What is in use can run, keeps the limits, and nothing speaks against its figures. */
static bool may_be_kept(const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    size_t baseline = tune->engine.baseline;
    return answer->has_rows && tune->settings->search.profile == PROFILE_MAX_THROUGHPUT &&
           baseline != ENGINE_NONE && tune->engine.chosen != baseline &&
           tune->records[baseline].failed == 0 && tune_distrust(tune, baseline) == 0 &&
           engine_keeps_limit(&tune->engine, baseline);
}

/* "not shown to be faster" */
static const char *verdict_of(const struct tune *tune, const struct objective_ratio *gain)
{
    if (!gain->has)
        return "not compared with it: too few runs";
    if (objective_table[tune->settings->search.objective].lower)
        return gain->ci.high < 1 ? "worse" : "not shown to be better";
    return gain->ci.high < 1 ? "slower" : "not shown to be faster";
}

const char *report_change_keep(const struct answer *answer, char text[REPORT_CHANGE_SIZE])
{
    const struct tune *tune = answer->tune;
    const struct objective_ratio gain = gain_of(answer);
    char setting[FACTORS_TEXT_SIZE];
    text[0] = '\0';
    if (!may_be_kept(answer) || (gain.has && gain.ci.low > 1))
        return text;
    const struct point *kept = &tune->records[tune->engine.baseline].point, *below = &answer->chosen.point;
    snprintf(text, REPORT_CHANGE_SIZE, "%s, %s: the setting below is %s%s", report_objective_baseline(tune),
             factors_format(kept, setting), verdict_of(tune, &gain),
             gain.has && factors_bytes_in_flight(below) < factors_bytes_in_flight(kept)
                 ? ", but has less in flight"
                 : "");
    return text;
}

static const struct row *find_unlike(const struct answer *answer)
{
    const struct row *const rows[] = {answer->has_baseline ? &answer->baseline : NULL,
                                      answer->has_default_setting ? &answer->default_setting : NULL,
                                      &answer->best};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i] != NULL && rows[i]->point.direct != answer->chosen.point.direct)
            return rows[i];
    }
    return NULL;
}

const char *report_change_promises(const struct answer *answer, char text[REPORT_CHANGE_SIZE])
{
    const struct row *chosen = &answer->chosen, *other = answer->has_rows ? find_unlike(answer) : NULL;
    char device[UNITS_TEXT_SIZE], memory[UNITS_TEXT_SIZE];
    text[0] = '\0';
    if (other == NULL)
        return text;
    const struct row *direct = chosen->point.direct ? chosen : other,
                     *buffered = direct == chosen ? other : chosen;
    if (!pattern_writes(&answer->tune->settings->workload.pattern))
        snprintf(
            text, REPORT_CHANGE_SIZE,
            "a buffered read leaves its data in the page cache for the next one, a direct read does not");
    else if (buffered->point.sync != SYNC_EACH && pattern_reads(&answer->tune->settings->workload.pattern))
        snprintf(text, REPORT_CHANGE_SIZE,
                 "a direct write waits for the device, a buffered one for memory alone (mean latencies of "
                 "reads and writes: %s and %s), and a crash of this machine before its flush loses it",
                 text_short_duration(direct->latency_ns.mean, device),
                 text_short_duration(buffered->latency_ns.mean, memory));
    else if (buffered->point.sync != SYNC_EACH)
        snprintf(text, REPORT_CHANGE_SIZE,
                 "a direct write waits for the device (%s), a buffered one for memory alone (%s), and a "
                 "crash of this machine before its flush loses it",
                 text_short_duration(direct->latency_ns.mean, device),
                 text_short_duration(buffered->latency_ns.mean, memory));
    return text;
}

static void begin_change(FILE *out, unsigned *n)
{
    fputs((*n)++ == 0 ? "" : ", ", out);
}

/* Returns how many. */
static unsigned print_changes(FILE *out, const struct point *from, const struct point *to)
{
    char was[UNITS_TEXT_SIZE], is[UNITS_TEXT_SIZE];
    unsigned n = 0;
    if (from->direct != to->direct) {
        begin_change(out, &n);
        fprintf(out, "open %s O_DIRECT", to->direct ? "with" : "without");
    }
    if (from->request_size_bytes != to->request_size_bytes) {
        begin_change(out, &n);
        fprintf(out, "%s requests instead of %s", units_format_size(to->request_size_bytes, is),
                units_format_size(from->request_size_bytes, was));
    }
    if (from->queue_depth != to->queue_depth) {
        begin_change(out, &n);
        fprintf(out, "%u in flight instead of %u", to->queue_depth, from->queue_depth);
    }
    if (from->threads != to->threads) {
        begin_change(out, &n);
        fprintf(out, "%u threads instead of %u", to->threads, from->threads);
    }
    if (from->clients != to->clients) {
        begin_change(out, &n);
        fprintf(out, "%u clients instead of %u", to->clients, from->clients);
    }
    if (from->api != to->api) {
        begin_change(out, &n);
        fprintf(out, "%s instead of %s", api_names[to->api], api_names[from->api]);
    }
    return n;
}

/* Amdahl 1967: only the time that the program waits becomes shorter. */
static void print_whole(FILE *out, double wait_share, double gain)
{
    double whole = 1 / (1 - wait_share + wait_share / gain);
    fprintf(out, "             it waits for I/O in %.0f %% of its time: ", 100 * wait_share);
    if (whole >= LEAST_GAIN)
        fprintf(out, "the whole program would be %.2g x as fast at most\n", whole);
    else
        fputs("the program as a whole would gain next to nothing\n", out);
}

void report_change_print(FILE *out, const struct answer *answer)
{
    const struct settings *settings = answer->tune->settings;
    double wait_share = settings->search.wait_share;
    if (settings->search.profile_path[0] == '\0' || !answer->has_baseline || !answer->speedup.has)
        return;
    fputs("Change       ", out);
    if (print_changes(out, &answer->baseline.point, &answer->chosen.point) == 0) {
        fputs("nothing: the program does it like this already\n", out);
        return;
    }
    fprintf(out, ": %.2g x\n", answer->speedup.mean);
    if (wait_share > 0 && answer->speedup.mean > 0)
        print_whole(out, wait_share, answer->speedup.mean);
}
