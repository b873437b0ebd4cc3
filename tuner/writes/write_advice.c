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

static struct cawl_advice_burst burst_of(const struct settings *settings)
{
    return (struct cawl_advice_burst){
        .bytes = settings->prediction.total_bytes,
        .request_bytes = settings->prediction.request_size_bytes,
        .random = settings->prediction.random,
        .delay_s = (double)settings->prediction.delay_ns / 1e9,
        .interval_s = (double)settings->burst.interval_ns / 1e9,
    };
}

/* The sizes are those that crossings were looked for at. */
static int make_curve(struct write_advice *advice)
{
    struct cawl_advice_burst burst = advice->burst;
    double bytes = advice->low_bytes, last = 0;
    while (advice->n_points < WRITE_ADVICE_MAX_POINTS) {
        struct cawl_advice_cost *cost = &advice->curve[advice->n_points];
        burst.bytes = cawl_advice_whole(&burst, fmin(bytes, advice->high_bytes));
        int result =
            cawl_advice_remembered(&advice->host->host, &advice->options, &burst, &advice->memo, cost);
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

int write_advice_find(const struct cawl_host *host, const struct cawl_options *options,
                      const struct cawl_advice_burst *burst, enum cawl_advice_way first,
                      enum cawl_advice_way second, double low_bytes, double high_bytes,
                      struct cawl_advice_memo *memo, struct write_advice_crossings *ret)
{
    struct write_advice_crossings found = {.first = first, .second = second};
    uint64_t low = (uint64_t)low_bytes, high = (uint64_t)high_bytes;
    int result =
        cawl_advice_crossings(host, options, burst, first, second, 1, low, high, memo, found.at, &found.n);
    if (result == 0)
        result = cawl_advice_crossings(host, options, burst, first, second, WRITE_ADVICE_CLEAR_LEAD, low,
                                       high, memo, found.clear, &found.n_clear);
    if (result == 0)
        *ret = found;
    return result;
}

double write_advice_low(const struct cawl_advice_burst *burst)
{
    return LOWEST_REQUESTS * (double)burst->request_bytes;
}

double write_advice_high(const struct cawl_host *host, const struct cawl_advice_burst *burst)
{
    return fmax(HIGHEST_FACTOR * host->limit_hard_bytes,
                4 * fmax((double)burst->bytes, write_advice_low(burst)));
}

static int calculate(struct write_advice *advice)
{
    const struct cawl_host *host = &advice->host->host;
    struct cawl_options plain = advice->options, untouched = plain;
    untouched.first_touch = true;
    advice->low_bytes = write_advice_low(&advice->burst);
    advice->high_bytes = write_advice_high(host, &advice->burst);
    advice->has_untouched = host->bw_ramdisk_first_touch_bps > 0 && !plain.first_touch;
    int result = cawl_advice_cost(host, &plain, &advice->burst, &advice->cost);
    if (result == 0 && advice->has_untouched)
        result = cawl_advice_cost(host, &untouched, &advice->burst, &advice->untouched);
    if (result == 0)
        result = cawl_advice_free_run(host, &plain, &advice->burst, &advice->free_run_bytes);
    for (size_t i = 0; i < 2 && result == 0; i++)
        result = write_advice_find(
            host, &plain, &advice->burst, i == 0 ? CAWL_ADVICE_BUFFERED : CAWL_ADVICE_FLUSHED,
            CAWL_ADVICE_DIRECT, advice->low_bytes, advice->high_bytes, &advice->memo, &advice->crossings[i]);
    return result == 0 ? make_curve(advice) : result;
}

int write_advice_make(const struct settings *settings, struct host_file *ret_host, struct write_advice *ret,
                      struct err *err)
{
    int result = check_advice_options(settings, err);
    if (result == 0)
        result = host_file_read(settings->prediction.host, ret_host, err);
    if (result < 0)
        return result;
    *ret = (struct write_advice){.settings = settings, .host = ret_host, .burst = burst_of(settings)};
    result = extensions_read(&settings->prediction, CAWL_N_MODES, ret_host, &ret->options, err);
    if (result < 0)
        return result;
    ret->extended = extensions_any(&ret->options);
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
    return write_advice_words[crossings->at[i].first_below ? crossings->second : crossings->first];
}

static const char *below(const struct write_advice_crossings *crossings, size_t i)
{
    return write_advice_words[crossings->at[i].first_below ? crossings->first : crossings->second];
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
    const char *first = write_advice_words[crossings->first], *second = write_advice_words[crossings->second];
    double ratio = cost->seconds[crossings->second] / cost->seconds[crossings->first];
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
