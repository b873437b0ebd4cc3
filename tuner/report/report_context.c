/* What was measured and asked for, and what limits it. */
#include "tuner/report/report_context.h"

#include "bench/base/units.h"
#include "tuner/base/text.h"

#include <math.h>
#include <string.h>

#define LEAST_HELD   3    /* settings that a limit holds, before it is told */
#define LEARNT_SHARE 0.5  /* of the measured settings, that a limit holds of which nobody told */
#define HELD_LOG     0.05 /* below a limit, at most, to be held by it */

/* A limit on the rate that the control group sets or that the runs show, where the recommended setting
 * reaches it: there the limit decides, and what is recommended is what costs least. */
void report_context_limit(FILE *out, const struct tune *tune)
{
    const struct belief *belief = &tune->engine.belief;
    size_t n_held = 0, n_measured = 0;
    char rate[UNITS_TEXT_SIZE];
    bool known = isfinite(belief->ceiling);
    if (!tune_is_of_throughput(tune) || tune->engine.chosen >= tune->space.n_points)
        return;
    double limit =
        known ? belief->ceiling : belief_likely_ceiling(belief, tune->settings->runs.confidence_share);
    for (size_t i = 0; i < tune->space.n_points; i++) {
        n_measured += belief->moments[i].n > 0;
        n_held += belief->moments[i].n > 0 && belief->moments[i].mean >= limit - HELD_LOG;
    }
    if (n_held < (known ? LEAST_HELD : fmax(LEAST_HELD, LEARNT_SHARE * (double)n_measured)) ||
        belief->moments[tune->engine.chosen].mean < limit - HELD_LOG)
        return;
    text_short_rate(exp(limit), rate);
    if (known)
        fprintf(out, "Limited to   %s by the control group (io.max, blkio.throttle)", rate);
    else
        fprintf(out, "Limited to   about %s, as it seems", rate);
    fprintf(out, ": %zu of the %zu measured settings reach it\n", n_held, n_measured);
}

/* As a shell takes it. */
static void print_word(FILE *out, const char *word)
{
    char printable[SETTINGS_TEXT_SIZE];
    bool plain = word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "-_=.,:/%+@")] == '\0';
    text_printable(word, printable, sizeof printable);
    fputs(plain ? " " : " '", out);
    for (const char *c = printable; *c != '\0'; c++)
        fprintf(out, *c == '\'' ? "'\\%c'" : "%c", *c);
    fputs(plain ? "" : "'", out);
}

/* What was given decides what was searched. */
void report_context_asked(FILE *out, const struct settings *settings)
{
    if (settings->words == NULL)
        return;
    fputs("Asked        fstune", out);
    for (const char *const *word = settings->words; *word != NULL; word++)
        print_word(out, *word);
    fputc('\n', out);
}

/* What was measured in the place of a device, or may have been. */
void report_context_subject(FILE *out, const struct notes *warnings)
{
    if (notes_has(warnings, "memory_backed"))
        fputs(": the file lies in memory, no device was measured", out);
    else if (notes_has(warnings, "file_fits_device_cache") || notes_has(warnings, "host_durability"))
        fputs(", a virtual disk that its host may cache", out);
}
