/* tuner/nightly/retune_snippet: snippets of answers, of those too that nobody measured. */
#include "tuner/nightly/retune_config.h"

#include "tuner/base/json.h"
#include "tuner/emit/report_snippet.h"

#include <errno.h>
#include <stdlib.h>

/* Formats refuse some sizes and one of the modes: the smallest and the largest stand for all. */
static const struct point trials[] = {{1048576, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0},
                                      {1048576, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0},
                                      {4096, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0},
                                      {4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0}};

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

int retune_snippet_make(const struct retune_target *target, const json_t *answer, char **ret_text,
                        struct err *err)
{
    const struct settings_snippet *settings = &target->settings.snippet;
    struct recommendation recommendation;
    char *remarks = NULL;
    int result = recommendation_read(&recommendation, answer, err);
    if (result < 0)
        return result;
    const struct snippet_request request = report_snippet_request(settings, &recommendation, 1);
    result = snippet_make(snippet_find(settings->format), &request, ret_text, &remarks, err);
    free(remarks);
    return result;
}

int retune_snippet_check(const struct retune_target *target, struct err *err)
{
    struct err first = {0}, own = {0};
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        char *text = NULL;
        json_t *answer = make_answer(target, &trials[i]);
        int result =
            answer != NULL ? retune_snippet_make(target, answer, &text, i == 0 ? &first : &own) : -ENOMEM;
        free(text);
        json_decref(answer);
        if (result != -EINVAL)
            return result < 0 ? err_set(err, result, "no memory") : 0;
    }
    return err_set(err, -EINVAL, "emit = \"%s\": %.300s", target->settings.snippet.format, first.text);
}
