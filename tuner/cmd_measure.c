/* fstune measure: one point, with its interval. */
#include "bench/units.h"
#include "tuner/candidates.h"
#include "tuner/command.h"
#include "tuner/interrupt.h"
#include "tuner/options.h"
#include "tuner/report.h"
#include "tuner/report_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct measurement {
    struct session *session;
    const struct settings *settings;
    struct record record;
    bool interrupted;
};

static int point_of(const struct settings *settings, struct point *ret_point, struct err *err)
{
    static const char *const required[] = {"request-size", "queue-depth", "direct", "api"};
    const struct levels *levels = settings->levels;
    for (int factor = FACTOR_REQUEST_SIZE; factor <= FACTOR_API; factor++) {
        if (levels[factor].n != 1)
            return err_set(err, -EINVAL, "--%s is missing; measure needs one value of every factor",
                           required[factor]);
    }
    *ret_point = (struct point){
        .request_size_bytes = levels[FACTOR_REQUEST_SIZE].value[0],
        .queue_depth = (uint32_t)levels[FACTOR_QUEUE_DEPTH].value[0],
        .direct = (uint32_t)levels[FACTOR_DIRECT].value[0],
        .api = (enum api)levels[FACTOR_API].value[0],
        .threads = levels[FACTOR_THREADS].n == 1 ? (uint32_t)levels[FACTOR_THREADS].value[0] : 1,
        .sync = levels[FACTOR_SYNC].n == 1 ? (enum sync)levels[FACTOR_SYNC].value[0] : SYNC_END,
    };
    if (settings->simulate[0] != '\0' && ret_point->sync != SYNC_END)
        return err_set(err, -EINVAL, "--sync: a simulated surface knows only sync end");
    return factors_check(ret_point, err);
}

static struct measure_plan plan_of(const struct settings *settings, const struct point *point)
{
    return (struct measure_plan){
        .pattern = settings->pattern,
        .point = *point,
        .duration_ns = settings->duration_ns,
        .warmup_limit_ns = settings->warmup_limit_ns,
        .warmup_coef = settings->warmup_coef_share,
        .warmup_window = settings->warmup_window,
        .batch_requests = settings->batch_requests,
    };
}

static int one_replay(struct measurement *measurement, struct histogram *latency, struct err *err)
{
    struct session *session = measurement->session;
    struct measure_plan plan = plan_of(measurement->settings, &measurement->record.point);
    struct measure_result result;
    histogram_init(latency);
    int code = session_measure(session, &plan, &result, latency, err);
    if (code < 0)
        return code;
    struct sample sample =
        sample_of(&plan, &result, latency, session->env.cache == MEASURE_CACHE_COLD && !session->simulated);
    return record_add(&measurement->record, &sample, latency) < 0
               ? err_set(err, -ENOMEM, "no memory for a replay")
               : 0;
}

static int replay_all(struct measurement *measurement, struct err *err)
{
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    int result = 0;
    for (uint32_t i = 0; i < measurement->settings->replays && result == 0; i++) {
        progress_show(&measurement->session->progress, "replay %u of %u", i + 1,
                      measurement->settings->replays);
        result = one_replay(measurement, latency, err);
    }
    free(latency);
    if (result == -EDQUOT && measurement->session->wrote_out && measurement->record.n > 0) {
        notes_add(&measurement->session->warnings, "max_write", "fewer replays than asked for: %s",
                  err->text);
        result = 0;
    }
    measurement->interrupted = result == -EINTR;
    return measurement->interrupted ? 0 : result;
}

static json_t *json_run(const struct sample *sample)
{
    return json_pack("{s:o, s:o, s:b, s:b, s:o, s:I, s:o}", "throughput", json_number(sample->throughput_bps),
                     "warmup_seconds", json_number(sample->warmup_seconds), "stable",
                     sample->warmup == MEASURE_WARMUP_STABLE, "warmed_up",
                     sample->warmup != MEASURE_WARMUP_NONE, "seconds", json_number(sample->seconds), "bytes",
                     (json_int_t)sample->bytes, "latency_mean_ns", json_number(sample->latency_mean_ns));
}

static int print_json(const struct measurement *measurement, const struct row *row, bool known,
                      struct err *err)
{
    const struct session *session = measurement->session;
    json_t *runs = json_array();
    for (size_t i = 0; i < measurement->record.n; i++)
        json_array_append_new(runs, json_run(&measurement->record.samples[i]));
    json_t *object = json_pack(
        "{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "fstune/measurement/1", "version",
        REPORT_VERSION, "interrupted", measurement->interrupted, "pattern",
        json_pattern(&measurement->settings->pattern), "row", known ? json_row(row) : json_null(),
        "throughput", known ? json_throughput(row, measurement->settings->confidence_share) : json_null(),
        "iops", known ? json_pack("{s:o}", "mean", json_number(row->iops)) : json_null(), "latency_ns",
        known ? json_latency(&row->latency_ns) : json_null(), "runs", runs);
    if (object == NULL)
        return json_print(stdout, NULL, err);
    json_object_set_new(object, "seconds", json_number(session_seconds(session)));
    json_object_set_new(object, "bytes_written", json_integer((json_int_t)session->bytes_written));
    json_object_set_new(object, "bytes_read", json_integer((json_int_t)session->bytes_read));
    json_object_set_new(object, "seed", json_integer((json_int_t)session->seed));
    json_object_set_new(object, "warnings", json_notes(&session->warnings, "code", "text"));
    json_object_set_new(object, "system", json_system(session));
    return json_print(stdout, object, err);
}

static int print_text(const struct measurement *measurement, const struct row *row, bool known,
                      struct err *err)
{
    char text[FACTORS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    const struct session *session = measurement->session;
    printf("%s, %s, on ", measurement->settings->pattern.name,
           factors_format(&measurement->record.point, text));
    text_place(stdout, session);
    puts(measurement->interrupted ? "  (interrupted)\n" : "\n");
    if (known) {
        fputs("Throughput   ", stdout);
        text_rate(stdout, row, measurement->settings->confidence_share);
        printf("\nIOPS         %s\nLatency      ", units_format_count(row->iops, count));
        text_latency(stdout, &row->latency_ns);
        printf("\nDepth        %.1f achieved of %u\n", row->achieved_depth, row->point.queue_depth);
    } else {
        puts("No replay was completed.");
    }
    printf("Seed         %llu\n", (unsigned long long)session->seed);
    text_notes(stdout, "Worth knowing", &session->warnings, false);
    return text_finish(stdout, err);
}

static int print_result(struct measurement *measurement, struct err *err)
{
    struct row row = {0};
    struct session *session = measurement->session;
    progress_clear(&session->progress);
    if (!session->simulated)
        hostinfo_collect_load(&session->host, session->directory_fd, "after");
    bool known = row_of(&measurement->record, false, measurement->settings->confidence_share, &row) == 0;
    report_note_cautions(&session->warnings, row.cautions);
    int result = measurement->settings->json ? print_json(measurement, &row, known, err)
                                             : print_text(measurement, &row, known, err);
    int number = atomic_load(&interrupt_signal);
    return result < 0 ? result : number != 0 ? EXIT_SIGNAL + number : EXIT_DONE;
}

static void print_plan(const struct settings *settings, const struct point *point, uint64_t file_bytes,
                       FILE *out)
{
    char text[FACTORS_TEXT_SIZE], size[UNITS_TEXT_SIZE], duration[UNITS_TEXT_SIZE];
    fprintf(out, "plan: %s, %s, %u replays of %s", settings->pattern.name, factors_format(point, text),
            settings->replays, units_format_duration(settings->duration_ns, duration));
    if (settings->simulate[0] == '\0') {
        bool existing = settings->existing[0] != '\0', writes = pattern_writes(&settings->pattern);
        uint64_t replay_ns = settings->warmup_limit_ns + settings->duration_ns + MEASURE_SETTLE_NS;
        uint64_t most_bytes = writes ? settings->max_write_bytes : existing ? 0 : file_bytes;
        fprintf(out, " on a file of %s%s", units_format_size(file_bytes, size),
                existing ? " (existing)" : " (removed afterwards)");
        fprintf(out, ", at most %s written", units_format_size(most_bytes, size));
        fprintf(out, ", a replay takes about %s at most", units_format_duration(replay_ns, duration));
    }
    fputc('\n', out);
}

static int check_and_print_plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    struct point point;
    uint64_t file_bytes = 0;
    int result = point_of(settings, &point, err);
    if (result == 0)
        result = session_estimate(session, &file_bytes, err);
    if (result == 0)
        result = candidates_check(session, &point, file_bytes, err);
    if (result < 0)
        return result;
    if (settings->dry_run && settings->json)
        return report_plan_json(stdout, session, file_bytes, 1, err);
    if (settings->dry_run || !settings->quiet)
        print_plan(settings, &point, file_bytes, settings->dry_run ? stdout : stderr);
    return 0;
}

static int measure_and_print(struct session *session, struct err *err)
{
    struct measurement measurement = {.session = session, .settings = session->settings};
    int result = point_of(session->settings, &measurement.record.point, err);
    if (result == 0)
        result = session_prepare(session, err);
    if (result == 0 && !session->simulated)
        result = candidates_check(session, &measurement.record.point, session->target.size_bytes, err);
    if (result == 0)
        result = replay_all(&measurement, err);
    measurement.interrupted |= result == -EINTR;
    if (result == 0 || result == -EINTR)
        result = print_result(&measurement, err);
    progress_clear(&session->progress);
    record_done(&measurement.record);
    return result;
}

const struct command command_measure = {
    .name = "measure",
    .summary = "measure one setting, with its interval",
    .run = command_run_measuring,
    .description =
        "Measures one setting for a pattern: throughput and latency with Student-t intervals over replays.",
    .example = "fstune measure --pattern randread --request-size 4k --queue-depth 32 --direct 1 --api "
               "io_uring --replays 5",
    .options = OPTIONS_MEASURE,
    .plan = check_and_print_plan,
    .measure = measure_and_print,
};
