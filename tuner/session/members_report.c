/* What several targets reach together and each alone. */
#include "tuner/session/members_report.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/session/json_row.h"
#include "tuner/session/session_members.h"

#include <math.h>
#include <string.h>

static const char *const verdicts[] = {
    [MEMBERS_UNSETTLED] = "not settled", [MEMBERS_INDEPENDENT] = "none", [MEMBERS_SHARED] = "shared"};

static const char *place_of(const struct members_study *study, uint32_t member)
{
    return settings_nth_place(study->session->settings, member);
}

static bool row_for(const struct members_study *study, const struct record *record, struct row *ret_row)
{
    return row_of(record, false, study->session->settings->runs.confidence_share, ret_row) == 0;
}

static json_t *json_figures(const struct members_study *study, const struct record *record)
{
    struct row row;
    if (!row_for(study, record, &row))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:o}", "mean", json_number(row.mean_bps), "ci_low",
                     json_number(row.ci_low_bps), "ci_high", json_number(row.ci_high_bps), "replays",
                     (json_int_t)row.replays, "iops", json_number(row.iops), "latency_ns",
                     json_latency(&row.latency_ns));
}

/* The member with the lowest rate while all are loaded; the number of members where none was measured. */
static uint32_t slowest_of(const struct members_study *study)
{
    uint32_t n = study->session->members.n, slowest = n;
    double least = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        struct row row;
        if (!row_for(study, &study->together[i], &row) || row.mean_bps >= least)
            continue;
        least = row.mean_bps;
        slowest = i;
    }
    return slowest;
}

static void sums_of(const struct members_study *study, double *ret_together_bps, double *ret_alone_bps)
{
    *ret_together_bps = *ret_alone_bps = 0;
    for (uint32_t i = 0; i < study->session->members.n; i++) {
        struct row together, alone;
        bool known =
            row_for(study, &study->together[i], &together) && row_for(study, &study->alone[i], &alone);
        *ret_together_bps += known ? together.mean_bps : NAN;
        *ret_alone_bps += known ? alone.mean_bps : NAN;
    }
}

void members_report_json(json_t *object, const struct members_study *study)
{
    json_t *list = members_study_is_on(study) ? json_array() : NULL;
    double together, alone;
    if (list == NULL)
        return;
    for (uint32_t i = 0; i < study->session->members.n; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "place", json_text(place_of(study, i)), "device",
                            json_text(session_member_facts(study->session, i)->stack.device), "together",
                            json_figures(study, &study->together[i]), "alone",
                            json_figures(study, &study->alone[i]), "kept_share",
                            json_number(members_study_kept(study, i))));
    json_object_set_new(object, "members", list);
    sums_of(study, &together, &alone);
    struct interval interval = members_study_interval(study);
    uint32_t slowest = slowest_of(study);
    json_object_set_new(
        object, "members_together",
        json_pack(
            "{s:o, s:o, s:o, s:I, s:s, s:o}", "mean", json_number(together), "sum_alone", json_number(alone),
            "share", json_interval(members_study_share(study), interval.low, interval.high), "blocks",
            (json_int_t)study->log_share.n, "bottleneck", verdicts[members_study_verdict(study)], "slowest",
            slowest < study->session->members.n ? json_text(place_of(study, slowest)) : json_null()));
}

/* "968 MB/s +- 5.1 % together (4 replays), p99 643 us". */
static void print_figures(FILE *out, const struct members_study *study, const struct record *record,
                          const char *when)
{
    char rate[UNITS_TEXT_SIZE], p99[UNITS_TEXT_SIZE];
    struct row row;
    if (!row_for(study, record, &row)) {
        fprintf(out, "not measured %s", when);
        return;
    }
    fputs(text_short_rate(row.mean_bps, rate), out);
    if (isfinite(row.ci_low_bps))
        fprintf(out, " +- %.1f %%", 50 * (row.ci_high_bps - row.ci_low_bps) / row.mean_bps);
    fprintf(out, " %s (%zu replay%s)", when, row.replays, row.replays == 1 ? "" : "s");
    if (isfinite(row.latency_ns.p99))
        fprintf(out, ", p99 %s", text_short_duration(row.latency_ns.p99, p99));
}

/* The places that keep less than this share of their rate alone, with commas between, and the disk that all
 * of them lie on, where they do. Returns how many they are. */
static uint32_t name_losers(const struct members_study *study, double share, char *names, size_t size,
                            const char **ret_disk)
{
    bool one_disk = true;
    size_t used = 0;
    uint32_t n = 0;
    *ret_disk = NULL;
    for (uint32_t i = 0; i < study->session->members.n; i++) {
        const char *disk = session_member_facts(study->session, i)->stack.device;
        char place[SETTINGS_TEXT_SIZE];
        if (!(members_study_kept(study, i) < share))
            continue;
        one_disk &= disk[0] != '\0' && (*ret_disk == NULL || strcmp(*ret_disk, disk) == 0);
        *ret_disk = disk;
        int length = snprintf(names + used, size - used, "%s%s", n++ > 0 ? ", " : "",
                              text_printable(place_of(study, i), place, sizeof place));
        used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
    }
    if (!one_disk)
        *ret_disk = NULL;
    return n;
}

static void say_what_is_shared(const struct members_study *study, char *text, size_t size)
{
    char names[MEMBERS_REPORT_SIZE / 2] = "";
    const char *disk;
    /* It takes two to share: where one loses alone, it is all of them that share something. */
    if (name_losers(study, MEMBERS_STUDY_SHARED_SHARE, names, sizeof names, &disk) < 2)
        name_losers(study, INFINITY, names, sizeof names, &disk);
    if (disk != NULL)
        snprintf(text, size, "%s share a bottleneck: they lie on one disk, %s", names, disk);
    else
        snprintf(text, size,
                 "%s share a bottleneck, which is not a disk of this machine: a controller, a link, a limit, "
                 "or the processors",
                 names);
}

const char *members_report_verdict(const struct members_study *study, char text[MEMBERS_REPORT_SIZE])
{
    static const char *const words[] = {[MEMBERS_UNSETTLED] =
                                            "whether they share a bottleneck is not settled",
                                        [MEMBERS_INDEPENDENT] = "they share nothing that limits them"};
    char rate[UNITS_TEXT_SIZE], range[64] = "", what[MEMBERS_REPORT_SIZE * 3 / 4];
    struct interval interval = members_study_interval(study);
    enum members_verdict verdict = members_study_verdict(study);
    double together, alone;
    sums_of(study, &together, &alone);
    if (verdict == MEMBERS_SHARED)
        say_what_is_shared(study, what, sizeof what);
    if (isfinite(interval.low))
        snprintf(range, sizeof range, ", %g %% interval %.0f to %.0f %%",
                 100 * study->session->settings->runs.confidence_share, 100 * interval.low,
                 100 * interval.high);
    snprintf(text, MEMBERS_REPORT_SIZE, "together %s, %.0f %% of the sum of each alone (%u block%s%s): %s",
             text_short_rate(together, rate), 100 * members_study_share(study), (unsigned)study->log_share.n,
             study->log_share.n == 1 ? "" : "s", range, verdict == MEMBERS_SHARED ? what : words[verdict]);
    return text;
}

void members_report_rows(FILE *out, const struct members_study *study)
{
    char place[SETTINGS_TEXT_SIZE];
    if (!members_study_is_on(study))
        return;
    uint32_t slowest = slowest_of(study);
    for (uint32_t i = 0; i < study->session->members.n; i++) {
        fprintf(out, "%-12s %s: ", i == 0 ? "Members" : "",
                text_printable(place_of(study, i), place, sizeof place));
        print_figures(out, study, &study->together[i], "together");
        fputs("; ", out);
        print_figures(out, study, &study->alone[i], "alone");
        fputs(i == slowest ? " (the slowest together)\n" : "\n", out);
    }
}

void members_report_text(FILE *out, const struct members_study *study)
{
    char text[MEMBERS_REPORT_SIZE];
    members_report_rows(out, study);
    if (members_study_is_on(study) && study->log_share.n > 0)
        fprintf(out, "             %s\n", members_report_verdict(study, text));
}
