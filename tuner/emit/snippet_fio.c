/* fstune emit fio: a job that repeats the measurement. */
#include "bench/host/hostinfo.h"
#include "bench/run/measure.h"
#include "tuner/emit/fio_job.h"
#include "tuner/emit/snippet_template.h"
#include "tuner/options/skew_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_DIRECTORY      "/path/to/directory"
#define FILE_BYTES        (1ULL << 30) /* where the answer does not say: the default of --file-size */
#define SECONDS           2.0
#define COLD_RANDOM_SHARE 4 /* buffered random reads stop at a quarter of the file, as fstune's do */

/* To fio these end a value, start a variable or escape: it cannot open a file that has one in its name. */
#define REFUSED ";#$\\\""

/* fio makes a file of its own in the directory of the image, which it never opens. */
static void set_directory(const struct snippet_request *request, char directory[RECOMMENDATION_PATH_SIZE])
{
    const char *image = request->image, *measured = request->recommendation->path;
    if (image[0] == '\0') {
        snprintf(directory, RECOMMENDATION_PATH_SIZE, "%s", measured[0] != '\0' ? measured : NO_DIRECTORY);
        return;
    }
    const char *slash = strrchr(image, '/');
    if (slash == NULL)
        snprintf(directory, RECOMMENDATION_PATH_SIZE, ".");
    else
        snprintf(directory, RECOMMENDATION_PATH_SIZE, "%.*s", slash == image ? 1 : (int)(slash - image),
                 image);
}

static int check_directory(const char *directory, bool is_given, struct err *err)
{
    size_t length = strlen(directory);
    if (is_given && (strcmp(directory, "/dev") == 0 ||
                     (strncmp(directory, "/dev/", 5) == 0 && strncmp(directory, "/dev/shm", 8) != 0)))
        return err_set(err, -EINVAL,
                       "--image %.200s/... is a device, and the job never touches one; give a file or a "
                       "directory/ on a file system",
                       directory);
    if (directory[0] == ' ' || directory[length - 1] == ' ')
        return err_set(err, -EINVAL, "the path '%.200s' begins or ends with a blank, which fio cuts off",
                       directory);
    return snippet_check_path(directory, REFUSED, err);
}

static uint64_t file_bytes_of(const struct recommendation *recommendation)
{
    double bytes = recommendation_fact_number(recommendation, "test_file_bytes");
    return bytes >= 1 && bytes < 9e15 ? (uint64_t)bytes : FILE_BYTES;
}

/* What the measured rate moves in a short time, and no more than one pass over the file. */
static uint64_t io_bytes_of(const struct recommendation *recommendation, const struct fio_job *job)
{
    bool caches = recommendation->point.direct == 0 && recommendation->pattern.percent[PATTERN_RAND_READ] > 0;
    uint64_t most = job->cold && caches ? job->file_bytes / COLD_RANDOM_SHARE : job->file_bytes;
    double bytes = SECONDS * recommendation->mean_bps;
    return isfinite(bytes) && bytes >= 1 && bytes < (double)most ? (uint64_t)bytes : most;
}

/* 0 where the answer does not have it. */
static double share_of(const struct recommendation *recommendation, const char *key)
{
    double share = recommendation_fact_number(recommendation, key);
    return share > 0 && share < 1 ? share : 0;
}

/* 0: as fast as it goes. */
static double rate_iops_of(const struct recommendation *recommendation)
{
    double iops =
        recommendation->offered_bps / measure_request_bytes(&recommendation->pattern, &recommendation->point);
    return isfinite(iops) && iops > 0 ? iops : 0;
}

int snippet_own_fio(struct snippet_template *run)
{
    const struct snippet_request *request = run->request;
    const struct recommendation *recommendation = request->recommendation;
    const char *cache = recommendation_fact_text(recommendation, "cache");
    char directory[RECOMMENDATION_PATH_SIZE], *text = NULL;
    set_directory(request, directory);
    if (request->image[0] == '\0' && strcmp(recommendation->file_system, HOSTINFO_NO_FILE_SYSTEM) == 0)
        return err_set(run->err, -EINVAL,
                       "measured on the device %.200s, and the job never touches one; give a directory/ on a "
                       "file system as --image",
                       recommendation->path);
    int result = check_directory(directory, request->image[0] != '\0', run->err);
    if (result < 0)
        return result;
    struct fio_job job = {
        .pattern = &recommendation->pattern,
        .point = &recommendation->point,
        .directory = directory,
        .file_bytes = file_bytes_of(recommendation),
        .cold = cache == NULL || strcmp(cache, "warm") != 0,
        .from_surface =
            recommendation->simulated ? recommendation_fact_text(recommendation, "surface") : NULL,
    };
    const char *skew = recommendation_fact_text(recommendation, "skew");
    if (skew != NULL && skew_text_parse(skew, &job.skew, run->err) < 0)
        return -EINVAL;
    job.content.zero_share = share_of(recommendation, "compressible_share");
    job.content.repeat_share = share_of(recommendation, "dedupe_share");
    job.rate_iops = rate_iops_of(recommendation);
    job.random_rate = recommendation->offered_at_random;
    job.io_bytes = io_bytes_of(recommendation, &job);
    if (job.file_bytes / factors_largest_size_bytes(&recommendation->point) <
        (uint64_t)recommendation->point.threads * recommendation->point.queue_depth)
        return err_set(
            run->err, -EINVAL,
            "the test file is too small for so many requests; measure again with a larger --file-size");
    if (fio_job_text(&job, &text) < 0)
        return -ENOMEM;
    /* The template ends the last line. */
    snippet_value(run, "job", "%.*s", (int)strlen(text) - 1, text);
    snippet_value(run, "file_gb", "%.1f", (double)job.file_bytes / 1e9);
    free(text);
    return 0;
}
