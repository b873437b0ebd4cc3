/* A target for each number of files that an experiment varies. Their data are not shared: files of one size
 * cannot be the beginnings of larger ones and hold all data between them as well. */
#include "tuner/experiment/experiment.h"

#include "tuner/base/worker.h"

#include <errno.h>
#include <stdlib.h>

struct experiment_target {
    uint32_t n_files;
    uint64_t whole_bytes;
    struct target target;
};

/* On the heap, because an abandoned thread goes on using it. */
struct making {
    struct session *session;
    struct experiment_target made;
    struct err err;
};

static int make_target_of_files(void *context)
{
    struct making *making = context;
    return session_make_target(making->session, making->made.n_files, &making->made.target, &making->err);
}

static int add_target(struct experiment *experiment, uint32_t n_files, struct err *err)
{
    struct session *session = experiment->session;
    struct making *making = calloc(1, sizeof *making);
    if (making == NULL)
        return err_set(err, -ENOMEM, "no memory for a target");
    *making = (struct making){.session = session, .made = {.n_files = n_files, .target = {.fd = -1}}};
    int result = worker_call_until(session->end_ns, make_target_of_files, making, &session->abandoned, err);
    progress_clear(&session->progress);
    if (session->abandoned)
        return result;
    session->bytes_written += making->made.target.filled_bytes + making->made.target.proof_bytes;
    if (result < 0 && making->err.code != 0)
        err_set(err, result, "--files %u: %s", n_files, making->err.text);
    if (result == 0) {
        making->made.whole_bytes = making->made.target.size_bytes;
        experiment->targets[experiment->n_targets++] = making->made;
    }
    free(making);
    return result;
}

int experiment_targets_make(struct experiment *experiment, struct err *err)
{
    uint64_t counts[EXPERIMENT_MAX_LEVELS];
    struct session *session = experiment->session;
    size_t n = experiment_levels(experiment, FACTOR_N + CONDITION_FILES, counts);
    if (session->n_targets < 2)
        return 0;
    /* A design that leaves out points may leave out all that the session's own target is for. */
    experiment->targets = calloc(n + 1, sizeof *experiment->targets);
    if (experiment->targets == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu targets", n);
    experiment->targets[experiment->n_targets++] = (struct experiment_target){
        .n_files = target_n_files(&session->target),
        .whole_bytes = session->target.size_bytes,
        .target = session->target,
    };
    int result = 0;
    for (size_t i = 0; i < n && result == 0; i++) {
        if (counts[i] != experiment->targets[0].n_files)
            result = add_target(experiment, (uint32_t)counts[i], err);
    }
    return result;
}

void experiment_targets_enter(const struct experiment *experiment, uint64_t n_files, uint64_t file_bytes)
{
    struct session *session = experiment->session;
    for (size_t i = 0; i < experiment->n_targets; i++) {
        const struct experiment_target *chosen = &experiment->targets[i];
        if (chosen->n_files != n_files)
            continue;
        session->target = chosen->target;
        /* Equal parts of whole MiB may sum to a little less. */
        file_bytes = file_bytes < chosen->whole_bytes ? file_bytes : chosen->whole_bytes;
    }
    session->target.size_bytes = file_bytes;
    session->target_facts.file_bytes = file_bytes;
}

void experiment_targets_done(struct experiment *experiment)
{
    if (experiment->n_targets == 0 || experiment->session->abandoned)
        return;
    experiment_leave(experiment);
    /* The first one is the session's. */
    for (size_t i = 1; i < experiment->n_targets; i++)
        target_close(&experiment->targets[i].target);
    free(experiment->targets);
    experiment->targets = NULL;
    experiment->n_targets = 0;
}
