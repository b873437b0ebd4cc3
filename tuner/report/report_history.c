/* tuner/report/report_history: runs as lines, as JSON and for a spreadsheet, and two nights side by side. */
#include "tuner/report/report_history.h"

#include "bench/base/units.h"
#include "models/statistics/student.h"
#include "tuner/base/csv.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/report/report_text.h"
#include "tuner/session/warnings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define TIME_SIZE    32
#define SHOWN_POINTS 20
/* Runs of lengths that differ by more are not alike: a short one sees more of the caches. */
#define UNLIKE_LENGTHS 1.5

/* "2026-11-21T03:00:00Z"; "-" for NaN. Returns buffer. */
static const char *time_text(double seconds, char buffer[TIME_SIZE])
{
    struct tm parts;
    /* Up to the year 9999. */
    time_t whole = seconds >= 0 && seconds < 253402300800.0 ? (time_t)seconds : -1;
    if (whole < 0 || gmtime_r(&whole, &parts) == NULL || strftime(buffer, TIME_SIZE, "%FT%TZ", &parts) == 0)
        snprintf(buffer, TIME_SIZE, "-");
    return buffer;
}

json_t *report_history_run_json(const struct history_info *info)
{
    char started[TIME_SIZE], finished[TIME_SIZE];
    json_t *object =
        json_pack("{s:I, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:s, s:o, s:s, s:I}", "id", (json_int_t)info->id,
                  "uuid", info->uuid, "started_at", time_text(info->started_s, started), "finished_at",
                  isnan(info->finished_s) ? json_null() : json_string(time_text(info->finished_s, finished)),
                  "host", json_text(info->host), "command", info->command, "target", json_text(info->target),
                  "pattern", json_text(info->pattern), "fingerprint", info->fingerprint, "file_system",
                  json_text(info->file_system), "status", history_status_names[info->status], "replays",
                  (json_int_t)info->n_replays);
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "exit_code",
                        info->exit_code < 0 ? json_null() : json_integer(info->exit_code));
    json_object_set_new(object, "point", info->has_point ? json_point(&info->point) : json_null());
    json_object_set_new(object, "throughput",
                        json_interval(info->mean_bps, info->ci_low_bps, info->ci_high_bps));
    json_object_set_new(object, "conclusive", json_boolean(info->conclusive));
    return object;
}

json_t *report_history_replay_json(const struct history_replay *replay)
{
    const struct sample *sample = &replay->sample;
    json_t *object = json_pack(
        "{s:I, s:f, s:o, s:f, s:f, s:o, s:o, s:o, s:f, s:I, s:b, s:b, s:b}", "number",
        (json_int_t)replay->number, "at_seconds", replay->at_seconds, "point", json_point(&replay->point),
        "throughput", sample->throughput_bps, "iops", sample->iops, "latency_mean_ns",
        json_number(sample->latency_mean_ns), "latency_p99_ns", json_number(sample->latency_p99_ns),
        "achieved_depth", json_number(sample->achieved_depth), "seconds", sample->seconds, "bytes",
        (json_int_t)sample->bytes, "fresh", sample->confirming, "cut", sample->cut, "aside", replay->aside);
    json_object_set_new(object, "conditions", json_text(replay->conditions));
    json_object_set_new(object, "replays", json_integer((json_int_t)history_rates(replay).n));
    json_object_set_new(object, "throughput_std", json_number(replay->std_bps));
    if (replay->windows.n > 0)
        json_object_set_new(
            object, "windows",
            json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "n", (json_int_t)replay->windows.n, "seconds",
                      json_number(replay->windows.seconds), "mean", json_number(replay->windows.mean_bps),
                      "std", json_number(replay->windows.std_bps), "least",
                      json_number(replay->windows.least_bps), "most", json_number(replay->windows.most_bps)));
    return object;
}

json_t *report_history_change_json(const struct history_change *change)
{
    char at[TIME_SIZE];
    return json_pack("{s:I, s:s, s:o, s:o, s:s, s:o, s:o, s:[I, I], s:o}", "id", (json_int_t)change->id, "at",
                     time_text(change->at_s, at), "host", json_text(change->host), "target",
                     json_text(change->target), "kind", history_kind_names[change->kind], "from",
                     change->has_from ? json_point(&change->from) : json_null(), "to",
                     change->has_to ? json_point(&change->to) : json_null(), "runs",
                     (json_int_t)change->run_ids[0], (json_int_t)change->run_ids[1], "text",
                     json_text(change->text));
}

void report_history_list(FILE *out, const struct history_info *runs, size_t n)
{
    char host[HISTORY_TEXT_SIZE], pattern[PATTERN_NAME_SIZE], at[TIME_SIZE];
    char target[HISTORY_TEXT_SIZE], command[sizeof runs->command];
    if (n == 0) {
        fputs("No runs.\n", out);
        return;
    }
    fprintf(out, "%5s  %-20s  %-12s  %-9s  %-12s  %-12s  %7s  %-11s  %s\n", "run", "begun (UTC)", "host",
            "command", "pattern", "status", "replays", "throughput", "setting");
    for (size_t i = 0; i < n; i++) {
        char setting[FACTORS_TEXT_SIZE] = "-", rate[UNITS_TEXT_SIZE];
        const struct history_info *info = &runs[i];
        if (info->has_point)
            factors_format(&info->point, setting);
        fprintf(out, "%5lld  %-20s  %-12s  %-9s  %-12s  %-12s  %7zu  %-11s  %s%s%s\n", (long long)info->id,
                time_text(info->started_s, at), text_printable(info->host, host, sizeof host),
                text_printable(info->command, command, sizeof command),
                text_printable(info->pattern, pattern, sizeof pattern), history_status_names[info->status],
                info->n_replays, text_short_rate(info->mean_bps, rate), setting,
                info->target[0] != '\0' ? "  of " : "", text_printable(info->target, target, sizeof target));
    }
}

static void print_change(FILE *out, const struct history_change *change)
{
    char at[TIME_SIZE], host[HISTORY_TEXT_SIZE], target[HISTORY_TEXT_SIZE];
    char from[FACTORS_TEXT_SIZE], to[FACTORS_TEXT_SIZE], why[sizeof change->text];
    fprintf(out, "%5lld  %-20s  %-12s  %-12s  %-8s", (long long)change->id, time_text(change->at_s, at),
            text_printable(change->host, host, sizeof host),
            text_printable(change->target, target, sizeof target), history_kind_names[change->kind]);
    if (change->has_from && change->has_to && !factors_equal(&change->from, &change->to))
        fprintf(out, "  %s -> %s", factors_format(&change->from, from), factors_format(&change->to, to));
    else if (change->has_from || change->has_to)
        fprintf(out, "  %s", factors_format(change->has_to ? &change->to : &change->from, to));
    for (size_t i = 0; i < 2; i++) {
        if (change->run_ids[i] != 0)
            fprintf(out, "%s %lld", i == 0 ? "  of run" : ",", (long long)change->run_ids[i]);
    }
    fputc('\n', out);
    if (change->text[0] != '\0')
        fprintf(out, "       %s\n", text_printable(change->text, why, sizeof why));
}

void report_history_changes(FILE *out, const struct history_change *changes, size_t n)
{
    if (n == 0) {
        fputs("No decisions: `fstune retune` records them, from its first night on.\n", out);
        return;
    }
    fprintf(out, "%5s  %-20s  %-12s  %-12s  %-8s  %s\n", "id", "when (UTC)", "host", "target", "what",
            "setting, and why");
    for (size_t i = 0; i < n; i++)
        print_change(out, &changes[i]);
}

static bool is_alike(const struct history_replay *a, const struct history_replay *b)
{
    return factors_equal(&a->point, &b->point) && strcmp(a->conditions, b->conditions) == 0;
}

static bool is_seen(const struct history_replay *replays, size_t place)
{
    size_t i = 0;
    while (i < place && !is_alike(&replays[i], &replays[place]))
        i++;
    return i < place;
}

static void print_points(FILE *out, const struct history_replay *replays, size_t n)
{
    fprintf(out, "\n%-34s  %7s  %-11s  %s\n", "point", "replays", "mean", "std of a replay");
    for (size_t i = 0; i < n; i++) {
        struct moments moments = {0};
        char setting[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE], std[UNITS_TEXT_SIZE];
        char conditions[HISTORY_CONDITIONS_SIZE];
        if (is_seen(replays, i))
            continue;
        for (size_t k = i; k < n; k++) {
            if (is_alike(&replays[i], &replays[k]) && !replays[k].aside)
                moments_merge(&moments, history_rates(&replays[k]));
        }
        if (moments.n > 0)
            fprintf(out, "%-34s  %7zu  %-11s  %s%s%s\n", factors_format(&replays[i].point, setting),
                    moments.n, text_short_rate(moments.mean, rate),
                    moments.n > 1 ? text_short_rate(moments.std, std) : "-",
                    replays[i].conditions[0] != '\0' ? "  " : "",
                    text_printable(replays[i].conditions, conditions, sizeof conditions));
    }
}

void report_history_run(FILE *out, const struct history_info *info, const struct history_replay *replays,
                        size_t n)
{
    char started[TIME_SIZE], finished[TIME_SIZE], setting[FACTORS_TEXT_SIZE];
    char rate[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE], host[HISTORY_TEXT_SIZE];
    char command[sizeof info->command], pattern[PATTERN_NAME_SIZE], target[HISTORY_TEXT_SIZE];
    char uuid[HISTORY_UUID_SIZE], fingerprint[HISTORY_FINGERPRINT_SIZE],
        file_system[sizeof info->file_system];
    fprintf(out, "Run          %lld (%s), %s %s%s%s\n", (long long)info->id,
            text_printable(info->uuid, uuid, sizeof uuid),
            text_printable(info->command, command, sizeof command),
            text_printable(info->pattern, pattern, sizeof pattern), info->host[0] != '\0' ? " on " : "",
            text_printable(info->host, host, sizeof host));
    if (info->target[0] != '\0')
        fprintf(out, "Target       %s\n", text_printable(info->target, target, sizeof target));
    fprintf(out, "Time         %s to %s\n", time_text(info->started_s, started),
            time_text(info->finished_s, finished));
    fprintf(out, "Storage      %s (%s)\n", text_printable(info->fingerprint, fingerprint, sizeof fingerprint),
            info->file_system[0] != '\0' ? text_printable(info->file_system, file_system, sizeof file_system)
                                         : "simulated");
    fprintf(out, "Status       %s, %zu replays%s\n", history_status_names[info->status], info->n_replays,
            info->conclusive ? ", conclusive" : "");
    if (info->has_point)
        fprintf(out, "Setting      %s: %s (%s to %s)\n", factors_format(&info->point, setting),
                text_short_rate(info->mean_bps, rate), text_short_rate(info->ci_low_bps, low),
                text_short_rate(info->ci_high_bps, high));
    if (n > 0)
        print_points(out, replays, n);
}

/* ---- two runs ---- */

static bool same_storage(const struct history_info infos[2])
{
    return strcmp(infos[0].fingerprint, infos[1].fingerprint) == 0;
}

static bool unlike_lengths(const struct history_comparison *comparison)
{
    return fabs(log(comparison->seconds[1] / comparison->seconds[0])) > log(UNLIKE_LENGTHS);
}

/* Beyond half and twice as much, a share says less than a factor: "104 x" and not "+10300 %". */
static const char *format_change(double ratio, bool as_factor, char text[UNITS_TEXT_SIZE])
{
    if (as_factor)
        snprintf(text, UNITS_TEXT_SIZE, "%.*f x",
                 ratio < 1     ? 3
                 : ratio < 10  ? 2
                 : ratio < 100 ? 1
                               : 0,
                 ratio);
    else
        snprintf(text, UNITS_TEXT_SIZE, "%+.1f %%", 100 * (ratio - 1));
    return text;
}

static void print_ratio(FILE *out, const struct history_ratio *ratio)
{
    char rates[2][UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    bool as_factor = ratio->ratio >= 2 || ratio->ratio <= 0.5;
    fprintf(out, "%11s -> %-11s %8s", text_short_rate(ratio->mean_bps[0], rates[0]),
            text_short_rate(ratio->mean_bps[1], rates[1]), format_change(ratio->ratio, as_factor, change));
    if (isnan(ratio->bounds.low))
        fputs("  (no interval: too few replays)", out);
    else
        fprintf(out, "  (%s to %s)%s", format_change(ratio->bounds.low, as_factor, change),
                format_change(ratio->bounds.high, as_factor, high), ratio->changed ? "  changed" : "");
    fputc('\n', out);
}

static void print_warnings(FILE *out, const struct history_info infos[2],
                           const struct history_comparison *comparison)
{
    if (!same_storage(infos))
        fputs("Not the same storage: the fingerprints differ, so a difference may be that of the disks.\n",
              out);
    if (strcmp(infos[0].host, infos[1].host) != 0)
        fputs("Not the same host.\n", out);
    if (unlike_lengths(comparison))
        fprintf(out, "Runs of unlike length (%.2f s and %.2f s on average): ratios may come from that.\n",
                comparison->seconds[0], comparison->seconds[1]);
}

void report_history_compare(FILE *out, const struct history_info infos[2],
                            const struct history_comparison *comparison)
{
    char at[2][TIME_SIZE], setting[FACTORS_TEXT_SIZE], conditions[HISTORY_CONDITIONS_SIZE];
    fprintf(out, "Run %lld (%s) -> run %lld (%s)\n", (long long)infos[0].id,
            time_text(infos[0].started_s, at[0]), (long long)infos[1].id,
            time_text(infos[1].started_s, at[1]));
    print_warnings(out, infos, comparison);
    if (comparison->has_answers) {
        fprintf(out, "\nAnswer       %s", factors_format(&infos[0].point, setting));
        if (!factors_equal(&infos[0].point, &infos[1].point))
            fprintf(out, " -> %s", factors_format(&infos[1].point, setting));
        fputs("\n             ", out);
        print_ratio(out, &comparison->answer);
    }
    fprintf(
        out,
        "\n%zu settings in both, %zu and %zu in one alone; %zu of %zu comparisons changed (%g %% for all "
        "together)\nRates are geometric means of all replays of a run, those of its search included; list "
        "and show have arithmetic ones.\n",
        comparison->n, comparison->n_only[0], comparison->n_only[1],
        comparison->n_changed + (comparison->has_answers && comparison->answer.changed),
        comparison->n_tested + (comparison->has_answers && isfinite(comparison->answer.bounds.low)),
        100 * HISTORY_COMPARE_CONFIDENCE);
    for (size_t i = 0; i < comparison->n && i < SHOWN_POINTS; i++) {
        fprintf(out, "%-34s ", factors_format(&comparison->points[i].point, setting));
        if (comparison->points[i].conditions[0] != '\0')
            fprintf(out, "%s ",
                    text_printable(comparison->points[i].conditions, conditions, sizeof conditions));
        print_ratio(out, &comparison->points[i]);
    }
    if (comparison->n > SHOWN_POINTS)
        fprintf(out, "... and %zu more; --json has all\n", comparison->n - SHOWN_POINTS);
}

static json_t *json_ratio(const struct history_ratio *ratio)
{
    return json_pack("{s:[I, I], s:s, s:[o, o], s:o, s:o, s:o, s:b}", "replays", (json_int_t)ratio->n[0],
                     (json_int_t)ratio->n[1], "kind_of_mean", "geometric", "mean",
                     json_number(ratio->mean_bps[0]), json_number(ratio->mean_bps[1]), "ratio",
                     json_number(ratio->ratio), "ci_low", json_number(ratio->bounds.low), "ci_high",
                     json_number(ratio->bounds.high), "changed", ratio->changed);
}

json_t *report_history_compare_json(const struct history_info infos[2],
                                    const struct history_comparison *comparison)
{
    json_t *points = json_array();
    for (size_t i = 0; i < comparison->n; i++) {
        json_t *object = json_ratio(&comparison->points[i]);
        json_object_set_new(object, "point", json_point(&comparison->points[i].point));
        json_object_set_new(object, "conditions", json_text(comparison->points[i].conditions));
        json_array_append_new(points, object);
    }
    return json_pack(
        "{s:s, s:[o, o], s:b, s:b, s:f, s:I, s:I, s:[I, I], s:o, s:o}", "schema", "fstune/comparison/1",
        "runs", report_history_run_json(&infos[0]), report_history_run_json(&infos[1]), "same_fingerprint",
        same_storage(infos), "unlike_lengths", unlike_lengths(comparison), "confidence",
        HISTORY_COMPARE_CONFIDENCE, "points_tested", (json_int_t)comparison->n_tested, "points_changed",
        (json_int_t)comparison->n_changed, "points_of_one_run", (json_int_t)comparison->n_only[0],
        (json_int_t)comparison->n_only[1], "answer",
        comparison->has_answers ? json_ratio(&comparison->answer) : json_null(), "points", points);
}

/* ---- for a spreadsheet ---- */

static void put_text(FILE *out, const char *text)
{
    csv_text(out, text);
    fputc(',', out);
}

static void put_number(FILE *out, double value)
{
    csv_number(out, value);
    fputc(',', out);
}

static void put_point(FILE *out, const struct point *point)
{
    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%s,",
            point->request_size_bytes, factors_write_size_bytes(point), point->queue_depth, point->direct,
            api_names[point->api], point->threads, sync_names[point->sync]);
}

void report_history_csv_header(FILE *out)
{
    fputs("run,uuid,started_at,host,command,target,pattern,fingerprint,file_system,status,number,at_seconds,"
          "request_size,write_request_size,queue_depth,direct,api,threads,sync,throughput_bps,iops,"
          "latency_mean_ns,latency_p99_ns,achieved_depth,seconds,warmup_seconds,bytes,fresh,cut,aside,"
          "warnings,conditions,replays,std_bps\r\n",
          out);
}

void report_history_csv(FILE *out, const struct history_info *info, const struct history_replay *replays,
                        size_t n)
{
    char at[TIME_SIZE];
    for (size_t i = 0; i < n; i++) {
        const struct sample *sample = &replays[i].sample;
        const char *const texts[] = {info->uuid,
                                     time_text(info->started_s, at),
                                     info->host,
                                     info->command,
                                     info->target,
                                     info->pattern,
                                     info->fingerprint,
                                     info->file_system,
                                     history_status_names[info->status]};
        const double figures[] = {sample->throughput_bps, sample->iops,           sample->latency_mean_ns,
                                  sample->latency_p99_ns, sample->achieved_depth, sample->seconds,
                                  sample->warmup_seconds};
        fprintf(out, "%lld,", (long long)info->id);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            put_text(out, texts[k]);
        fprintf(out, "%" PRIu64 ",", replays[i].number);
        put_number(out, replays[i].at_seconds);
        put_point(out, &replays[i].point);
        for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
            put_number(out, figures[k]);
        fprintf(out, "%" PRIu64 ",%d,%d,%d,", sample->bytes, sample->confirming, sample->cut,
                replays[i].aside);
        fputc('"', out);
        text_codes(out, sample->warning_set);
        fputs("\",", out);
        csv_text(out, replays[i].conditions);
        fprintf(out, ",%zu,", history_rates(&replays[i]).n);
        csv_number(out, replays[i].std_bps);
        fputs("\r\n", out);
    }
}
