/* An experiment that goes on where another command left it. */
#include "tuner/experiment/experiment.h"

#include "tuner/base/json.h"
#include "tuner/store/resume_header.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void set_conditions(json_t *header, const struct settings_experiment *asked, const char *key,
                           const struct levels conditions[CONDITION_N])
{
    json_t *lists = json_array();
    for (size_t condition = 0; condition < CONDITION_N && lists != NULL; condition++) {
        json_t *list = json_array();
        for (size_t i = 0; i < conditions[condition].n && list != NULL; i++) {
            uint64_t value = conditions[condition].value[i];
            json_array_append_new(list, condition == CONDITION_PATTERN
                                            ? json_text(asked->patterns[value].name)
                                            : json_integer((json_int_t)value));
        }
        json_array_append_new(lists, list);
    }
    json_object_set_new(header, key, lists);
}

static void set_tests(json_t *header, const struct settings_experiment *asked)
{
    char key[48];
    json_object_set_new(header, "tests", json_integer((json_int_t)asked->n_tests));
    for (size_t i = 0; i < asked->n_tests; i++) {
        json_t *lists = json_array();
        for (int factor = 0; factor < FACTOR_N && lists != NULL; factor++) {
            json_t *list = json_array();
            const struct levels *levels = &asked->tests[i].levels[factor];
            for (size_t k = 0; k < levels->n && list != NULL; k++)
                json_array_append_new(list, json_integer((json_int_t)levels->value[k]));
            json_array_append_new(lists, list);
        }
        snprintf(key, sizeof key, "test_%zu", i + 1);
        json_object_set_new(header, key, lists);
        snprintf(key, sizeof key, "test_%zu_conditions", i + 1);
        set_conditions(header, asked, key, asked->tests[i].conditions);
    }
}

/* What the place of a run in the order depends on, and what a run is. */
static json_t *make_header(const struct session *session)
{
    const struct settings *settings = session->settings;
    const struct settings_experiment *asked = &settings->experiment;
    json_t *header = resume_header_make(session, settings->runs.duration_ns);
    if (header == NULL)
        return NULL;
    json_object_set_new(header, "command", json_string("experiment"));
    json_object_set_new(header, "design", json_string(asked->design));
    json_object_set_new(header, "design_points", json_integer(asked->design_points));
    json_object_set_new(header, "replays", json_integer(settings->runs.replays));
    json_object_set_new(header, "batches", json_integer(asked->batches));
    set_conditions(header, asked, "conditions", asked->conditions);
    set_tests(header, asked);
    return header;
}

int experiment_resume_open(struct experiment *experiment, struct session *session, struct err *err)
{
    const char *path = session->settings->search.resume;
    struct journal *journal = &experiment->journal;
    journal->fd = -1;
    if (path[0] == '\0')
        return 0;
    if (!session->simulated)
        hostinfo_collect(&session->host, session->directory_fd);
    int result = journal_open(journal, path, session->settings->dry_run, err);
    if (result < 0 || journal->header == NULL)
        return result;
    json_int_t seed = json_integer_value(json_object_get(journal->header, "seed"));
    result = resume_header_compare(session, make_header(session), journal->header, err);
    if (result == 0 && seed < 0)
        result = err_set(err, -EINVAL, "its first line holds no seed");
    if (result < 0)
        return err_prefix(err, "--resume %s", path);
    session->seed = (uint64_t)seed;
    if (journal->torn)
        notes_add(
            &session->warnings, "journal_torn",
            "the last line of %s is not whole, as after an end in the middle of writing: it is left out",
            path);
    return 0;
}

/* A journal keeps only the quantiles of a run's latencies. */
static int take_run(struct experiment *experiment, const struct journal_run *run, struct histogram *latency)
{
    histogram_init(latency);
    latency_quantiles_unfold(&run->sample.latency_quantiles, run->sample.latency_mean_ns, latency);
    int result = experiment_add(experiment, (size_t)run->number, &run->sample, latency);
    experiment->n_taken += result == 0;
    return result;
}

static bool is_ours(const struct experiment *experiment, const struct journal_run *run)
{
    return run->number < experiment->n_runs && !experiment->made[run->number] &&
           factors_equal(&run->point, &experiment->cells[experiment->order[run->number]].record.point);
}

int experiment_resume_take(struct experiment *experiment, struct err *err)
{
    const struct journal *journal = &experiment->journal;
    struct histogram *latency = malloc(sizeof *latency);
    int result = latency == NULL ? -ENOMEM : 0;
    experiment->spent_seconds = journal->spent_seconds;
    for (size_t i = journal->first; i < journal->n_runs && result == 0; i++)
        result = is_ours(experiment, &journal->runs[i])
                     ? take_run(experiment, &journal->runs[i], latency)
                     : err_set(err, -EINVAL,
                               "--resume %s: line %zu is no run of this experiment; name another file",
                               experiment->settings->search.resume, i + 2);
    free(latency);
    return result == -ENOMEM ? err_set(err, result, "no memory for the runs of a journal") : result;
}

int experiment_resume_begin(struct experiment *experiment, struct err *err)
{
    struct session *session = experiment->session;
    struct journal *journal = &experiment->journal;
    if (journal->fd < 0)
        return 0;
    if (journal->header != NULL) {
        session->n_runs = journal->next_number;
        /* A virtual clock goes on, so that drift and trace of a surface do as well. */
        if (session->simulated) {
            uint64_t passed_ns = (uint64_t)(experiment->spent_seconds * 1e9);
            session->simulator.now_ns += passed_ns;
            session->start_ns += passed_ns;
        }
    }
    int result = journal_begin(journal, make_header(session), err);
    return result < 0 ? err_prefix(err, "--resume %s", experiment->settings->search.resume) : 0;
}

void experiment_resume_note(struct experiment *experiment, size_t run, const struct sample *sample)
{
    const struct session *session = experiment->session;
    const struct journal_run line = {
        .number = run,
        .at_seconds =
            experiment->spent_seconds + (double)(clock_now_ns(&session->clock) - experiment->begin_ns) / 1e9,
        .point = experiment->cells[experiment->order[run]].record.point,
        .sample = *sample,
    };
    if (experiment->journal.failed != 0 || experiment->journal.fd < 0)
        return;
    journal_append(&experiment->journal, &line);
    if (experiment->journal.failed != 0)
        notes_add(&experiment->session->warnings, "journal_lost",
                  "%s could not be written (%s): it cannot be resumed from then on",
                  experiment->settings->search.resume, strerror(-experiment->journal.failed));
}
