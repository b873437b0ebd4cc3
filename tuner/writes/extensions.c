/* Extensions of the paper's model, as a table. */
#include "tuner/writes/extensions.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PART_SIZE 64

/* The modes in which an extension means something. Advice compares several, and takes what is not for
 * predict alone. */
#define DIRECT       (1U << CAWL_DIRECT)
#define SYNC         (1U << CAWL_SYNC)
#define DIRTY        (1U << CAWL_NOSYNC | 1U << CAWL_STDIO)
#define ANY          (DIRECT | SYNC | DIRTY)
#define PREDICT_ONLY (1U << CAWL_N_MODES)

enum kind { FLAG, COUNT, SHARE, SECONDS, SIZE };

/* Of values; all are above 0. */
static const struct {
    double highest;
    const char *words;
} limits[] = {
    [COUNT] = {1e6, "a number of 1..1000000"},
    [SHARE] = {1, "a share of up to 100%"},
    [SECONDS] = {3600, "a time of 1ns..1h"},
    [SIZE] = {0x1p50, "a size of 1..1024t"},
};

#define AT(member) offsetof(struct cawl_options, member)

/* In the order of the JSON document. */
static const struct extension {
    const char *name, *key; /* of --extensions (NULL: it comes from elsewhere), and of JSON */
    size_t place;           /* of a bool, a uint32_t (COUNT) or a double */
    enum kind kind;
    unsigned modes;
    bool in_linux;            /* --model linux has it */
    enum host_index needs[2]; /* figures of the host; 0: none */
} table[] = {
    {"first-touch", "first_touch", AT(first_touch), FLAG, SYNC | DIRTY, false, {HOST_BW_RAMDISK_FIRST_TOUCH}},
    {"rewrites", "rewrites", AT(rewrites), FLAG, DIRTY, true, {HOST_BW_REWRITE}},
    {"writeback", "writeback", AT(writeback), FLAG, SYNC | DIRTY, true, {HOST_BW_WRITEBACK}},
    {"small-calls", "small_calls", AT(small_calls), FLAG, DIRTY, true, {HOST_BW_PAGE, HOST_BW_BUFFER}},
    {NULL, "close", AT(close), FLAG, 0, false, {0}},
    {"piecewise", "piecewise", AT(piecewise), FLAG, DIRTY, true, {0}},
    {"balanced", "balanced", AT(balanced), FLAG, DIRTY, true, {0}},
    {"limit-share", "limit_share", AT(limit_share), SHARE, DIRTY, false, {0}},
    {"writers", "writers", AT(n_writers), COUNT, ANY, false, {0}},
    {"writeback-interval", "writeback_interval_s", AT(writeback_interval_s), SECONDS, DIRTY, false, {0}},
    {"allocation-rate", "allocation_bps", AT(allocation_bps), SIZE, DIRTY, false, {0}},
    {NULL, "max_request_bytes", AT(max_request_bytes), SIZE, 0, false, {0}},
    {"split-cost", "split_s", AT(split_s), SECONDS, DIRECT | SYNC, false, {0}},
    {"burst-credit", "burst_bytes", AT(burst_bytes), SIZE, ANY | PREDICT_ONLY, false, {0}},
    {"burst-rate", "burst_bps", AT(burst_bps), SIZE, ANY | PREDICT_ONLY, false, {0}},
};

#define N_EXTENSIONS (sizeof table / sizeof table[0])

static double value_of_extension(const struct extension *extension, const struct cawl_options *options)
{
    const void *place = (const char *)options + extension->place;
    if (extension->kind == FLAG)
        return *(const bool *)place;
    return extension->kind == COUNT ? *(const uint32_t *)place : *(const double *)place;
}

static void set_value(const struct extension *extension, double value, struct cawl_options *options)
{
    void *place = (char *)options + extension->place;
    if (extension->kind == FLAG)
        *(bool *)place = true;
    else if (extension->kind == COUNT)
        *(uint32_t *)place = (uint32_t)value;
    else
        *(double *)place = value;
}

static bool means_something(const struct extension *extension, enum cawl_mode mode)
{
    return mode == CAWL_N_MODES ? (extension->modes & PREDICT_ONLY) == 0
                                : (extension->modes >> mode & 1) != 0;
}

/* What the host lacks for it; NULL: nothing. */
static const char *missing_figure(const struct extension *extension, const struct host_file *host)
{
    for (size_t i = 0; i < 2 && extension->needs[i] > 0; i++) {
        if (!(host_value(&host->host, extension->needs[i]) > 0))
            return host_parameters[extension->needs[i]].name;
    }
    return extension->place == AT(split_s) && !(host->max_request_bytes > 0) ? "max_request" : NULL;
}

static const struct extension *find_extension(const char *name, size_t length)
{
    for (size_t i = 0; i < N_EXTENSIONS; i++) {
        if (table[i].name != NULL && strlen(table[i].name) == length &&
            strncmp(table[i].name, name, length) == 0)
            return &table[i];
    }
    return NULL;
}

/* text: NULL where none is written. */
static int parse_value(enum kind kind, const char *text, double *ret_value)
{
    uint64_t number = 1;
    if ((kind == FLAG) != (text == NULL))
        return -EINVAL;
    if (kind == SHARE)
        return units_parse_share(text, ret_value);
    int result = kind == COUNT     ? units_parse_count(text, UINT32_MAX, &number)
                 : kind == SECONDS ? units_parse_duration(text, &number)
                 : kind == SIZE    ? units_parse_size(text, &number)
                                   : 0;
    *ret_value = kind == SECONDS ? (double)number / 1e9 : (double)number;
    return result;
}

/* "NAME" or "NAME=VALUE". */
static int read_extension(const char *part, enum cawl_mode mode, const struct host_file *host,
                          struct cawl_options *options, struct err *err)
{
    const size_t length = strcspn(part, "=");
    const struct extension *extension = find_extension(part, length);
    double value = 0;
    if (extension == NULL)
        return err_set(err, -EINVAL, "--extensions: '%s' is not known; see predict write --help", part);
    const char *name = extension->name, *missing = missing_figure(extension, host);
    int result = parse_value(extension->kind, part[length] == '=' ? part + length + 1 : NULL, &value);
    if (extension->kind == FLAG && result < 0)
        return err_set(err, -EINVAL, "--extensions: %s takes no value; write it alone", name);
    if (extension->kind != FLAG && (result < 0 || !(value > 0 && value <= limits[extension->kind].highest)))
        return err_set(err, -EINVAL, "--extensions: %s: write %s=VALUE with %s", part, name,
                       limits[extension->kind].words);
    if (!means_something(extension, mode))
        return err_set(err, -EINVAL, "--extensions: %s means nothing %s%s; leave it out", name,
                       mode == CAWL_N_MODES ? "to advise" : "with --mode ",
                       mode == CAWL_N_MODES ? "" : cawl_mode_names[mode]);
    if (missing != NULL)
        return err_set(err, -EINVAL, "--extensions: %s: the host file has no %s; calibrate again", name,
                       missing);
    set_value(extension, value, options);
    return 0;
}

static int read_list(const char *list, enum cawl_mode mode, const struct host_file *host,
                     struct cawl_options *options, struct err *err)
{
    char part[PART_SIZE];
    for (const char *next = list; *next != '\0';) {
        size_t length = strcspn(next, ",");
        if (length == 0 || length >= sizeof part)
            return err_set(err, -EINVAL,
                           "--extensions: '%.60s': write names with single commas between, as "
                           "rewrites,writers=2",
                           list);
        snprintf(part, sizeof part, "%.*s", (int)length, next);
        int result = read_extension(part, mode, host, options, err);
        if (result < 0)
            return result;
        next += length + (next[length] == ',');
    }
    return 0;
}

static int check_burst(const struct cawl_options *options, const struct cawl_host *host, struct err *err)
{
    double lasting_bps = fmax(host->bw_dev_bps, options->writeback ? host->bw_writeback_bps : 0);
    if ((options->burst_bytes > 0) != (options->burst_bps > 0))
        return err_set(err, -EINVAL, "--extensions: burst-credit and burst-rate belong together; give both");
    if (options->burst_bps > 0 && !(options->burst_bps > lasting_bps))
        return err_set(err, -EINVAL,
                       "--extensions: burst-rate: the host file's %s is %.4g, and a burst is faster",
                       lasting_bps > host->bw_dev_bps ? "bw_writeback" : "bw_dev", lasting_bps);
    return 0;
}

int extensions_read(const struct settings_prediction *asked, enum cawl_mode mode,
                    const struct host_file *host, struct cawl_options *ret_options, struct err *err)
{
    struct cawl_options options = {.close = asked->close};
    for (size_t i = 0; i < N_EXTENSIONS && asked->model == SETTINGS_MODEL_LINUX; i++) {
        if (table[i].in_linux && means_something(&table[i], mode) && missing_figure(&table[i], host) == NULL)
            set_value(&table[i], 1, &options);
    }
    int result = read_list(asked->extensions, mode, host, &options, err);
    if (result == 0)
        result = check_burst(&options, &host->host, err);
    if (result < 0)
        return result;
    options.max_request_bytes = options.split_s > 0 ? host->max_request_bytes : 0;
    *ret_options = options;
    return 0;
}

bool extensions_any(const struct cawl_options *options)
{
    for (size_t i = 0; i < N_EXTENSIONS; i++) {
        if (value_of_extension(&table[i], options) > 0)
            return true;
    }
    return false;
}

json_t *extensions_json(const struct cawl_options *options)
{
    json_t *object = json_object();
    for (size_t i = 0; i < N_EXTENSIONS; i++) {
        double value = value_of_extension(&table[i], options);
        if (value > 0)
            json_object_set_new(object, table[i].key,
                                table[i].kind == FLAG ? json_true() : json_number(value));
    }
    return object;
}
