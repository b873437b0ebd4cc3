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

/* The command ends 5 s after its budget, whatever the kernel does: this leaves time for giving a thread up
 * and for the answer. */
#define LATE_NS (3 * CLOCK_NS_PER_S)

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

/* Everything that can be refused before a byte is written. */
static int check_and_print_plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    struct candidates candidates = {0};
    uint64_t file_bytes = 0;
    int result = session_estimate(session, &file_bytes, err);
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
    if (number > 0)
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
    session->end_ns = session->start_ns + session->settings->budget_ns + LATE_NS;
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

const struct command command_recommend = {
    .name = "recommend",
    .summary = "find the best setting for a pattern, with evidence",
    .run = command_run_measuring,
    .description =
        "Searches the request size, queue depth, direct I/O setting and I/O API with the highest throughput "
        "(or lowest latency) for a pattern on the file system of a directory, and proves it.",
    .example = "fstune recommend --pattern randwrite --path /var/lib/vms --budget 60s",
    .options = OPTIONS_RECOMMEND,
    .plan = check_and_print_plan,
    .measure = measure_and_print,
};
