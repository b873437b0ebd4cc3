/* tuner/store/save: a run on its way into a history. */
#include "tuner/store/save.h"

#include "bench/base/access.h"
#include "models/statistics/student.h"
#include "tuner/base/fail.h"
#include "tuner/session/json_row.h"
#include "tuner/store/history.h"
#include "tuner/store/resume_header.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct save {
    struct history own;      /* of --save */
    struct history *history; /* that one, or a borrowed one */
    int64_t run_id;          /* 0: not begun, or given up */
    uint64_t n;              /* replays */
    bool begun, failed;
    struct err lost; /* why it failed first */
};

/* What to do, where the reason alone does not tell. */
static const char *remedy_of(int code)
{
    switch (code) {
    case -ENOSPC:
    case -EDQUOT:
    case -EFBIG:
        return "; make room there and measure again, or name a file on another disk with --save";
    case -EBUSY:
        return "; another fstune was writing to it all the time";
    default:
        return "";
    }
}

static int check_writable(const char *path, struct err *err)
{
    int result = access_writable_file(path);
    return result == 0 ? 0 : err_sys(err, result, "history %s: it cannot be written to", path);
}

int save_open(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    const struct history_place place = {
        .path = settings->history.save, .write = !settings->dry_run, .identify = settings->history.identify};
    if (settings->history.save[0] == '\0')
        return 0;
    struct save *save = calloc(1, sizeof *save);
    if (save == NULL)
        return err_set(err, -ENOMEM, "no memory for a history");
    int result = history_open(&save->own, &place, err);
    if (settings->dry_run && (result == 0 || result == -ENOENT) && !sql_is_server(&save->own.db))
        result = check_writable(settings->history.save, err);
    if (result < 0)
        err_set(err, result, "%s%s", err->text, remedy_of(result));
    if (settings->dry_run) {
        history_close(&save->own);
        free(save);
        return result;
    }
    save->history = &save->own;
    session->save = save;
    return result;
}

int save_attach(struct session *session, struct history *history, int64_t run_id)
{
    session->save = calloc(1, sizeof *session->save);
    if (session->save == NULL)
        return -ENOMEM;
    *session->save = (struct save){.history = history, .run_id = run_id, .begun = true};
    return 0;
}

void save_close(struct session *session)
{
    if (session->save != NULL && session->save->history == &session->save->own)
        history_close(&session->save->own);
    free(session->save);
    session->save = NULL;
}

static void give_up(struct session *session, const struct err *err)
{
    if (!session->save->failed)
        session->save->lost = *err;
    session->save->failed = true;
    notes_add(&session->warnings, "history_lost",
              "%s is not complete: what was measured from then on is not in it (%s%s)",
              session->settings->history.save[0] != '\0' ? session->settings->history.save : "the history",
              err->text, remedy_of(err->code));
}

/* What runs mean, as in a journal's first line. */
static int begin(struct session *session, const char *command, struct err *err)
{
    json_t *settings = resume_header_make(session, 0), *system = json_system(session);
    char *identity = history_identity(session);
    json_object_del(settings, "schema");
    json_object_del(settings, "run_ns");
    const struct history_header header = {
        .command = command,
        .target = "",
        .pattern = session->settings->workload.pattern.name,
        .hostname = hostinfo_text(&session->host, "hostname"),
        .identity = identity,
        .settings = settings,
        .system = system,
        .seed = session->seed,
    };
    int result = identity == NULL
                     ? err_set(err, -ENOMEM, "no memory")
                     : history_begin_run(session->save->history, &header, &session->save->run_id, err);
    json_decref(settings);
    json_decref(system);
    free(identity);
    return result;
}

void save_begin(struct session *session, const char *command)
{
    struct err err = {0};
    if (session->save == NULL)
        return;
    session->save->begun = true;
    if (begin(session, command, &err) < 0) {
        session->save->run_id = 0; /* a failed transaction was rolled back */
        give_up(session, &err);
    }
}

static struct history_windows windows_of(const struct pump_windows *windows)
{
    struct history_windows summary = {.seconds = (double)windows->width_ns / 1e9};
    struct moments moments = {0};
    /* The last one was cut off by the end of the run. */
    for (size_t i = 0; i + 1 < windows->n && windows->width_ns > 0; i++) {
        double bps = (double)windows->bytes[i] / summary.seconds;
        summary.least_bps = i == 0 ? bps : fmin(summary.least_bps, bps);
        summary.most_bps = fmax(summary.most_bps, bps);
        moments_add(&moments, bps);
    }
    summary.n = moments.n;
    summary.mean_bps = moments.mean;
    summary.std_bps = moments.std;
    return summary;
}

static bool is_saving(const struct session *session)
{
    return session->save != NULL && session->save->begun && !session->save->failed;
}

void save_note(struct session *session, const struct point *point, const struct sample *sample,
               const struct measure_result *result)
{
    save_note_under(session, "", point, sample, result);
}

void save_note_under(struct session *session, const char *conditions, const struct point *point,
                     const struct sample *sample, const struct measure_result *result)
{
    struct err err = {0};
    if (!is_saving(session))
        return;
    struct history_replay replay = {
        .number = session->save->n++,
        .at_seconds = session_seconds(session),
        .point = *point,
        .sample = *sample,
        .windows = windows_of(&result->windows),
    };
    snprintf(replay.conditions, sizeof replay.conditions, "%s", conditions);
    if (history_add_replay(session->save->history, session->save->run_id, &replay, &err) < 0)
        give_up(session, &err);
}

void save_set_aside(struct session *session)
{
    struct err err = {0};
    if (is_saving(session) && history_set_aside(session->save->history, session->save->run_id, &err) < 0)
        give_up(session, &err);
}

bool save_is_on(const struct session *session)
{
    return session->save != NULL && session->save->begun && session->save->run_id != 0;
}

static enum history_status status_of(int exit_code)
{
    switch (exit_code) {
    case EXIT_DONE:
        return HISTORY_DONE;
    case EXIT_INCONCLUSIVE:
        return HISTORY_INCONCLUSIVE;
    case EXIT_NOTHING:
        return HISTORY_NOTHING;
    default:
        return exit_code > EXIT_SIGNAL ? HISTORY_INTERRUPTED : HISTORY_FAILED;
    }
}

void save_finish(struct session *session, int exit_code, const json_t *answer)
{
    struct err err = {0};
    const char *path = session->settings->history.save;
    const struct save *save = session->save;
    if (session->save == NULL || !session->save->begun)
        return;
    /* A run that never began cannot be finished; one that lost replays keeps its answer, if there is room. */
    int result = -EIO;
    if (save_is_on(session))
        result = history_finish_run(session->save->history, session->save->run_id, status_of(exit_code),
                                    exit_code, answer, &err);
    /* Only the first failure is kept as the reason: later ones follow from it. */
    const struct err *why = save->failed ? &save->lost : &err;
    if (result < 0)
        fail_with(result, "warning: %.200s is not complete: the answer is not in it (%s%s)", path, why->text,
                  remedy_of(why->code));
    else if (save->failed)
        fail_with(0, "warning: %.200s is not complete: runs of this measurement are missing (%s%s)", path,
                  why->text, remedy_of(why->code));
    else if (!session->settings->quiet)
        fprintf(stderr, "saved as run %lld in %s\n", (long long)session->save->run_id, path);
}
