/* A prediction as text, CSV, JSON and picture. */
#include "tuner/writes/report_prediction.h"

#include "bench/base/units.h"
#include "tuner/base/csv.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/writes/extensions.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_CHANGES 10 /* of the text; JSON has all */
#define SIZES_TEXT  72

static const char *rate(double bytes, double s, char *buffer)
{
    return units_format_rate(s > 0 ? bytes / s : NAN, buffer);
}

static const char *bytes_of(double bytes, char *buffer)
{
    return units_format_bytes((uint64_t)llround(bytes), buffer);
}

/* "4k", or of a trace "4k..1m", the smallest and the largest write; a buffer of SIZES_TEXT. */
static const char *format_request_sizes(const struct predict *predict, char *buffer)
{
    const struct settings_prediction *asked = &predict->settings->prediction;
    const struct write_load *load = &predict->load;
    uint64_t least = UINT64_MAX, most = 0;
    char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (asked->trace[0] == '\0' && asked->request_size_bytes < load->total_bytes)
        return units_format_size(asked->request_size_bytes, buffer);
    for (size_t i = 0; i < load->n; i++) {
        least = load->chunks[i].size_bytes < least ? load->chunks[i].size_bytes : least;
        most = load->chunks[i].size_bytes > most ? load->chunks[i].size_bytes : most;
    }
    snprintf(buffer, SIZES_TEXT, "%s%s%s", units_format_size(least, low), least == most ? "" : "..",
             least == most ? "" : units_format_size(most, high));
    return buffer;
}

static void print_words(FILE *out, const char *before, const char *text)
{
    char clean[HOST_TEXT_SIZE];
    if (text[0] != '\0')
        fprintf(out, "%s%s", before, text_printable(text, clean, sizeof clean));
}

static void print_prediction_head(FILE *out, const struct predict *predict)
{
    const struct settings_prediction *asked = &predict->settings->prediction;
    const struct write_load *load = &predict->load;
    char size[UNITS_TEXT_SIZE], sizes[SIZES_TEXT], delay[UNITS_TEXT_SIZE];
    fprintf(out, "Predicted, not measured\n\nHost     ");
    print_words(out, "", asked->host);
    print_words(out, ": ", predict->host.file_system);
    print_words(out, " at ", predict->host.path);
    print_words(out, " of ", predict->host.hostname);
    print_words(out, ", ", predict->host.date);
    fprintf(out, "\nWrites   %zu of %s, %s in all", load->n, format_request_sizes(predict, sizes),
            bytes_of((double)load->total_bytes, size));
    if (asked->trace[0] != '\0') {
        fprintf(out, ", %zu file%s", load->n_files, load->n_files == 1 ? "" : "s");
        print_words(out, ", from ", strcmp(asked->trace, "-") == 0 ? "standard input" : asked->trace);
    } else {
        fprintf(out, ", %s", asked->random ? "in random order" : "one after another");
        if (asked->rewrite_share > 0)
            fprintf(out, ", each rewrites %.3g %% of its size", 100 * asked->rewrite_share);
        if (asked->delay_ns > 0)
            fprintf(out, ", %s before each", units_format_duration(asked->delay_ns, delay));
        if (asked->random)
            fprintf(out, ", seed %" PRIu64, predict->seed);
    }
    fputs("\n", out);
}

static void print_total(FILE *out, const struct predict *predict, const char *name, double total_s)
{
    char time[UNITS_TEXT_SIZE], speed[UNITS_TEXT_SIZE];
    fprintf(out, "  %-24s %10s %12s", name, text_short_duration(1e9 * total_s, time),
            rate((double)predict->load.total_bytes, total_s, speed));
    if (predict->naive_total_s > 0)
        fprintf(out, " %9.3g", total_s / predict->naive_total_s);
    fputs("\n", out);
}

static void print_totals(FILE *out, const struct predict *predict)
{
    const struct cawl_prediction *prediction = &predict->prediction;
    char mode[48], mean[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    double least = INFINITY, most = 0, sum = 0;
    for (size_t i = 0; i < prediction->n; i++) {
        least = fmin(least, prediction->costs_s[i]);
        most = fmax(most, prediction->costs_s[i]);
        sum += prediction->costs_s[i];
    }
    fprintf(out, "\n  %-24s %10s %12s %9s\n", "time in writes", "total", "rate", "of naive");
    snprintf(mode, sizeof mode, "%s%s", cawl_mode_names[predict->mode],
             predict->extended ? ", extended" : "");
    print_total(out, predict, mode, prediction->total_s);
    if (predict->extended)
        print_total(out, predict, "  as the paper has it", predict->plain_total_s);
    if (predict->mode != CAWL_NAIVE)
        print_total(out, predict, "naive (size / device)", predict->naive_total_s);
    fprintf(out, "\nA write takes %s on average, %s at least, %s at most",
            text_short_duration(1e9 * sum / (double)prediction->n, mean),
            text_short_duration(1e9 * least, low), text_short_duration(1e9 * most, high));
    if (prediction->close_s > 0)
        fprintf(out, "; the last flush %s", text_short_duration(1e9 * prediction->close_s, mean));
    fputs(".\n", out);
}

/* What passed in one state. */
struct state_sums {
    size_t n_writes, n_times; /* entered so often */
    uint64_t bytes;
    double cost_s;
};

static void add_up_states(const struct predict *predict, struct state_sums states[CAWL_N_RUNS])
{
    const struct cawl_prediction *prediction = &predict->prediction;
    for (size_t i = 0; i < prediction->n_changes; i++) {
        const struct cawl_change *change = &prediction->changes[i];
        struct state_sums *state = &states[change->run];
        const size_t end = i + 1 < prediction->n_changes ? change[1].chunk : prediction->n;
        state->n_times++;
        for (size_t chunk = change->chunk; chunk < end; chunk++) {
            state->n_writes++;
            state->bytes += predict->load.chunks[chunk].size_bytes;
            state->cost_s += prediction->costs_s[chunk];
        }
    }
}

static void print_states(FILE *out, const struct predict *predict)
{
    struct state_sums states[CAWL_N_RUNS] = {0};
    char size[UNITS_TEXT_SIZE], mean[UNITS_TEXT_SIZE], speed[UNITS_TEXT_SIZE];
    add_up_states(predict, states);
    fprintf(out, "\n  %-14s %8s %10s %10s %10s %12s\n", "state", "entered", "writes", "bytes", "mean cost",
            "rate");
    for (size_t i = 0; i < CAWL_N_RUNS; i++) {
        const struct state_sums *state = &states[i];
        if (state->n_writes == 0)
            continue;
        fprintf(out, "  %-14s %8zu %10zu %10s %10s %12s\n", cawl_run_names[i], state->n_times,
                state->n_writes, bytes_of((double)state->bytes, size),
                text_short_duration(1e9 * state->cost_s / (double)state->n_writes, mean),
                rate((double)state->bytes, state->cost_s, speed));
    }
}

/* The first change into this state or one above it; NULL: there is none. */
static const struct cawl_change *first_from(const struct cawl_prediction *prediction, enum cawl_run run)
{
    for (size_t i = 0; i < prediction->n_changes; i++) {
        if (prediction->changes[i].run >= run)
            return &prediction->changes[i];
    }
    return NULL;
}

static void print_borders(FILE *out, const struct cawl_prediction *prediction)
{
    const struct cawl_change *async = first_from(prediction, CAWL_ASYNC_RUN),
                             *throttle = first_from(prediction, CAWL_THROTTLE_RUN);
    char size[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    if (async == NULL)
        fputs("\nThe page cache takes all of it at full speed", out);
    else
        fprintf(out, "\nThe page cache takes %s at full speed, %s long",
                bytes_of((double)async->written_bytes, size), text_short_duration(1e9 * async->at_s, time));
    if (throttle == NULL)
        fputs("; nobody is made to wait.\n", out);
    else
        fprintf(out, "; writers wait for the device from %s on, after %s.\n",
                bytes_of((double)throttle->written_bytes, size),
                text_short_duration(1e9 * throttle->at_s, time));
}

static void print_changes(FILE *out, const struct predict *predict)
{
    const struct cawl_prediction *prediction = &predict->prediction;
    const size_t n = prediction->n_changes;
    char time[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    fprintf(out, "\n  %-14s %12s %12s %12s\n", "begins", "at", "after", "write");
    for (size_t i = 0; i < n && i < MAX_CHANGES; i++) {
        const struct cawl_change *change = &prediction->changes[i];
        fprintf(out, "  %-14s %12s %12s %12zu\n", cawl_run_names[change->run],
                text_short_duration(1e9 * change->at_s, time), bytes_of((double)change->written_bytes, size),
                change->chunk);
    }
    if (n > MAX_CHANGES)
        fprintf(out, "  ... and %zu more (--json has them)\n", n - MAX_CHANGES);
}

/* 0 without writes. */
static double dirty_peak_of(const struct cawl_prediction *prediction)
{
    double peak = prediction->left_bytes;
    for (size_t i = 0; i < prediction->n; i++)
        peak = fmax(peak, prediction->dirty_bytes[i]);
    return peak;
}

static void print_dirty(FILE *out, const struct predict *predict)
{
    const struct cawl_prediction *prediction = &predict->prediction;
    const struct cawl_host *host = &predict->host.host;
    const double share = cawl_limit_share(&predict->options);
    const double left_bytes = prediction->left_bytes;
    const unsigned writers = predict->options.n_writers;
    char peak[UNITS_TEXT_SIZE], left[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE],
        time[UNITS_TEXT_SIZE];
    if (writers > 1)
        fprintf(out, "Of each of the %u writers: dirty", writers);
    else
        fputs("Dirty", out);
    fprintf(out,
            " memory reaches %s (written back from %s on, writers wait at %s); %s is left at the end, "
            "%s of work for the device%s.\n",
            bytes_of(dirty_peak_of(prediction), peak), bytes_of(share * host->limit_bg_bytes, low),
            bytes_of(share * host->limit_hard_bytes, high), bytes_of(left_bytes, left),
            text_short_duration(1e9 * cawl_written_back_s(host, &predict->options, left_bytes), time),
            writers > 1 ? ", with what the others leave" : "");
}

int report_prediction_text(FILE *out, const struct predict *predict, struct err *err)
{
    print_prediction_head(out, predict);
    print_totals(out, predict);
    if (predict->prediction.n_changes > 0) {
        print_states(out, predict);
        print_changes(out, predict);
        print_borders(out, &predict->prediction);
        print_dirty(out, predict);
    }
    return text_finish(out, err);
}

/* The state of chunk i; cursor, 0 at first, remembers the place while i ascends. "" in modes without a page
 * cache. */
static const char *state_of(const struct cawl_prediction *prediction, size_t i, size_t *cursor)
{
    if (prediction->n_changes == 0 || i < prediction->changes[0].chunk)
        return "";
    while (*cursor + 1 < prediction->n_changes && prediction->changes[*cursor + 1].chunk <= i)
        ++*cursor;
    return cawl_run_names[prediction->changes[*cursor].run];
}

int report_prediction_csv(FILE *out, const void *context, struct err *err)
{
    const struct predict *predict = context;
    const struct cawl_prediction *prediction = &predict->prediction;
    size_t cursor = 0;
    fputs("chunk,file,offset,size,delay_s,cost_s,end_s,dirty_bytes,state" CSV_END, out);
    for (size_t i = 0; i < prediction->n; i++) {
        const struct cawl_chunk *chunk = &predict->load.chunks[i];
        fprintf(out, "%zu,", i);
        csv_text(out, predict->load.files[chunk->file]);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.10g,%.10g,%.12g,%.0f,%s" CSV_END, chunk->offset_bytes,
                chunk->size_bytes, chunk->delay_s, prediction->costs_s[i], prediction->end_s[i],
                prediction->dirty_bytes[i], state_of(prediction, i, &cursor));
    }
    (void)err;
    return 0;
}

json_t *report_prediction_states(const struct cawl_prediction *prediction)
{
    json_t *array = json_array();
    for (size_t i = 0; i < prediction->n_changes; i++) {
        const struct cawl_change *change = &prediction->changes[i];
        json_array_append_new(array, json_pack("{s:s, s:o, s:I, s:I}", "state", cawl_run_names[change->run],
                                               "from_s", json_number(change->at_s), "from_bytes",
                                               (json_int_t)change->written_bytes, "chunk",
                                               (json_int_t)change->chunk));
    }
    return array;
}

json_t *report_prediction_host(const struct host_file *file, const char *path)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "file", json_text(path), "hostname",
                               json_text(file->hostname), "path", json_text(file->path), "file_system",
                               json_text(file->file_system), "kernel", json_text(file->kernel), "date",
                               json_text(file->date));
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++)
        json_object_set_new(object, host_parameters[i].name, json_number(host_value(&file->host, i)));
    return object;
}

static json_t *load_to_json(const struct predict *predict)
{
    const struct settings_prediction *asked = &predict->settings->prediction;
    json_t *object =
        json_pack("{s:I, s:I, s:I}", "writes", (json_int_t)predict->load.n, "bytes",
                  (json_int_t)predict->load.total_bytes, "files", (json_int_t)predict->load.n_files);
    if (asked->trace[0] != '\0') {
        json_object_set_new(object, "trace", json_text(asked->trace));
        return object;
    }
    json_object_set_new(object, "pattern", json_string(asked->random ? "randwrite" : "write"));
    json_object_set_new(object, "request_size", json_integer((json_int_t)asked->request_size_bytes));
    json_object_set_new(object, "delay_s", json_number((double)asked->delay_ns / 1e9));
    json_object_set_new(object, "rewrite_share", json_number(asked->rewrite_share));
    if (asked->random)
        json_object_set_new(object, "seed", json_integer((json_int_t)predict->seed));
    return object;
}

static json_t *document(const struct predict *predict)
{
    const struct cawl_prediction *prediction = &predict->prediction;
    const struct host_file *host = &predict->host;
    const double share = cawl_limit_share(&predict->options);
    const size_t n = prediction->n;
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", "fstune/write-prediction/1", "version", FSTUNE_VERSION, "mode",
        cawl_mode_names[predict->mode], "total_s", json_number(prediction->total_s), "naive_total_s",
        json_number(predict->naive_total_s), "plain_total_s",
        json_number(predict->extended ? predict->plain_total_s : prediction->total_s), "close_s",
        json_number(prediction->close_s), "dirty_peak_bytes", json_number(dirty_peak_of(prediction)),
        "dirty_left_bytes", json_number(prediction->left_bytes), "limits", "background_bytes",
        json_number(share * host->host.limit_bg_bytes), "hard_bytes",
        json_number(share * host->host.limit_hard_bytes), "load", load_to_json(predict), "extensions",
        extensions_json(&predict->options), "host",
        report_prediction_host(host, predict->settings->prediction.host), "states",
        report_prediction_states(prediction), "costs_s", json_numbers(prediction->costs_s, n), "end_s",
        json_numbers(prediction->end_s, n), "dirty_bytes", json_numbers(prediction->dirty_bytes, n));
}

int report_prediction_json(FILE *out, const struct predict *predict, struct err *err)
{
    return json_print_line(out, document(predict), err);
}

/* Shares the prediction's arrays. */
static void describe_prediction(const struct predict *predict, struct plot_data *data)
{
    const struct host_file *host = &predict->host;
    const double share = cawl_limit_share(&predict->options);
    struct plot_writes *writes = &data->writes;
    char sizes[SIZES_TEXT], total[UNITS_TEXT_SIZE];
    *data = (struct plot_data){.source = PLOT_PREDICTION};
    writes->prediction = predict->prediction;
    writes->naive_s = predict->mode == CAWL_NAIVE ? 0 : predict->naive_total_s / (double)predict->load.n;
    writes->limit_bg_bytes = share * host->host.limit_bg_bytes;
    writes->limit_hard_bytes = share * host->host.limit_hard_bytes;
    snprintf(writes->mode, sizeof writes->mode, "%s", cawl_mode_names[predict->mode]);
    snprintf(writes->load, sizeof writes->load, "%zu write%s of %s, %s in all%s", predict->load.n,
             predict->load.n == 1 ? "" : "s", format_request_sizes(predict, sizes),
             units_format_bytes(predict->load.total_bytes, total),
             predict->extended ? ", extended model" : "");
    snprintf(data->place, sizeof data->place, "%.60s%s%.60s%s%.60s", host->file_system,
             host->hostname[0] != '\0' ? " of " : "", host->hostname, host->date[0] != '\0' ? ", " : "",
             host->date);
}

static int write_predict_script(FILE *script, const struct plot_request *request, const void *predict,
                                struct err *err)
{
    struct plot_data data;
    describe_prediction(predict, &data);
    return plot_prediction.draw(request, &data, script, err);
}

int report_prediction_plot(const struct predict *predict, struct err *err)
{
    const char *name = predict->settings->prediction.picture;
    return plot_deliver_drawn(&predict->settings->plot, strcmp(name, "-") == 0 ? "" : name,
                              write_predict_script, predict, err);
}
