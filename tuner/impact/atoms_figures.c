/* Figures of atomic tests: from samples, to JSON and back. */
#include "tuner/impact/atoms_figures.h"

#include "bench/host/hostinfo.h"
#include "models/statistics/percentile.h"
#include "models/statistics/student.h"
#include "tuner/base/json.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define SCHEMA       "fstune/atoms/1"
#define BITS_UNKNOWN 0

const char *const atoms_status_names[ATOMS_N_STATUS] = {"measured", "unresolved", "not here", "not linear"};

static int compare_values(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The value at this share of the sorted sample; NaN for NaN. */
static double value_at(const double *sorted, size_t n, double share)
{
    if (!isfinite(share))
        return NAN;
    const size_t rank = (size_t)llround(share * (double)n);
    return sorted[rank < 1 ? 0 : rank > n ? n - 1 : rank - 1];
}

static void set_figures(struct atoms_figure *figure, const double *values_s, size_t n, double confidence)
{
    double *sorted = malloc(n * sizeof *sorted);
    const struct moments moments = moments_of(values_s, n);
    const struct interval interval = student_interval(moments, confidence);
    figure->mean_s = moments.mean;
    figure->low_s = interval.low;
    figure->high_s = interval.high;
    figure->median_s = figure->median_low_s = figure->median_high_s = NAN;
    if (sorted != NULL) {
        const struct percentile_bounds bounds = percentile_bounds_of(0.5, (double)n, 1, confidence);
        memcpy(sorted, values_s, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_values);
        figure->median_s = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
        figure->median_low_s = value_at(sorted, n, bounds.low_share);
        figure->median_high_s = value_at(sorted, n, bounds.high_share);
    }
    free(sorted);
    /* Too few values have no interval, and then nothing is proved. */
    figure->status = figure->median_low_s > 0 ? ATOMS_MEASURED : ATOMS_UNRESOLVED;
}

/* Half of the interval, as a share of the median; NaN without one. */
static double width_share(const struct atoms_figure *figure)
{
    return (figure->median_high_s - figure->median_low_s) / 2 / fabs(figure->median_s);
}

double atoms_figures_wanted(const double *values_s, size_t n, double confidence_share)
{
    struct atoms_figure figure;
    set_figures(&figure, values_s, n, confidence_share);
    const double excess = width_share(&figure) / ATOMS_NARROW_SHARE;
    return excess > 1 ? (double)n * (excess * excess - 1) : isfinite(excess) ? 0 : (double)n;
}

size_t atoms_figures_count_narrow(const struct atoms_figures *figures)
{
    size_t n = 0;
    for (size_t i = 0; i < figures->n; i++)
        n += figures->figure[i].status != ATOMS_NOT_HERE &&
             width_share(&figures->figure[i]) <= ATOMS_NARROW_SHARE;
    return n;
}

static void set_number(json_t *object, const struct hostinfo *host, const char *key)
{
    const double number = hostinfo_number(host, key);
    if (isfinite(number))
        json_object_set_new(object, key, json_number(number));
}

static void describe_system(struct atoms_figures *figures)
{
    static const char *const texts[] = {"hostname", "kernel", "cpu_model", "virtualisation"};
    static struct hostinfo host; /* large */
    struct utsname name;
    hostinfo_collect(&host, -1);
    figures->word_bits = sizeof(void *) * CHAR_BIT;
    snprintf(figures->machine, sizeof figures->machine, "%s", uname(&name) == 0 ? name.machine : "");
    figures->system =
        json_pack("{s:o, s:i}", "machine", json_text(figures->machine), "word_bits", (int)figures->word_bits);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && figures->system != NULL; i++) {
        if (hostinfo_text(&host, texts[i])[0] != '\0')
            json_object_set_new(figures->system, texts[i], json_text(hostinfo_text(&host, texts[i])));
    }
    if (figures->system != NULL) {
        set_number(figures->system, &host, "cpus");
        set_number(figures->system, &host, "memory_bytes");
    }
}

void atoms_figures_of(const struct atoms *atoms, double confidence_share, struct atoms_figures *ret)
{
    *ret = (struct atoms_figures){.n = atoms->n, .n_workers = atoms->n_workers};
    for (size_t i = 0; i < atoms->n; i++) {
        const struct atoms_sample *sample = &atoms->sample[i];
        struct atoms_figure *figure = &ret->figure[i];
        snprintf(figure->name, sizeof figure->name, "%s", sample->atom->name);
        snprintf(figure->per, sizeof figure->per, "%s", sample->atom->per);
        figure->status = ATOMS_NOT_HERE;
        figure->mean_s = figure->low_s = figure->high_s = NAN;
        figure->median_s = figure->median_low_s = figure->median_high_s = NAN;
        if (sample->result == 0 && sample->n_values > 0) {
            figure->replays = (unsigned)sample->n_values;
            set_figures(figure, sample->values_s, sample->n_values, confidence_share);
        }
    }
    describe_system(ret);
}

const struct atoms_figure *atoms_figures_find_any(const struct atoms_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->n; i++) {
        const struct atoms_figure *figure = &figures->figure[i];
        if (strcmp(figure->name, name) == 0 && isfinite(figure->median_s) &&
            (figure->status == ATOMS_MEASURED || figure->status == ATOMS_UNRESOLVED))
            return figure;
    }
    return NULL;
}

const struct atoms_figure *atoms_figures_find(const struct atoms_figures *figures, const char *name)
{
    const struct atoms_figure *figure = atoms_figures_find_any(figures, name);
    return figure != NULL && figure->status == ATOMS_MEASURED ? figure : NULL;
}

struct atomic_cost atoms_figures_cost(const struct atoms_figure *figure)
{
    return (struct atomic_cost){figure->median_s, {figure->median_low_s, figure->median_high_s}};
}

static json_t *figure_json(const struct atoms_figure *figure)
{
    return json_pack("{s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:i}", "name", json_text(figure->name), "unit",
                     "s", "per", json_text(figure->per), "status", atoms_status_names[figure->status], "mean",
                     json_number(figure->mean_s), "ci_low", json_number(figure->low_s), "ci_high",
                     json_number(figure->high_s), "median",
                     json_interval(figure->median_s, figure->median_low_s, figure->median_high_s), "replays",
                     (int)figure->replays);
}

json_t *atoms_figures_json(const struct atoms_figures *figures, bool is_interrupted)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < figures->n; i++)
        json_array_append_new(rows, figure_json(&figures->figure[i]));
    return json_pack("{s:s, s:s, s:b, s:i, s:o, s:O}", "schema", SCHEMA, "version", FSTUNE_VERSION,
                     "interrupted", is_interrupted, "queue_depth", (int)figures->n_workers, "atoms", rows,
                     "system", figures->system);
}

static int refuse_atoms(const char *path, const char *what, struct err *err)
{
    return err_set(err, -EINVAL, "%.200s: %s; give what fstune atoms --output wrote", path, what);
}

static enum atoms_status status_of(const json_t *row)
{
    const char *name = json_read_text(row, "status", atoms_status_names[ATOMS_MEASURED]);
    for (int status = 0; status < ATOMS_N_STATUS; status++) {
        if (strcmp(name, atoms_status_names[status]) == 0)
            return (enum atoms_status)status;
    }
    return ATOMS_NOT_HERE;
}

static int read_figure(const char *path, const json_t *row, struct atoms_figure *figure, struct err *err)
{
    const json_t *median = json_object_get(row, "median");
    const char *name = json_read_text(row, "name", "");
    *figure = (struct atoms_figure){.status = status_of(row)};
    if (name[0] == '\0' || strlen(name) >= sizeof figure->name)
        return refuse_atoms(path, "a test has no name", err);
    snprintf(figure->name, sizeof figure->name, "%s", name);
    snprintf(figure->per, sizeof figure->per, "%s", json_read_text(row, "per", ""));
    figure->mean_s = json_read_number(row, "mean");
    figure->low_s = json_read_number(row, "ci_low");
    figure->high_s = json_read_number(row, "ci_high");
    /* Files of others may have the mean alone. */
    figure->median_s = median != NULL ? json_read_number(median, "mean") : figure->mean_s;
    figure->median_low_s = median != NULL ? json_read_number(median, "ci_low") : figure->low_s;
    figure->median_high_s = median != NULL ? json_read_number(median, "ci_high") : figure->high_s;
    if (figure->status == ATOMS_MEASURED && !(figure->median_s > 0))
        return refuse_atoms(path, "a test has no time", err);
    return 0;
}

static int take_document(const char *path, json_t *document, struct atoms_figures *ret, struct err *err)
{
    const json_t *rows = json_object_get(document, "atoms"), *row;
    json_t *system = json_object_get(document, "system");
    size_t i;
    if (strcmp(json_read_text(document, "schema", ""), SCHEMA) != 0)
        return refuse_atoms(path, "its schema is not " SCHEMA, err);
    if (!json_is_array(rows) || json_array_size(rows) == 0 || json_array_size(rows) > ATOMS_MAX)
        return refuse_atoms(path, "there are no atomic tests in it, or too many", err);
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
    {
        int result = read_figure(path, row, &ret->figure[i], err);
        if (result < 0)
            return result;
    }
    ret->n = json_array_size(rows);
    const double bits = json_read_number(system, "word_bits");
    ret->word_bits = bits > 0 && bits < 1024 ? (unsigned)bits : 0;
    /* Files of others may have none. */
    const double depth = json_read_number(document, "queue_depth");
    ret->n_workers = depth >= 1 && depth <= CREW_MAX ? (unsigned)depth : 1;
    snprintf(ret->machine, sizeof ret->machine, "%s", json_read_text(system, "machine", ""));
    ret->system = json_incref(system);
    return 0;
}

int atoms_figures_read(const char *path, struct atoms_figures *ret, struct err *err)
{
    json_t *document = json_read_file(path, err);
    *ret = (struct atoms_figures){0};
    if (document == NULL)
        return err->code;
    int result = take_document(path, document, ret, err);
    json_decref(document);
    return result;
}

static int check_words(const struct atoms_figures *host, const struct atoms_figures *guest, struct err *err)
{
    const unsigned here = host->word_bits, there = guest->word_bits;
    if (here == BITS_UNKNOWN || there == BITS_UNKNOWN || here == there)
        return 0;
    return err_set(err, -EINVAL,
                   "--guest-atoms: made by a program of %u bits, --host-atoms by one of %u; make both with "
                   "programs of one kind",
                   there, here);
}

static int read_named(const char *option, const char *place, const char *path, struct atoms_figures *ret,
                      struct err *err)
{
    if (path[0] == '\0')
        return err_set(err, -EINVAL,
                       "--%s is missing; give what fstune atoms --output FILE --path DIR writes %s", option,
                       place);
    int result = atoms_figures_read(path, ret, err);
    return result < 0 ? err_prefix(err, "--%s", option) : 0;
}

int atoms_figures_read_both(const struct settings_vm *asked, struct atoms_figures *ret_host,
                            struct atoms_figures *ret_guest, struct err *err)
{
    int result = read_named("host-atoms", "here", asked->host_atoms, ret_host, err);
    if (result == 0)
        result = read_named("guest-atoms", "in the guest", asked->guest_atoms, ret_guest, err);
    return result < 0 ? result : check_words(ret_host, ret_guest, err);
}

void atoms_figures_free(struct atoms_figures *figures)
{
    json_decref(figures->system);
    *figures = (struct atoms_figures){0};
}
