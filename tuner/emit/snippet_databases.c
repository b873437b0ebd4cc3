/* tuner/emit/snippet: figures of databases that have to be calculated, and KubeVirt's names. */
#include "tuner/emit/snippet_template.h"

#include <math.h>
#include <string.h>

#define PAGE_BYTES     16384U
#define CAPACITY_SHARE 0.75
#define CAPACITY_MOST  20000.0 /* more is advised against unless lower values have failed */

static bool is_of_pages(const struct recommendation *recommendation)
{
    const uint32_t *percent = recommendation->pattern.percent;
    return percent[PATTERN_RAND_READ] + percent[PATTERN_RAND_WRITE] == 100 &&
           factors_largest_size_bytes(&recommendation->point) == PAGE_BYTES &&
           recommendation->point.request_size_bytes == PAGE_BYTES;
}

/* Writes of pages a second: NaN where the measurement says nothing about them. Rates that memory could have
 * absorbed do not count, nor those of larger or smaller requests. */
static double page_writes(const struct recommendation *recommendation)
{
    double share =
        isfinite(recommendation->ci_low_bps) && recommendation->ci_low_bps > 0 && recommendation->mean_bps > 0
            ? recommendation->ci_low_bps / recommendation->mean_bps
            : 1;
    if (!is_of_pages(recommendation) || recommendation->pattern.percent[PATTERN_RAND_WRITE] != 100 ||
        isnan(recommendation->iops) ||
        (!recommendation->point.direct && recommendation->point.sync == SYNC_NONE))
        return NAN;
    return recommendation->iops * fmin(share, 1);
}

int snippet_own_mysql(struct snippet_template *run)
{
    double capacity = CAPACITY_SHARE * page_writes(run->request->recommendation);
    snippet_value(run, "pages", "%d", is_of_pages(run->request->recommendation));
    snippet_value(run, "capacity", "%s", "");
    if (isfinite(capacity))
        snippet_value(run, "capacity", "%.0f", floor(fmin(capacity, CAPACITY_MOST)));
    return 0;
}

#define BUFFER_UNIT_BYTES  4096U
#define BUFFER_LEAST_BYTES 65536U /* what a file writer begins with */

static void set_buffer(struct snippet_template *run, const char *name, uint64_t request)
{
    uint64_t bytes = (request + BUFFER_UNIT_BYTES - 1) / BUFFER_UNIT_BYTES * BUFFER_UNIT_BYTES;
    snippet_value(run, name, "%llu",
                  (unsigned long long)(bytes > BUFFER_LEAST_BYTES ? bytes : BUFFER_LEAST_BYTES));
}

int snippet_own_rocksdb(struct snippet_template *run)
{
    const struct point *point = &run->request->recommendation->point;
    snippet_value(run, "waits", "%d", point->queue_depth == 1 && point->api == API_PSYNC);
    set_buffer(run, "read_buffer", point->request_size_bytes);
    set_buffer(run, "write_buffer", factors_write_size_bytes(point));
    return 0;
}

#define STANDARD_NAME "disk0"
#define NAME_MOST     63U

/* What Kubernetes takes for a name: lower-case letters and digits, dashes inside. */
int snippet_own_kubevirt(struct snippet_template *run)
{
    const char *image = run->request->image;
    size_t length = strlen(image);
    bool is_name = length > 0 && length <= NAME_MOST && image[0] != '-' && image[length - 1] != '-' &&
                   strspn(image, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
    snippet_value(run, "image_is_name", "%d", is_name);
    snippet_value(run, "volume", "%s", is_name ? image : STANDARD_NAME);
    return 0;
}
