/* tuner/nightly/retune_trial: snippets of answers that nobody measured. */
#include "tuner/nightly/retune_trial.h"

#include "tuner/base/json.h"
#include "tuner/emit/report_snippet.h"

#include <errno.h>
#include <stdlib.h>

/* Formats refuse some sizes and one of the modes: the smallest and the largest stand for all. */
static const struct point trials[] = {{1048576, 8, 1, API_IO_URING, 1, SYNC_END, 0},
                                      {1048576, 1, 0, API_PSYNC, 1, SYNC_END, 0},
                                      {4096, 8, 1, API_IO_URING, 1, SYNC_END, 0},
                                      {4096, 1, 0, API_PSYNC, 1, SYNC_END, 0}};

/* The disk's name is known in the night only: one that every format takes stands for it. */
static json_t *make_answer(const struct retune_target *target, const struct point *point)
{
    const struct settings *settings = &target->settings;
    return json_pack("{s:s, s:s, s:b, s:{s:s}, s:o, s:{s:s, s:f, s:f, s:f, s:f, s:i, s:f}, s:{s:f}, "
                     "s:{s:f, s:f}, s:b, s:{s:b, s:o, s:s, s:s}}",
                     "schema", "fstune/recommendation/1", "version", FSTUNE_VERSION, "interrupted", 0,
                     "pattern", "name", settings->workload.pattern.name, "recommendation", json_point(point),
                     "throughput", "unit", "bytes/s", "mean", 1e9, "ci_low", 9e8, "ci_high", 1.1e9, "std",
                     1e7, "replays", 7, "confidence", 0.95, "iops", "mean", 1e4, "latency_ns", "mean", 1e5,
                     "p99", 1e6, "conclusive", 1, "system", "simulated", settings->file.simulate[0] != '\0',
                     "path", json_text(settings->file.path), "device", "sda", "device_whole", "sda");
}

static int try_one(const struct retune_target *target, const struct point *point, struct err *err)
{
    struct recommendation recommendation;
    char *text = NULL, *remarks = NULL;
    json_t *answer = make_answer(target, point);
    if (answer == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = recommendation_read(&recommendation, answer, err);
    if (result == 0) {
        const struct snippet_request request =
            report_snippet_request(&target->settings.snippet, &recommendation, 1);
        result = snippet_make(snippet_find(target->settings.snippet.format), &request, &text, &remarks, err);
    }
    free(text);
    free(remarks);
    json_decref(answer);
    return result;
}

int retune_trial_snippet(const struct retune_target *target, struct err *err)
{
    struct err first = {0}, own = {0};
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        int result = try_one(target, &trials[i], i == 0 ? &first : &own);
        if (result != -EINVAL)
            return result < 0 ? err_set(err, result, "no memory") : 0;
    }
    return err_set(err, -EINVAL, "emit = \"%s\": %.300s", target->settings.snippet.format, first.text);
}
