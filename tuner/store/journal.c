/* Journals: a run as a line and back, opening, appending. */
#include "tuner/store/journal.h"

#include "bench/base/access.h"
#include "bench/base/clock.h"
#include "bench/run/measure.h"
#include "tuner/base/grow.h"
#include "tuner/base/json.h"
#include "tuner/session/json_row.h"
#include "tuner/session/warnings.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST 1e18

static json_t *make_latency(const struct sample *sample)
{
    const struct latency_quantiles *latency_quantiles = &sample->latency_quantiles;
    json_t *quantiles = json_array();
    for (size_t i = 0; i < LATENCY_QUANTILES_N && quantiles != NULL && latency_quantiles->n > 0; i++)
        json_array_append_new(quantiles, json_integer((json_int_t)latency_quantiles->ns[i]));
    return json_pack("{s:o, s:o, s:I, s:o}", "mean", json_number(sample->latency_mean_ns), "p99",
                     json_number(sample->latency_p99_ns), "requests", (json_int_t)latency_quantiles->n,
                     "quantiles", quantiles);
}

json_t *journal_line_make(const struct journal_run *run)
{
    const struct sample *sample = &run->sample;
    return json_pack("{s:I, s:f, s:o, s:f, s:f, s:o, s:o, s:f, s:f, s:I, s:I, s:s, s:b, s:b, s:o}", "run",
                     (json_int_t)run->number, "at_seconds", run->at_seconds, "point", json_point(&run->point),
                     "throughput", sample->throughput_bps, "iops", sample->iops, "latency_ns",
                     make_latency(sample), "achieved_depth", json_number(sample->achieved_depth), "seconds",
                     sample->seconds, "warmup_seconds", sample->warmup_seconds, "bytes",
                     (json_int_t)sample->bytes, "moved_bytes", (json_int_t)sample->moved_bytes, "warmup",
                     measure_warmup_names[sample->warmup], "sampled", sample->sampled, "fresh",
                     sample->confirming, "doubts", json_codes(sample->warning_set));
}

double journal_number(const json_t *object, const char *key)
{
    double value = json_read_number(object, key);
    return value > 0 && value <= LARGEST ? value : NAN;
}

/* A number of 0 and above, or -1. */
static double read_number(const json_t *object, const char *key)
{
    double value = json_read_number(object, key);
    return value >= 0 && value <= LARGEST ? value : -1;
}

static int read_integer(const json_t *value, uint64_t largest, uint64_t *ret_value)
{
    json_int_t integer = json_integer_value(value);
    if (!json_is_integer(value) || integer < 0 || (uint64_t)integer > largest)
        return -EINVAL;
    *ret_value = (uint64_t)integer;
    return 0;
}

static int read_member(const json_t *object, const char *key, uint64_t largest, uint64_t *ret_value)
{
    return read_integer(json_object_get(object, key), largest, ret_value);
}

static int read_level(const json_t *member, enum factor factor, uint64_t *ret_level)
{
    const char *name = json_string_value(member);
    enum api api = API_N;
    enum sync sync = SYNC_N;
    if (factor != FACTOR_API && factor != FACTOR_SYNC)
        return read_integer(member, INT64_MAX, ret_level);
    if (name == NULL ||
        (factor == FACTOR_API ? factors_parse_api(name, &api) : factors_parse_sync(name, &sync)) < 0)
        return -EINVAL;
    *ret_level = factor == FACTOR_API ? (uint64_t)api : (uint64_t)sync;
    return 0;
}

int journal_point(const json_t *object, struct point *ret_point)
{
    uint64_t levels[FACTOR_N] = {0};
    for (enum factor factor = 0; factor < FACTOR_N; factor++) {
        const json_t *member = json_object_get(object, factors_keys[factor]);
        bool may_lack = factor == FACTOR_WRITE_SIZE && member == NULL;
        if (!may_lack && read_level(member, factor, &levels[factor]) < 0)
            return -EINVAL;
    }
    const json_t *member = json_object_get(object, "clients");
    uint64_t clients = 0;
    if (member != NULL && read_integer(member, UINT32_MAX, &clients) < 0)
        return -EINVAL;
    int result = factors_read(levels, ret_point);
    if (result == 0)
        ret_point->clients = (uint32_t)clients;
    return result;
}

static int read_latency_quantiles(const json_t *latency, struct latency_quantiles *ret_latency_quantiles)
{
    const json_t *quantiles = json_object_get(latency, "quantiles");
    size_t n = json_array_size(quantiles);
    *ret_latency_quantiles = (struct latency_quantiles){0};
    if (read_member(latency, "requests", (uint64_t)LARGEST, &ret_latency_quantiles->n) < 0 ||
        n != (ret_latency_quantiles->n > 0 ? LATENCY_QUANTILES_N : 0))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (read_integer(json_array_get(quantiles, i), (uint64_t)LARGEST, &ret_latency_quantiles->ns[i]) <
                0 ||
            (i > 0 && ret_latency_quantiles->ns[i] < ret_latency_quantiles->ns[i - 1]))
            return -EINVAL;
    }
    return 0;
}

static int read_warnings(const json_t *list, uint64_t *ret_warnings)
{
    uint64_t warning_set = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *code = json_string_value(json_array_get(list, i));
        enum warning warning = code == NULL ? WARNING_N : warnings_find(code);
        if (warning == WARNING_N)
            return -EINVAL;
        warning_set |= WARNINGS_BIT(warning);
    }
    *ret_warnings = warning_set;
    return json_is_array(list) ? 0 : -EINVAL;
}

static int read_warmup(const json_t *object, enum measure_warmup *ret_warmup)
{
    const char *name = json_string_value(json_object_get(object, "warmup"));
    for (size_t i = 0; i < MEASURE_WARMUP_N && name != NULL; i++) {
        if (strcmp(name, measure_warmup_names[i]) == 0) {
            *ret_warmup = (enum measure_warmup)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* What has to be a number above 0; the latencies and the depth may be unknown. */
static int read_run_figures(const json_t *object, struct sample *sample)
{
    const json_t *latency = json_object_get(object, "latency_ns");
    sample->throughput_bps = journal_number(object, "throughput");
    sample->iops = journal_number(object, "iops");
    sample->seconds = journal_number(object, "seconds");
    sample->warmup_seconds = read_number(object, "warmup_seconds");
    sample->achieved_depth = journal_number(object, "achieved_depth");
    sample->latency_mean_ns = journal_number(latency, "mean");
    sample->latency_p99_ns = journal_number(latency, "p99");
    if (isnan(sample->throughput_bps) || isnan(sample->iops) || isnan(sample->seconds) ||
        sample->warmup_seconds < 0)
        return -EINVAL;
    return read_latency_quantiles(latency, &sample->latency_quantiles);
}

int journal_line_read(const json_t *object, struct journal_run *ret_run)
{
    struct journal_run run = {.at_seconds = read_number(object, "at_seconds")};
    struct sample *sample = &run.sample;
    const json_t *sampled = json_object_get(object, "sampled"),
                 *confirming = json_object_get(object, "fresh");
    if (run.at_seconds < 0 || !json_is_boolean(sampled) || !json_is_boolean(confirming) ||
        read_member(object, "run", (uint64_t)LARGEST, &run.number) < 0 ||
        journal_point(json_object_get(object, "point"), &run.point) < 0 ||
        read_run_figures(object, sample) < 0 ||
        read_member(object, "bytes", (uint64_t)LARGEST, &sample->bytes) < 0 ||
        read_member(object, "moved_bytes", (uint64_t)LARGEST, &sample->moved_bytes) < 0 ||
        read_warmup(object, &sample->warmup) < 0 ||
        read_warnings(json_object_get(object, "doubts"), &sample->warning_set) < 0)
        return -EINVAL;
    sample->sampled = json_is_true(sampled);
    sample->confirming = json_is_true(confirming);
    *ret_run = run;
    return 0;
}

static int add_run_to_journal(struct journal *journal, const struct journal_run *run)
{
    if (journal->n_runs == JOURNAL_MAX_RUNS)
        return -EFBIG;
    struct journal_run *added = grow_array(&journal->runs, journal->n_runs, &journal->capacity, sizeof *run);
    if (added == NULL)
        return -ENOMEM;
    *added = *run;
    journal->n_runs++;
    journal->spent_seconds = fmax(journal->spent_seconds, run->at_seconds);
    if (run->number >= journal->next_number)
        journal->next_number = run->number + 1;
    return 0;
}

/* At most an hour, in whole nanoseconds. */
static bool take_ns(const json_t *object, const char *key, json_int_t least_ns, uint64_t *ret_ns)
{
    const json_t *value = json_object_get(object, key);
    json_int_t ns = json_integer_value(value);
    *ret_ns = (uint64_t)ns;
    return json_is_integer(value) && ns >= least_ns && ns <= (json_int_t)(3600 * CLOCK_NS_PER_S);
}

static int take_length(struct journal *journal, const json_t *object)
{
    struct journal_length length;
    if (!take_ns(object, "run_ns", (json_int_t)MEASURE_MIN_DURATION_NS, &length.run_ns) ||
        !take_ns(object, "warmup_limit_ns", 0, &length.warmup_limit_ns) ||
        !take_ns(object, "warmup_least_ns", 0, &length.warmup_least_ns))
        return -EINVAL;
    length.keeps = json_is_true(json_object_get(object, "keeps"));
    journal->length = length;
    if (!length.keeps)
        journal->n_runs = journal->first = 0;
    return 0;
}

/* One complete line. 0; -EINVAL: it is no line of a journal. */
static int take_line(struct journal *journal, const char *line, size_t size)
{
    struct journal_run run;
    int result = 0;
    json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    if (object == NULL)
        return -EINVAL;
    if (journal->header == NULL) {
        const char *schema = json_string_value(json_object_get(object, "schema"));
        if (schema == NULL || strcmp(schema, JOURNAL_SCHEMA) != 0)
            result = -EINVAL;
        else
            journal->header = json_incref(object);
    } else if (json_object_get(object, "mark") != NULL) {
        journal->first = journal->n_runs;
    } else if (json_object_get(object, "length") != NULL) {
        result = take_length(journal, json_object_get(object, "length"));
    } else {
        result = journal_line_read(object, &run);
        if (result == 0)
            result = add_run_to_journal(journal, &run);
    }
    json_decref(object);
    return result;
}

static int refuse_line(size_t number, int result, struct err *err)
{
    if (number == 1 && result == -EINVAL)
        return err_set(err, -EINVAL, "it is not a journal of fstune; name another file");
    if (result == -EINVAL)
        return err_set(err, result, "line %zu is no run; name another file", number);
    return err_sys(err, result, "line %zu cannot be taken", number);
}

/* A first line that is cut off. Only a journal's text starts like this. */
static bool starts_a_header(const char *text, size_t size)
{
    static const char start[] = "{\"schema\":\"" JOURNAL_SCHEMA "\"";
    return memcmp(text, start, size < sizeof start - 1 ? size : sizeof start - 1) == 0;
}

int journal_parse(struct journal *journal, const char *text, size_t all, struct err *err)
{
    size_t number = 0, at = 0;
    /* After a crash some file systems give zeros for what was not written out yet. */
    size_t size = all > 0 && text[0] != '\0' ? strnlen(text, all) : all;
    *journal = (struct journal){.fd = -1, .torn = size < all};
    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        bool last = end == NULL || (size_t)(end - text) + 1 == size;
        size_t length = end == NULL ? size - at : (size_t)(end - text) - at;
        number++;
        int result = end == NULL ? -EINVAL : take_line(journal, text + at, length);
        if (result == -EINVAL && last && (number > 1 || (end == NULL && starts_a_header(text, size)))) {
            journal->torn = true;
            return 0;
        }
        if (result < 0) {
            journal_done(journal);
            return refuse_line(number, result, err);
        }
        at += length + 1;
        journal->whole_bytes = at;
    }
    return 0;
}

void journal_done(struct journal *journal)
{
    json_decref(journal->header);
    free(journal->runs);
    if (journal->fd > 0)
        close(journal->fd);
    memset(journal, 0, sizeof *journal);
    journal->fd = -1;
}

static int read_whole_journal(int fd, char *text, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, text + done, size - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return 0;
}

static int load_open(int fd, char **ret_text, size_t *ret_size, struct err *err)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return err_sys(err, -errno, "cannot look at it");
    if (!S_ISREG(status.st_mode))
        return err_set(err, -EINVAL, "it is not a regular file");
    if (status.st_size > (off_t)JOURNAL_MAX_SIZE)
        return err_set(err, -EINVAL, "it has more than %u MiB", JOURNAL_MAX_SIZE >> 20);
    size_t size = (size_t)status.st_size;
    char *text = malloc(size + 1);
    if (text == NULL)
        return err_set(err, -ENOMEM, "no memory for its %zu bytes", size);
    int result = read_whole_journal(fd, text, size);
    if (result < 0) {
        free(text);
        return err_sys(err, result, "cannot read it");
    }
    text[size] = '\0';
    *ret_text = text;
    *ret_size = size;
    return 0;
}

int journal_load(const char *path, int flags, int *ret_fd, char **ret_text, size_t *ret_size, struct err *err)
{
    /* A pipe or a device must not make fstune wait. */
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return err_sys(err, -errno, "cannot open it");
    int result = load_open(fd, ret_text, ret_size, err);
    if (result < 0)
        close(fd);
    else
        *ret_fd = fd;
    return result;
}

/* An existing file, or else a new one. */
static int open_or_create(const char *path, bool read_only, int *ret_fd, char **ret_text, size_t *ret_size,
                          struct err *err)
{
    int flags = (read_only ? O_RDONLY : O_RDWR | O_APPEND) | O_NOFOLLOW;
    int result = journal_load(path, flags, ret_fd, ret_text, ret_size, err);
    if (result == -ENOENT && !read_only)
        result = journal_load(path, flags | O_CREAT | O_EXCL, ret_fd, ret_text, ret_size, err);
    return result;
}

/* Once the lock is held, the file must still be as long as what was read. */
static int lock_journal(int fd, size_t size, struct err *err)
{
    struct stat status;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && (size_t)status.st_size == size)
        return 0;
    return err_set(err, -EAGAIN, "another fstune is using it; wait for it to end");
}

int journal_open(struct journal *journal, const char *path, bool read_only, struct err *err)
{
    int fd = -1;
    char *text = NULL;
    size_t size = 0;
    *journal = (struct journal){.fd = -1};
    int result = open_or_create(path, read_only, &fd, &text, &size, err);
    if (result == -ENOENT && read_only && (result = access_writable_file(path)) == 0)
        return 0;
    if (result == 0)
        result = journal_parse(journal, text, size, err);
    free(text);
    if (result == 0 && !read_only)
        result = lock_journal(fd, size, err);
    if (result == 0 && !read_only)
        journal->fd = fd;
    else if (fd >= 0)
        close(fd);
    if (result < 0) {
        journal_done(journal);
        err_prefix(err, "--resume %s", path);
    }
    return result;
}

/* One write for a line: an end in the middle leaves a part of it at the end of the file, nothing worse. */
static int write_line(struct journal *journal, json_t *object)
{
    char *text = object == NULL ? NULL : json_dumps(object, JSON_COMPACT);
    size_t size = text == NULL ? 0 : strlen(text);
    int result = text == NULL ? -ENOMEM : 0;
    if (result == 0) {
        text[size++] = '\n'; /* where the 0 stood */
        ssize_t n = write(journal->fd, text, size);
        result = n < 0 ? -errno : (size_t)n < size ? -ENOSPC : 0;
    }
    free(text);
    json_decref(object);
    return result;
}

int journal_begin(struct journal *journal, json_t *header, struct err *err)
{
    int result = 0;
    if (header == NULL)
        return err_set(err, -ENOMEM, "no memory for the header of a journal");
    if (journal->torn && ftruncate(journal->fd, (off_t)journal->whole_bytes) < 0)
        result = -errno;
    if (result == 0 && journal->header == NULL) {
        journal->header = json_incref(header);
        result = write_line(journal, json_incref(header));
    }
    json_decref(header);
    return result < 0 ? err_sys(err, result, "the journal cannot be written") : 0;
}

static void append_journal_line(struct journal *journal, json_t *object)
{
    int result = write_line(journal, object);
    if (result == 0)
        return;
    journal->failed = result;
    close(journal->fd);
    journal->fd = -1;
}

void journal_append(struct journal *journal, const struct journal_run *run)
{
    if (journal->fd >= 0)
        append_journal_line(journal, journal_line_make(run));
}

void journal_mark(struct journal *journal)
{
    if (journal->fd >= 0)
        append_journal_line(journal, json_pack("{s:s}", "mark", "disagrees"));
}

void journal_decide(struct journal *journal, const struct journal_length *length)
{
    if (journal->fd >= 0)
        append_journal_line(journal, json_pack("{s:{s:b,s:I,s:I,s:I}}", "length", "keeps", (int)length->keeps,
                                               "run_ns", (json_int_t)length->run_ns, "warmup_limit_ns",
                                               (json_int_t)length->warmup_limit_ns, "warmup_least_ns",
                                               (json_int_t)length->warmup_least_ns));
}
