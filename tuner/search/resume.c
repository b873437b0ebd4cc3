/* A search that goes on where another command left it. */
#include "tuner/search/resume.h"

#include "tuner/base/json.h"
#include "tuner/search/prior.h"
#include "tuner/store/journal.h"
#include "tuner/store/resume_header.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Replays of two points before the runs of a journal are believed. */
#define CHECK_REPLAYS 3
/* Both points are tested: one search in 1,000 loses its journal by chance. */
#define CHECK_ALPHA 0.001

struct resume {
    struct journal journal;
    double spent_seconds; /* of searching, by earlier commands */
    uint64_t begin_ns;    /* of this command's search */
    size_t n_taken;       /* runs that count as replays */
    bool disagrees;
};

/* What the journal says about the search as a whole: numbers that this command goes on with. */
static int take_header(struct session *session, const json_t *header, struct err *err)
{
    json_int_t seed = json_integer_value(json_object_get(header, "seed"));
    json_int_t run_ns = json_integer_value(json_object_get(header, "run_ns"));
    int result = resume_header_check(session, header, err);
    if (result == 0 && (seed < 0 || run_ns < (json_int_t)MEASURE_MIN_DURATION_NS ||
                        run_ns > (json_int_t)(3600 * CLOCK_NS_PER_S)))
        result = err_set(err, -EINVAL, "its first line holds no seed or length of a run");
    if (result == 0)
        session->seed = (uint64_t)seed;
    else
        err_prefix(err, "--resume %s", session->settings->search.resume);
    return result;
}

int resume_open(struct session *session, struct err *err)
{
    const char *path = session->settings->search.resume;
    if (path[0] == '\0')
        return 0;
    session->resume = calloc(1, sizeof *session->resume);
    if (session->resume == NULL)
        return err_set(err, -ENOMEM, "no memory for a journal");
    struct journal *journal = &session->resume->journal;
    if (!session->simulated)
        hostinfo_collect(&session->host, session->directory_fd);
    int result = journal_open(journal, path, session->settings->dry_run, err);
    if (result == 0 && journal->header != NULL)
        result = take_header(session, journal->header, err);
    if (result == 0 && journal->torn)
        notes_add(
            &session->warnings, "journal_torn",
            "the last line of %s is not whole, as after an end in the middle of writing: it is left out",
            path);
    return result;
}

void resume_close(struct session *session)
{
    if (session->resume != NULL)
        journal_done(&session->resume->journal);
    free(session->resume);
    session->resume = NULL;
}

/* The time that was spent is gone; what the confirmation needs is kept. A virtual clock goes on instead of
 * beginning anew, so that drift and trace of a surface do as well. */
static void take_time(struct tune *tune, double spent_ns)
{
    struct session *session = tune->session;
    struct engine *engine = &tune->engine;
    double spent_seconds = spent_ns / 1e9;
    if (session->simulated) {
        uint64_t passed_ns = (uint64_t)spent_ns;
        session->simulator.now_ns += passed_ns;
        session->start_ns += passed_ns;
    }
    double now = tune_now(tune), kept = engine->budget_seconds * TUNE_FINAL_SHARE;
    engine->explore_end_seconds = fmax(engine->explore_end_seconds - spent_seconds, now);
    engine->search_end_seconds = fmax(engine->search_end_seconds - spent_seconds, now);
    engine->end_seconds = fmax(engine->end_seconds - spent_seconds, engine->search_end_seconds + kept);
}

static void take_length(struct tune *tune, const struct journal *journal)
{
    tune_length_set(tune, (uint64_t)json_integer_value(json_object_get(journal->header, "run_ns")));
    if (journal->length.run_ns != 0) {
        tune_length_set(tune, journal->length.run_ns);
        tune->length.warmup_limit_ns = journal->length.warmup_limit_ns;
        tune->length.warmup_least_ns = journal->length.warmup_least_ns;
        tune->length.why = "as in the journal";
        tune->length.decided = true;
    }
}

void resume_decide(const struct tune *tune, bool keeps)
{
    const struct journal_length length = {tune->duration_ns, tune->length.warmup_limit_ns,
                                          tune->length.warmup_least_ns, keeps};
    if (tune->session->resume != NULL)
        journal_decide(&tune->session->resume->journal, &length);
}

int resume_begin(struct tune *tune, struct err *err)
{
    struct session *session = tune->session;
    struct resume *resume = session->resume;
    if (resume == NULL)
        return 0;
    struct journal *journal = &resume->journal;
    if (journal->header != NULL) {
        take_length(tune, journal);
        resume->spent_seconds = journal->spent_seconds;
        session->n_runs = journal->next_number;
        take_time(tune, resume->spent_seconds * 1e9);
    }
    resume->begin_ns = tune_now_ns(tune);
    int result = journal_begin(journal, resume_header_make(session, tune->duration_ns), err);
    return result < 0 ? err_prefix(err, "--resume %s", tune->settings->search.resume) : 0;
}

/* Indices of the runs' points (ENGINE_NONE: not in this space) and how often each was measured. */
static void place_runs(const struct tune *tune, const struct journal *journal, size_t *ret_place,
                       struct moments *ret_moments)
{
    double reference = tune->reference_log_bps;
    /* The rate floor of low-latency is a share of the highest rate known. */
    for (size_t i = journal->first; i < journal->n_runs; i++)
        reference = fmax(reference, log(journal->runs[i].sample.throughput_bps));
    for (size_t i = journal->first; i < journal->n_runs; i++) {
        size_t place = ret_place[i] = tune_find_point(tune, &journal->runs[i].point);
        double response = objective_response(tune->settings, reference, &journal->runs[i].sample);
        if (place == ENGINE_NONE || isnan(response))
            ret_place[i] = ENGINE_NONE;
        else
            moments_add(&ret_moments[place], response);
    }
}

/* The point other than the baseline that was measured most often: the search's own favourite, and not one
 * that a lucky run put on top. */
static size_t best_known(const struct tune *tune, const struct moments *moments)
{
    size_t best = tune->engine.baseline;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (i == tune->engine.baseline || tune->engine.belief.excluded[i])
            continue;
        if (best == tune->engine.baseline ? moments[i].n > 0 : moments[i].n > moments[best].n)
            best = i;
    }
    return best;
}

/* Do the new replays of a point differ from the journal's beyond noise and tolerance? */
static bool differs(const struct tune *tune, size_t point, const struct moments *moments, double variance,
                    double df)
{
    const struct record *record = &tune->records[point];
    struct moments old = moments[point];
    double sum = 0, n = (double)record->n;
    for (size_t i = 0; i < record->n; i++)
        sum += tune_response(tune, &record->samples[i]);
    if (record->n < 2 || old.n < 2)
        return false;
    struct welch welch =
        welch_from_variances(sum / n - old.mean, variance / n, df, variance / (double)old.n, df);
    double limit = student_quantile(1 - CHECK_ALPHA / 4, df) * welch.standard_error;
    return fabs(welch.difference) > fmax(limit, tune->engine.margin);
}

/* Scatter of runs is taken from all points together: each alone has too few. */
static bool disagrees(const struct tune *tune, const struct moments *moments, const size_t points[2])
{
    double squares = 0, df = 0;
    for (size_t i = 0; i < tune->n_records; i++) {
        if (moments[i].n > 1) {
            df += (double)(moments[i].n - 1);
            squares += (double)(moments[i].n - 1) * moments[i].std * moments[i].std;
        }
    }
    return df > 0 && (differs(tune, points[0], moments, squares / df, df) ||
                      (points[1] != points[0] && differs(tune, points[1], moments, squares / df, df)));
}

static int add_replay(struct tune *tune, size_t point, struct sample sample, struct histogram *latency)
{
    struct record *record = &tune->records[point];
    sample.confirming = false;
    struct latency_quantiles quantiles = sample.latency_quantiles;
    histogram_init(latency);
    latency_quantiles_unfold(&quantiles, sample.latency_mean_ns, latency);
    int result = record_add(record, &sample, latency);
    if (result < 0)
        return result;
    /* The journal's quantiles are kept, not those of the unfolded histogram. */
    record->samples[record->n - 1].latency_quantiles = quantiles;
    result = tune_tell(tune, point, &record->samples[record->n - 1]);
    tune_weigh_trust(tune, point);
    return result;
}

static int take_runs(struct tune *tune, const size_t *place)
{
    struct resume *resume = tune->session->resume;
    struct histogram *latency = malloc(sizeof *latency);
    int result = latency == NULL ? -ENOMEM : 0;
    for (size_t i = resume->journal.first; i < resume->journal.n_runs && result == 0; i++) {
        if (place[i] == ENGINE_NONE)
            continue;
        result = add_replay(tune, place[i], resume->journal.runs[i].sample, latency);
        resume->n_taken += result == 0;
    }
    free(latency);
    size_t n_whole = resume->journal.n_runs - resume->journal.first;
    if (result == 0 && resume->n_taken < n_whole)
        notes_add(&tune->session->warnings, "journal_points_left",
                  "%zu of %zu runs of the journal are of settings that cannot be measured now (less free "
                  "memory, for example): they are left out",
                  n_whole - resume->n_taken, n_whole);
    return result;
}

/* The levels have changed since the old runs; differences between points may still hold. */
static int leave_runs(struct tune *tune)
{
    struct resume *resume = tune->session->resume;
    resume->disagrees = true;
    notes_add(&tune->session->warnings, "journal_disagrees",
              "settings measured again differ from the runs in %s by more than noise and tolerance: the file "
              "system or its load has changed, so these runs only steer the search",
              tune->settings->search.resume);
    journal_mark(&resume->journal);
    return prior_add_runs(tune, tune->settings->search.resume, &resume->journal, resume->journal.first,
                          resume->journal.n_runs);
}

static int check_and_take(struct tune *tune, size_t *place, struct moments *moments, struct err *err)
{
    struct journal *journal = &tune->session->resume->journal;
    size_t runs[2 * CHECK_REPLAYS], points[2] = {tune->engine.baseline};
    place_runs(tune, journal, place, moments);
    points[1] = best_known(tune, moments);
    size_t n = points[1] == points[0] ? CHECK_REPLAYS : 2 * CHECK_REPLAYS;
    for (size_t i = 0; i < n; i++)
        runs[i] = points[i % (n / CHECK_REPLAYS)];
    int result = tune_measure(tune, runs, n, tune->engine.end_seconds, err);
    if (result < 0)
        return result;
    result = disagrees(tune, moments, points) ? leave_runs(tune) : take_runs(tune, place);
    return result < 0 ? err_sys(err, result, "the journal cannot be taken over") : 0;
}

int resume_take_over(struct tune *tune, struct err *err)
{
    const struct resume *resume = tune->session->resume;
    if (resume == NULL || resume->journal.n_runs == 0)
        return 0;
    if (resume->journal.first > 0 &&
        prior_add_runs(tune, tune->settings->search.resume, &resume->journal, 0, resume->journal.first) < 0)
        return err_set(err, -ENOMEM, "no memory for a journal");
    size_t *place = calloc(resume->journal.n_runs, sizeof *place);
    struct moments *moments = calloc(tune->n_records, sizeof *moments);
    int result = place == NULL || moments == NULL ? err_set(err, -ENOMEM, "no memory for a journal")
                                                  : check_and_take(tune, place, moments, err);
    free(place);
    free(moments);
    return result;
}

void resume_note(struct tune *tune, size_t point)
{
    struct session *session = tune->session;
    struct resume *resume = session->resume;
    const struct record *record = &tune->records[point];
    /* A run that was cut is no replay: the point would be measured again in any case. */
    if (resume == NULL || resume->journal.fd < 0 || record->samples[record->n - 1].cut)
        return;
    struct journal_run run = {
        .number = session->n_runs - 1,
        .at_seconds = resume->spent_seconds + (double)(tune_now_ns(tune) - resume->begin_ns) / 1e9,
        .point = record->point,
        .sample = record->samples[record->n - 1],
    };
    journal_append(&resume->journal, &run);
    if (resume->journal.failed != 0)
        notes_add(&session->warnings, "journal_lost",
                  "%s cannot be written any more (%s): runs from then on "
                  "are not in it",
                  tune->settings->search.resume, strerror(-resume->journal.failed));
}

json_t *resume_json(const struct session *session)
{
    const struct resume *resume = session->resume;
    if (resume == NULL)
        return json_null();
    return json_pack("{s:o, s:I, s:f, s:b}", "file", json_text(session->settings->search.resume), "runs",
                     (json_int_t)resume->n_taken, "seconds", resume->spent_seconds, "agrees",
                     !resume->disagrees);
}

void resume_text(FILE *out, const struct session *session, bool interrupted)
{
    const struct resume *resume = session->resume;
    if (resume != NULL && resume->n_taken > 0)
        fprintf(out, "             %zu of the runs and %.1f s are those of %s\n", resume->n_taken,
                resume->spent_seconds, session->settings->search.resume);
    if (interrupted && resume != NULL && resume->journal.failed == 0)
        fprintf(out, "To go on     give the same command again, with --resume %s\n",
                session->settings->search.resume);
    else if (interrupted && resume == NULL)
        fputs("Next time    --resume FILE keeps the runs, so that an interrupted search can go on\n", out);
}
