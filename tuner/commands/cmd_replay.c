/* fstune replay: a load that was recorded, made again on a file of our own. */
#include "bench/base/err.h"
#include "bench/base/pattern.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/profile/load_replay.h"
#include "tuner/report/report_plan.h"

#include <errno.h>
#include <inttypes.h>

#define LEAST_FILE_BYTES TARGET_SIZE_MIN_BYTES

/* Read before the session opens, because the file's size follows from it. */
static struct load_list list;

static int settle(struct settings *settings, struct err *err)
{
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL,
                       "the load is missing; write fstune replay FILE, which fstune profile --output or "
                       "fio --write_iolog made");
    if (settings->profile.timed && settings->profile.untimed)
        return err_set(err, -EINVAL, "--timed and --as-fast-as-possible: give one of them");
    int code = load_list_read(&list, settings->operands[0], settings->file.size_bytes, settings->seed, err);
    if (code < 0)
        return code;
    if (!settings->file.size_given)
        settings->file.size_bytes = list.span_bytes > LEAST_FILE_BYTES ? list.span_bytes : LEAST_FILE_BYTES;
    /* It must not shrink below what the requests need. */
    settings->file.size_given = true;
    code = settings->output[0] != '\0' ? publish_check(settings->output, err) : 0;
    return code == 0 ? pattern_parse(list.writes ? "rw" : "read", &settings->workload.pattern, err) : code;
}

static uint64_t written_bytes(void)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < list.n; i++)
        bytes += list.items[i].writes ? list.items[i].n_bytes : 0;
    return bytes;
}

static int plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    uint64_t file_bytes = 0, written = written_bytes();
    char bytes[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
    int code = session_estimate(session, &file_bytes, err);
    if (code < 0)
        return code;
    if (file_bytes + written > settings->limits.max_write_bytes)
        return err_set(err, -EFBIG, "%s are to be written, the file included, and %s may be (--max-write)",
                       units_format_bytes(file_bytes + written, bytes),
                       units_format_bytes(settings->limits.max_write_bytes, most));
    session->seconds_at_most = list.seconds + report_plan_fill_seconds(settings, file_bytes);
    if (settings->dry_run && settings->json)
        return report_plan_json(stdout, session, file_bytes, 1, err);
    FILE *out = command_plan_stream(settings);
    if (out == NULL)
        return 0;
    fprintf(out, "plan: %zu requests, %" PRIu32 " in flight%s, %s", list.n, list.depth,
            list.direct ? ", direct" : "",
            settings->profile.timed ? "each in its time" : "as fast as possible");
    if (list.writes)
        fprintf(out, ", %s written", units_format_bytes(written, bytes));
    report_plan_end(out, session, file_bytes);
    return 0;
}

static int print_document(FILE *out, const void *what, struct err *err)
{
    const json_t *document = what;
    return json_print(out, json_deep_copy(document), err);
}

static int deliver(const struct load_replay *replayed, const struct settings *settings, struct err *err)
{
    int code = 0;
    if (settings->output[0] != '\0')
        code = publish_print(settings->output, print_document, replayed->profile, err);
    if (code < 0)
        return code;
    return settings->json ? print_document(stdout, replayed->profile, err)
                          : load_replay_print(stdout, replayed, err);
}

static int replay(struct session *session, struct err *err)
{
    struct load_replay replayed = {.list = &list, .timed = session->settings->profile.timed};
    int code = session_prepare(session, err);
    if (code == 0 && list.direct && session->target.direct_read == TARGET_DIRECT_REFUSED)
        code = err_set(err, -EOPNOTSUPP, "the load is direct, and there is no direct I/O in %.200s",
                       session->settings->file.path);
    if (code == 0)
        code = load_replay_run(&replayed, session, err);
    progress_clear(&session->progress);
    if (code == 0)
        code = load_replay_compare(&replayed, err);
    if (code == 0)
        code = deliver(&replayed, session->settings, err);
    if (code == 0)
        code = command_code(replayed.is_alike ? EXIT_DONE : EXIT_INCONCLUSIVE);
    load_replay_close(&replayed);
    if (!session->abandoned)
        load_list_free(&list);
    return code;
}

const struct command command_replay = {
    .name = "replay",
    .summary = "make a recorded load again, on a file of its own",
    .usage = "FILE",
    .n_operands = 1,
    .run = command_run_measuring,
    .description = "Repeats the load of a profile or of fio's iolog with requests of its own on a new file, "
                   "never on the files of the program, and says how alike both are.",
    .example = "fstune replay profile.json --path /srv --timed",
    .options = OPTIONS_REPLAY,
    .settle = settle,
    .plan = plan,
    .measure = replay,
};
