/* tuner/report/report_change: from the setting that the program has to the recommended one, in words. */
#include "tuner/report/report_change.h"

#include "bench/base/units.h"

#include <math.h>

#define LEAST_GAIN 1.05 /* of the whole program, to be told as one */

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
