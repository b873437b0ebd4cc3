/* fstune recommend: from a pattern to a proven setting. */
#include "bench/units.h"
#include "tuner/command.h"
#include "tuner/interrupt.h"
#include "tuner/options.h"
#include "tuner/report.h"
#include "tuner/report_text.h"
#include "tuner/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char summary[] =
    "Searches the request size, queue depth, direct I/O setting and I/O API with the highest throughput "
    "(or lowest latency) for a pattern on the file system of a directory, and proves it.";
static const char example[] = "fstune recommend --pattern randwrite --path /var/lib/vms --budget 60s";

static void format_end(const struct settings *settings, char *buffer, size_t size)
{
    time_t end = time(NULL) + (time_t)(settings->budget_ns / CLOCK_NS_PER_S) + 5;
    struct tm parts;
    if (localtime_r(&end, &parts) == NULL || strftime(buffer, size, "%H:%M:%S", &parts) == 0)
        snprintf(buffer, size, "?");
}

/* The plan line of interfaces, section 4: what the command will do at most. */
static void print_plan(FILE *out, const struct session *session, uint64_t file_bytes, size_t n_points)
{
    const struct settings *settings = session->settings;
    char file[UNITS_TEXT_SIZE], writes[UNITS_TEXT_SIZE], end[32];
    format_end(settings, end, sizeof end);
    if (session->simulated) {
        fprintf(out, "plan: %s on simulated surface \"%s\", %zu points, %.0f virtual seconds\n",
                settings->pattern.name, session->surface.name, n_points, (double)settings->budget_ns / 1e9);
        return;
    }
    units_format_size(file_bytes, file);
    units_format_size(pattern_writes(&settings->pattern) ? settings->max_write_bytes : file_bytes, writes);
    const char *place = settings->existing[0] != '\0' ? settings->existing : settings->path;
    fprintf(out, "plan: %s in %s, file of %s%s, at most %s written, %zu points, ends by %s at the latest\n",
            settings->pattern.name, place, file,
            settings->existing[0] != '\0' ? " (existing)" : " (removed afterwards)",
            settings->existing[0] != '\0' && !pattern_writes(&settings->pattern) ? "0" : writes, n_points,
            end);
}

static int file_bytes_of(struct session *session, uint64_t *ret_bytes, struct err *err)
{
    *ret_bytes = UINT64_MAX;
    if (session->simulated)
        return 0;
    if (session->settings->existing[0] == '\0')
        return session_estimate(session, ret_bytes, err);
    struct target target;
    const struct settings *settings = session->settings;
    int result = target_open_existing(&target, settings->existing, pattern_writes(&settings->pattern),
                                      settings->overwrite, err);
    if (result < 0)
        return result;
    *ret_bytes = target.size_bytes;
    target_close(&target);
    return 0;
}

/* Everything that can be refused before a byte is written. */
static int plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    struct candidates candidates = {0};
    uint64_t file_bytes = 0;
    int result = file_bytes_of(session, &file_bytes, err);
    if (result == 0)
        result = candidates_build(&candidates, session, file_bytes, err);
    if (result == 0)
        result = tune_check(session, &candidates, file_bytes, err);
    if (result < 0) {
        candidates_free(&candidates);
        return result;
    }
    if (settings->dry_run && settings->json) {
        result = report_plan_json(stdout, session, file_bytes, candidates.n, err);
    } else if (settings->dry_run) {
        print_plan(stdout, session, file_bytes, candidates.n);
        text_notes(stdout, "Not in the space", &session->dropped, true);
    } else if (!settings->quiet) {
        print_plan(stderr, session, file_bytes, candidates.n);
    }
    candidates_free(&candidates);
    session->dropped.n = 0;
    return result;
}

static int exit_code(const struct answer *answer)
{
    int number = atomic_load(&interrupt_signal);
    if (number != 0)
        return EXIT_SIGNAL + number;
    if (!answer->has_rows)
        return EXIT_NOTHING;
    return answer->tune->conclusive ? EXIT_DONE : EXIT_INCONCLUSIVE;
}

static int print_result(struct tune *tune, struct err *err)
{
    struct answer answer;
    struct session *session = tune->session;
    progress_clear(&session->progress);
    if (!session->simulated)
        hostinfo_collect_load(&session->host, session->directory_fd, "after");
    answer_prepare(&answer, tune);
    int result = tune->settings->json ? report_recommendation_json(stdout, &answer, err)
                                      : report_recommendation_text(stdout, &answer, err);
    return result < 0 ? result : exit_code(&answer);
}

static int measure_and_print(struct session *session, struct err *err)
{
    /* What an answer needs when the preparation is interrupted and no search begins. */
    struct tune tune = {.session = session,
                        .settings = session->settings,
                        .search = search_find(session->settings->method),
                        .lowest_p99_ns = NAN};
    tune.best = tune.chosen = tune.baseline = tune.standard = TUNE_NONE;
    int result = session_prepare(session, err);
    if (result == 0)
        result = tune_init(&tune, session, err);
    if (result == 0)
        result = tune_run(&tune, err);
    progress_clear(&session->progress);
    if (result == -EINTR) {
        tune.stop = TUNE_STOP_INTERRUPTED;
        result = 0;
    }
    if (result == 0)
        result = print_result(&tune, err);
    tune_done(&tune);
    return result;
}

static int run(const struct settings *settings)
{
    struct err err = {0};
    struct session *session = malloc(sizeof *session);
    if (session == NULL)
        return command_fail(EXIT_FAILED, "no memory");
    int result = session_open(session, settings, &err);
    int code = EXIT_DONE;
    if (result == 0)
        result = plan(session, &err);
    if (result < 0) {
        code = command_fail(settings->dry_run && ferror(stdout) ? EXIT_FAILED : EXIT_USAGE, "%s", err.text);
    } else if (!settings->dry_run) {
        result = measure_and_print(session, &err);
        code =
            result >= 0 ? result : command_fail(result == -EINVAL ? EXIT_USAGE : EXIT_FAILED, "%s", err.text);
    }
    /* A thread that hangs in the kernel still uses it. */
    if (!session->abandoned) {
        session_close(session);
        free(session);
    }
    return code;
}

static int recommend(int argc, char **argv)
{
    struct err err = {0};
    /* Static, because a run that hangs in the kernel goes on reading it while the process ends. */
    static struct settings settings;
    settings_init(&settings);
    int result = options_parse(&settings, OPTIONS_RECOMMEND, argc, argv, 1, &err), code;
    if (result == 1) {
        options_print_help(stdout, "recommend", summary, OPTIONS_RECOMMEND, example);
        code = EXIT_DONE;
    } else if (result < 0) {
        code = command_fail(EXIT_USAGE, "%s", err.text);
    } else if (!settings.pattern_given) {
        code = command_fail(
            EXIT_USAGE, "--pattern is missing; give read, write, randread, randwrite, rw:70, randrw:70 ...");
    } else {
        code = run(&settings);
    }
    return code;
}

const struct command command_recommend = {
    .name = "recommend",
    .summary = "find the best setting for a pattern, with evidence",
    .run = recommend,
};
