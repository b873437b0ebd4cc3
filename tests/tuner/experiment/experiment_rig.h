/* tests/tuner/experiment/experiment_rig: an experiment on a simulated surface, for the tests of
 * tuner/experiment/experiment*. */
#pragma once

#include "tests/tuner/rig.h"
#include "tuner/experiment/experiment.h"
#include "tuner/options/experiment_config.h"

#define EXPERIMENT_MAX_WORDS 32

static struct settings settings, line;
static struct session *session;
static struct experiment experiment;
static struct err err;

static inline int enter(void **state)
{
    if (rig_enter(state) != 0)
        return -1;
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    rig_simulator("still", "", rig_peak_bps);
    return 0;
}

/* Reads the words of a command line behind `fstune experiment`. */
static inline int read_line(const char *words)
{
    char copy[1024], *argv[EXPERIMENT_MAX_WORDS] = {(char *)"experiment"};
    int argc = 1;
    assert_true((size_t)snprintf(copy, sizeof copy, "%s", words) < sizeof copy);
    for (char *word = strtok(copy, " "); word != NULL && argc < EXPERIMENT_MAX_WORDS;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    memset(&err, 0, sizeof err);
    int result = experiment_config_scan(&line, argc, argv, &err);
    return result == 0 ? experiment_config_read(&settings, &line, argc, argv, NULL, &err) : result;
}

static inline void done(void)
{
    if (session == NULL)
        return;
    experiment_targets_done(&experiment);
    experiment_done(&experiment);
    rig_close_session(session);
    session = NULL;
}

static inline int end_experiment(__attribute__((unused)) void **state)
{
    done();
    return 0;
}

/* A file of tests each of which may leave an experiment behind. */
#define EXPERIMENTS(setup)                                                                                   \
    GROUP(setup, rig_leave);                                                                                 \
    EACH_TEST(NULL, end_experiment)

/* Up to the plan; negative where the design is refused. The experiment before is over. */
static inline int plan(const char *words)
{
    done();
    memset(&experiment, 0, sizeof experiment);
    if (read_line(words) != 0)
        fail_msg("%s", err.text);
    session = rig_open_session(&settings);
    int result = experiment_resume_open(&experiment, session, &err);
    if (result == 0)
        result = experiment_plan(&experiment, session, &err);
    return result == 0 ? experiment_resume_take(&experiment, &err) : result;
}

static inline void run(const char *words)
{
    if (plan(words) != 0 || experiment_check(&experiment, &err) != 0 ||
        experiment_resume_begin(&experiment, &err) != 0 || experiment_run(&experiment, &err) != 0)
        fail_msg("%s", err.text);
}
