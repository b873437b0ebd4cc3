/* A prediction as text and as CSV. */
#include "tuner/writes/report_prediction.h"

#include "bench/base/units.h"
#include "tuner/base/csv.h"
#include "tuner/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_CHANGES 10 /* of the text; JSON has all */

static const char *seconds(double s, char *buffer)
{
    return units_format_duration((uint64_t)llround(fmin(s, 1e9) * 1e9), buffer);
}

static const char *rate(double bytes, double s, char *buffer)
{
    return units_format_rate(s > 0 ? bytes / s : NAN, buffer);
}

static const char *bytes_of(double bytes, char *buffer)
{
    return units_format_bytes((uint64_t)llround(bytes), buffer);
}

const char *report_prediction_sizes(const struct predict *predict, char *buffer)
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
    snprintf(buffer, REPORT_PREDICTION_SIZES, "%s%s%s", units_format_size(least, low),
             least == most ? "" : "..", least == most ? "" : units_format_size(most, high));
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
    char size[UNITS_TEXT_SIZE], sizes[REPORT_PREDICTION_SIZES], delay[UNITS_TEXT_SIZE];
    fprintf(out, "Predicted, not measured\n\nHost     ");
    print_words(out, "", asked->host);
    print_words(out, ": ", predict->host.file_system);
    print_words(out, " at ", predict->host.path);
    print_words(out, " of ", predict->host.hostname);
    print_words(out, ", ", predict->host.date);
    fprintf(out, "\nWrites   %zu of %s, %s in all", load->n, report_prediction_sizes(predict, sizes),
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
    fprintf(out, "  %-24s %10s %12s", name, seconds(total_s, time),
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
            seconds(sum / (double)prediction->n, mean), seconds(least, low), seconds(most, high));
    if (prediction->close_s > 0)
        fprintf(out, "; the last flush %s", seconds(prediction->close_s, mean));
    fputs(".\n", out);
}

static void print_states(FILE *out, const struct predict *predict)
{
    struct predict_state states[CAWL_N_RUNS];
    char size[UNITS_TEXT_SIZE], mean[UNITS_TEXT_SIZE], speed[UNITS_TEXT_SIZE];
    predict_states(predict, states);
    fprintf(out, "\n  %-14s %8s %10s %10s %10s %12s\n", "state", "entered", "writes", "bytes", "mean cost",
            "rate");
    for (size_t i = 0; i < CAWL_N_RUNS; i++) {
        const struct predict_state *state = &states[i];
        if (state->n_writes == 0)
            continue;
        fprintf(out, "  %-14s %8zu %10zu %10s %10s %12s\n", cawl_run_names[i], state->n_times,
                state->n_writes, bytes_of((double)state->bytes, size),
                seconds(state->cost_s / (double)state->n_writes, mean),
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
                bytes_of((double)async->written_bytes, size), seconds(async->at_s, time));
    if (throttle == NULL)
        fputs("; nobody is made to wait.\n", out);
    else
        fprintf(out, "; writers wait for the device from %s on, after %s.\n",
                bytes_of((double)throttle->written_bytes, size), seconds(throttle->at_s, time));
}

static void print_changes(FILE *out, const struct predict *predict)
{
    const struct cawl_prediction *prediction = &predict->prediction;
    const size_t n = prediction->n_changes;
    char time[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    fprintf(out, "\n  %-14s %12s %12s %12s\n", "begins", "at", "after", "write");
    for (size_t i = 0; i < n && i < MAX_CHANGES; i++) {
        const struct cawl_change *change = &prediction->changes[i];
        fprintf(out, "  %-14s %12s %12s %12zu\n", cawl_run_names[change->run], seconds(change->at_s, time),
                bytes_of((double)change->written_bytes, size), change->chunk);
    }
    if (n > MAX_CHANGES)
        fprintf(out, "  ... and %zu more (--json has them)\n", n - MAX_CHANGES);
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
            bytes_of(predict_dirty_peak(prediction), peak), bytes_of(share * host->limit_bg_bytes, low),
            bytes_of(share * host->limit_hard_bytes, high), bytes_of(left_bytes, left),
            seconds(cawl_written_back_s(host, &predict->options, left_bytes), time),
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

int report_prediction_csv(FILE *out, const void *context, struct err *err)
{
    const struct predict *predict = context;
    const struct cawl_prediction *prediction = &predict->prediction;
    size_t cursor = 0;
    fputs("chunk,file,offset,size,delay_s,cost_s,end_s,dirty_bytes,state" CSV_END, out);
    for (size_t i = 0; i < prediction->n; i++) {
        const struct cawl_chunk *chunk = &predict->load.chunks[i];
        const char *state = predict_state_name(prediction, i, &cursor);
        fprintf(out, "%zu,", i);
        csv_text(out, predict->load.files[chunk->file]);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.10g,%.10g,%.12g,%.0f,%s" CSV_END, chunk->offset_bytes,
                chunk->size_bytes, chunk->delay_s, prediction->costs_s[i], prediction->end_s[i],
                prediction->dirty_bytes[i], state != NULL ? state : "");
    }
    (void)err;
    return 0;
}
