/* Figures and the place they come from, in words. */

#include "tuner/report/report_text.h"
#include "bench/base/units.h"
#include "tuner/base/text.h"
#include "tuner/session/session_members.h"

#include <math.h>
#include <string.h>

void text_rate(FILE *out, const struct row *row, double confidence)
{
    char mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    fputs(text_short_rate(row->mean_bps, mean), out);
    if (isfinite(row->ci_low_bps))
        fprintf(out, "  (%g %% interval %s to %s%s, %zu replays%s)", confidence * 100,
                text_short_rate(row->ci_low_bps, low), text_short_rate(row->ci_high_bps, high),
                row->ci_wanders     ? ", widened: the rate wanders"
                : row->ci_corrected ? ", skew-corrected"
                                    : "",
                row->replays, row->replays < 5 ? ", preliminary" : "");
    else
        fprintf(out, "  (%zu replay%s: too few for an interval)", row->replays, row->replays == 1 ? "" : "s");
}

static void text_quantile(FILE *out, const char *name, double ns)
{
    char text[UNITS_TEXT_SIZE];
    if (isfinite(ns))
        fprintf(out, ", %s %s", name, text_short_duration(ns, text));
}

const char *text_latency_scope(const struct point *point, const struct pattern *pattern)
{
    bool flushes = point->sync == SYNC_END;
    if (point->sync == SYNC_EACH || !pattern_writes(pattern) || (point->direct != 0 && !flushes))
        return "";
    if (point->direct != 0)
        return "without the flush that the throughput has in it: ";
    if (pattern_reads(pattern))
        return flushes ? "of reads, and of writes into the page cache without the flush that the throughput "
                         "has in it: "
                       : "of reads, and of writes into the page cache alone: ";
    return flushes ? "into the page cache, without the flush that the throughput has in it: "
                   : "into the page cache alone: ";
}

void text_latency(FILE *out, const struct latency_row *latency)
{
    char text[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    bool is_slowest =
        latency->n > 0 && latency->p99_ci.low < latency->max && latency->p99_ci.high >= latency->max;
    fprintf(out, "mean %s", text_short_duration(latency->mean, text));
    text_quantile(out, "p50", latency->p50);
    text_quantile(out, "p99", latency->p99);
    if (isfinite(latency->p99_ci.low))
        fprintf(out, " (%s to %s", text_short_duration(latency->p99_ci.low, text),
                text_short_duration(latency->p99_ci.high, high));
    if (isfinite(latency->p99_ci.low))
        fprintf(out, is_slowest ? ", which is the slowest of %llu requests)" : ")",
                (unsigned long long)latency->n);
    text_quantile(out, "p99.9", latency->p999);
    if (!is_slowest)
        text_quantile(out, "max", latency->max);
    if (latency->mean > latency->p99)
        fputs("; the mean is above p99: a few requests or runs took far longer", out);
    if (latency->sampled)
        fputs("  (sampled)", out);
}

void text_trust(FILE *out, uint64_t disqualifying)
{
    const char *separator = "\nTrust        not trustworthy: ";
    for (unsigned i = 0; i < WARNING_N; i++) {
        if ((disqualifying & WARNINGS_BIT(i)) == 0)
            continue;
        fprintf(out, "%s%s", separator, warnings_table[i].code);
        separator = ", ";
    }
}

void text_codes(FILE *out, uint64_t warning_set)
{
    const char *between = "";
    for (unsigned i = 0; i < WARNING_N; i++) {
        if ((warning_set & WARNINGS_BIT(i)) == 0)
            continue;
        fprintf(out, "%s%s", between, warnings_table[i].code);
        between = " ";
    }
}

static const char *known_or(const char *text, const char *default_setting)
{
    return text[0] != '\0' ? text : default_setting;
}

void text_place(FILE *out, const struct session *session)
{
    if (session->simulated) {
        fprintf(out, "simulated surface \"%s\"", session->simulator.name);
        return;
    }
    char source[256];
    fprintf(
        out, "%s on %s, Linux %s",
        known_or(hostinfo_text(&session->host, "file_system"), "unknown file system"),
        text_printable(known_or(hostinfo_text(&session->host, "mount_source"), "?"), source, sizeof source),
        known_or(hostinfo_text(&session->host, "kernel"), "?"));
}

void text_traffic(FILE *out, const struct session *session)
{
    char written[UNITS_TEXT_SIZE], read[UNITS_TEXT_SIZE], drive[200];
    bool fills = session->bytes_written > 0 && !pattern_writes(&session->settings->workload.pattern);
    fprintf(out, "Wrote %s%s, read %s", units_format_bytes(session->bytes_written, written),
            fills ? " to fill the file" : "", units_format_bytes(session->bytes_read, read));
    if (!session->simulated &&
        drive_health_format(&session->drive_health_before, &session->drive_health_after, drive,
                            sizeof drive)[0] != '\0')
        fprintf(out, "; %s", drive);
}

/* As a shell takes it. */
static void print_word(FILE *out, const char *word)
{
    char printable[SETTINGS_TEXT_SIZE];
    bool plain =
        *word != '\0' && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                           "-_=.,:/%+@")] == '\0';
    text_printable(word, printable, sizeof printable);
    fputs(plain ? " " : " '", out);
    for (const char *c = printable; *c != '\0'; c++)
        fprintf(out, *c == '\'' ? "'\\%c'" : "%c", *c);
    fputs(plain ? "" : "'", out);
}

/* What was given decides what was searched. */
void text_asked(FILE *out, const struct settings *settings)
{
    if (settings->words == NULL)
        return;
    fputs("Asked        fstune", out);
    for (const char *const *word = settings->words; *word != NULL; word++)
        print_word(out, *word);
    fputc('\n', out);
}

/* What was measured in the place of a device, or may have been. Of several files one may be so. */
void text_subject(FILE *out, const struct session *session)
{
    const struct notes *warnings = &session->warnings;
    if (session_n_members(session) > 1)
        return;
    if (notes_has(warnings, "memory_backed"))
        fputs(": the file lies in memory, no device was measured", out);
    else if (notes_has(warnings, "file_fits_device_cache") || notes_has(warnings, "host_durability"))
        fputs(", a virtual disk that its host may cache", out);
}
