/* What `advise write` calculates, and the sentence that says where another way of writing takes over. */
#include "tuner/writes/write_advice.h"

#include "bench/base/units.h"
#include "tuner/writes/extensions.h"

#include <errno.h>
#include <math.h>

/* Beyond this many times the memory that may be dirty nothing new happens. */
#define HIGHEST_FACTOR 16
/* Fewer requests than this are no burst. */
#define LOWEST_REQUESTS 4

const char *const write_advice_words[CAWL_ADVICE_N_WAYS] = {
    "buffered", "buffered with one fdatasync at the end", "direct", "buffered and synchronous"};

/* Refuses options that are missing or do not fit together. */
static int check_advice_options(const struct settings *settings, struct err *err)
{
    if (settings->prediction.host[0] == '\0')
        return err_set(err, -EINVAL, "--host: give the file that fstune calibrate has written");
    if (settings->prediction.total_bytes == 0)
        return err_set(err, -EINVAL, "--total: give the bytes of the burst, as --total 500m");
    if (settings->prediction.request_size_bytes == 0)
        return err_set(err, -EINVAL, "--request-size: give the size of one write, as --request-size 64k");
    return 0;
}

/* The sizes are those that crossings were looked for at. */
static int make_curve(struct write_advice *advice)
{
    struct cawl_advice_burst burst = advice->burst;
    double bytes = advice->low_bytes, last = 0;
    while (advice->n_points < WRITE_ADVICE_MAX_POINTS) {
        struct cawl_advice_cost *cost = &advice->curve[advice->n_points];
        burst.bytes = cawl_advice_whole(&burst, fmin(bytes, advice->high_bytes));
        int result = cawl_advice_remembered(&burst, &advice->memo, cost);
        if (result < 0)
            return result;
        if ((double)burst.bytes > last)
            advice->bytes[advice->n_points++] = last = (double)burst.bytes;
        if (bytes >= advice->high_bytes)
            break;
        bytes = cawl_advice_step(bytes);
    }
    return 0;
}

/* The sizes between which crossings are looked for. */
static double lowest_bytes(const struct cawl_advice_burst *burst)
{
    return LOWEST_REQUESTS * (double)burst->request_bytes;
}

static double highest_bytes(const struct cawl_advice_burst *burst)
{
    return fmax(HIGHEST_FACTOR * burst->host->limit_hard_bytes,
                4 * fmax((double)burst->bytes, lowest_bytes(burst)));
}

int write_advice_find(const struct cawl_advice_burst *burst, enum cawl_advice_way first,
                      struct cawl_advice_memo *memo, struct write_advice_crossings *ret)
{
    struct write_advice_crossings found = {.first = first};
    uint64_t low = (uint64_t)lowest_bytes(burst), high = (uint64_t)highest_bytes(burst);
    int result =
        cawl_advice_crossings(burst, first, CAWL_ADVICE_DIRECT, 1, low, high, memo, found.at, &found.n);
    if (result == 0)
        result = cawl_advice_crossings(burst, first, CAWL_ADVICE_DIRECT, WRITE_ADVICE_CLEAR_LEAD, low, high,
                                       memo, found.clear, &found.n_clear);
    if (result == 0)
        *ret = found;
    return result;
}

static int calculate(struct write_advice *advice)
{
    const struct cawl_advice_burst *burst = &advice->burst;
    struct cawl_options first_touch = advice->options;
    struct cawl_advice_burst untouched = *burst;
    first_touch.first_touch = true;
    untouched.options = &first_touch;
    advice->low_bytes = lowest_bytes(burst);
    advice->high_bytes = highest_bytes(burst);
    advice->has_untouched = burst->host->bw_ramdisk_first_touch_bps > 0 && !advice->options.first_touch;
    int result = cawl_advice_cost(burst, &advice->cost);
    if (result == 0 && advice->has_untouched)
        result = cawl_advice_cost(&untouched, &advice->untouched);
    if (result == 0)
        result = cawl_advice_free_run(burst, &advice->free_run_bytes);
    for (size_t i = 0; i < 2 && result == 0; i++)
        result = write_advice_find(burst, i == 0 ? CAWL_ADVICE_BUFFERED : CAWL_ADVICE_FLUSHED, &advice->memo,
                                   &advice->crossings[i]);
    return result == 0 ? make_curve(advice) : result;
}

int write_advice_make(const struct settings *settings, struct host_file *ret_host, struct write_advice *ret,
                      struct err *err)
{
    const struct settings_prediction *asked = &settings->prediction;
    int result = check_advice_options(settings, err);
    if (result == 0)
        result = host_file_read(asked->host, ret_host, err);
    if (result < 0)
        return result;
    *ret = (struct write_advice){.settings = settings,
                                 .host = ret_host,
                                 .burst = {.host = &ret_host->host,
                                           .options = &ret->options,
                                           .bytes = asked->total_bytes,
                                           .request_bytes = asked->request_size_bytes,
                                           .random = asked->random,
                                           .delay_s = (double)asked->delay_ns / 1e9,
                                           .interval_s = (double)settings->burst.interval_ns / 1e9}};
    result = extensions_read(asked, CAWL_N_MODES, ret_host, &ret->options, err);
    if (result < 0)
        return result;
    result = calculate(ret);
    return result < 0 ? err_sys(err, result, "cannot predict these writes") : 0;
}

/* The first crossing at a larger burst; n: there is none. */
static size_t next_of(const struct cawl_advice_crossing *at, size_t n, uint64_t bytes)
{
    size_t i = 0;
    while (i < n && at[i].bytes <= (double)bytes)
        i++;
    return i;
}

static const char *above(const struct write_advice_crossings *crossings, size_t i)
{
    return write_advice_words[crossings->at[i].first_below ? CAWL_ADVICE_DIRECT : crossings->first];
}

static const char *below(const struct write_advice_crossings *crossings, size_t i)
{
    return write_advice_words[crossings->at[i].first_below ? crossings->first : CAWL_ADVICE_DIRECT];
}

/* Prints between which crossings the burst lies, and what holds beyond them. */
static void print_range(FILE *out, const struct write_advice_crossings *crossings, size_t next)
{
    const struct cawl_advice_crossing *at = crossings->at;
    size_t n = crossings->n;
    char bytes[UNITS_TEXT_SIZE];
    fputs(", and the faster one", out);
    if (next > 0)
        fprintf(out, " from about %s", units_format_bytes((uint64_t)at[next - 1].bytes, bytes));
    if (next < n)
        fprintf(out, " up to about %s", units_format_bytes((uint64_t)at[next].bytes, bytes));
    fputs(next < n ? " per burst" : " per burst on", out);
    if (next > 0)
        fprintf(out, "; below, %s", below(crossings, next - 1));
    for (size_t i = next; i-- > 1;)
        fprintf(out, ", below %s %s", units_format_bytes((uint64_t)at[i - 1].bytes, bytes),
                below(crossings, i - 1));
    if (next < n)
        fprintf(out, "; beyond, %s", above(crossings, next));
    for (size_t i = next + 1; i < n; i++)
        fprintf(out, ", beyond %s %s", units_format_bytes((uint64_t)at[i].bytes, bytes), above(crossings, i));
}

static void print_advice_line(FILE *out, const struct write_advice_crossings *crossings,
                              const struct cawl_advice_burst *burst, const struct cawl_advice_cost *cost)
{
    char bytes[UNITS_TEXT_SIZE];
    const char *first = write_advice_words[crossings->first],
               *second = write_advice_words[CAWL_ADVICE_DIRECT];
    double ratio = cost->seconds[CAWL_ADVICE_DIRECT] / cost->seconds[crossings->first];
    size_t next = next_of(crossings->at, crossings->n, burst->bytes),
           clear = next_of(crossings->clear, crossings->n_clear, burst->bytes);
    bool fades = next == crossings->n && clear < crossings->n_clear && ratio >= WRITE_ADVICE_CLEAR_LEAD;
    fprintf(out, "%s is %.2f times as fast as %s for a burst of %s", ratio >= 1 ? first : second,
            fmax(ratio, 1 / ratio), ratio >= 1 ? second : first, units_format_bytes(burst->bytes, bytes));
    if (crossings->n > 0)
        print_range(out, crossings, next);
    else if (!fades)
        fputs(", and the faster one for every burst", out);
    if (fades)
        fprintf(out, "%s clearly faster up to about %s per burst; beyond, by less than %.0f %%",
                crossings->n > 0 ? ";" : ", and",
                units_format_bytes((uint64_t)crossings->clear[clear].bytes, bytes),
                100 * (WRITE_ADVICE_CLEAR_LEAD - 1));
}

void write_advice_line(const struct write_advice_crossings *crossings, const struct cawl_advice_burst *burst,
                       const struct cawl_advice_cost *cost, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    text[0] = '\0';
    if (out == NULL)
        return;
    print_advice_line(out, crossings, burst, cost);
    fclose(out);
}
