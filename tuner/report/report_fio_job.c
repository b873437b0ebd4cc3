/* From figures to fio's job. */
#include "tuner/report/report_fio_job.h"

#include "tuner/base/json.h"
#include "tuner/emit/fio_job.h"
#include "tuner/search/objective.h"

#include <math.h>
#include <stdlib.h>

/* fio counts milliseconds. */
#define LEAST_SECONDS 1.0

/* Of a search at one rate; `measure` offers several, beside the figures of the row. */
static double offered_iops(const struct settings *settings, const struct point *point)
{
    if (settings->search.objective == OBJECTIVE_THROUGHPUT)
        return 0;
    return objective_offered_bps(settings, point) / measure_request_bytes(&settings->workload.pattern, point);
}

/* NULL when memory ran out. */
static char *job_text(const struct session *session, const struct row *row, double seconds)
{
    const struct settings *settings = session->settings;
    double cap = (double)measure_cap_bytes(&session->env, &settings->workload.pattern, &row->point);
    double bytes = fmin(row->mean_bps * fmax(seconds, LEAST_SECONDS), cap);
    bool existing = settings->file.existing[0] != '\0';
    struct fio_job job = {
        .pattern = &settings->workload.pattern,
        .point = &row->point,
        .directory = existing ? NULL : settings->file.path,
        .file = existing ? settings->file.existing : NULL,
        .file_bytes = session->simulated ? settings->file.size_bytes : session->target.size_bytes,
        .io_bytes = bytes >= 1 && bytes < 9e18 ? (uint64_t)bytes : 1,
        .cold = session->env.cache == MEASURE_CACHE_COLD,
        .advise = session->env.advise,
        .skew = session->env.skew,
        .content = session->env.content,
        .rate_iops = offered_iops(settings, &row->point),
        .random_rate = settings->workload.rate_process != 0,
        .shared_region = session->env.shared_region,
        .from_surface = session->simulated ? session->simulator.name : NULL,
    };
    char *text = NULL;
    return fio_job_text(&job, &text) == 0 ? text : NULL;
}

void report_fio_job_text(FILE *out, const struct session *session, const struct row *row, double seconds)
{
    char *text = job_text(session, row, seconds);
    if (text != NULL)
        fprintf(out, "\nThe same with fio\n%s", text);
    free(text);
}

json_t *report_fio_job_json(const struct session *session, const struct row *row, double seconds)
{
    char *text = job_text(session, row, seconds);
    json_t *string = text != NULL ? json_text(text) : NULL;
    free(text);
    return string;
}
