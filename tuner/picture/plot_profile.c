/* A recording: where requests went over time, the rate, their sizes, and what caches would serve. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>

/* Of a document. Steps need their ends. */
static void write_intervals(FILE *script, const struct plot_load *load)
{
    fputs("$kinds << EOD\n", script);
    for (size_t i = 0; i <= load->n_intervals; i++) {
        const struct plot_load_interval *interval =
            &load->intervals[i < load->n_intervals ? i : load->n_intervals - 1];
        fprintf(script, "%.6g", i < load->n_intervals ? interval->from_s : interval->to_s);
        for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++)
            fprintf(script, " %.6g", interval->per_s[kind]);
        fprintf(script, " %.6g\n", interval->bps);
    }
    fputs("EOD\n", script);
    fprintf(script, "array phases[%zu]\n", load->n_phases + 1);
    for (size_t i = 0; i < load->n_phases; i++)
        fprintf(script, "phases[%zu] = %.6g\n", i + 1, load->phase_s[i]);
    fprintf(script, "n_phases = %zu\n", load->n_phases);
}

/* Highest rates in an interval of a document; which kinds there are, as words of a text. */
static void write_kinds(FILE *script, const struct plot_load *load)
{
    double most = 0, most_bps = 0;
    bool has[PLOT_LOAD_KINDS] = {false};
    for (size_t i = 0; i < load->n_intervals; i++) {
        most_bps = fmax(most_bps, load->intervals[i].bps);
        for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++) {
            most = fmax(most, load->intervals[i].per_s[kind]);
            has[kind] = has[kind] || load->intervals[i].per_s[kind] > 0;
        }
    }
    fprintf(script, "top = %.6g\ntop_requests = %.6g\nhas_kind = '%d %d %d %d'\n", fmax(most_bps, 1),
            fmax(most, 1e-3), has[0], has[1], has[2], has[3]);
}

/* The blocks end with a row that draws nothing: gnuplot warns of an empty one. */
static void write_requests(FILE *script, const struct plot_load *load)
{
    double most_bps = 0;
    for (size_t i = 0; i < PLOT_LOAD_BINS; i++)
        most_bps =
            fmax(most_bps, fmax(load->bytes[0][i], load->bytes[1][i]) / load->seconds * PLOT_LOAD_BINS);
    fprintf(script, "top = %.6g\n", most_bps);
    fputs("$requests << EOD\n", script);
    for (size_t i = 0; i < load->n_shown; i++)
        fprintf(script, "%.6g %.9g %d\n", load->shown[i].at_s, load->shown[i].place_bytes,
                load->shown[i].writes);
    fputs("EOD\n$rate << EOD\n", script);
    double width_s = load->seconds / PLOT_LOAD_BINS;
    for (size_t i = 0; i < PLOT_LOAD_BINS; i++)
        fprintf(script, "%.6g %.6g %.6g\n", ((double)i + 0.5) * width_s, load->bytes[0][i] / width_s,
                load->bytes[1][i] / width_s);
    fputs("EOD\n", script);
}

static void write_sizes(FILE *script, const struct plot_load *load)
{
    double n = (double)(load->n[0] + load->n[1]);
    fputs("$sizes << EOD\n", script);
    for (size_t i = 0; i < PLOT_LOAD_SIZES; i++) {
        if (load->n_by_size[0][i] + load->n_by_size[1][i] > 0)
            fprintf(script, "%zu %.6g %.6g\n", i, 100 * (double)load->n_by_size[0][i] / n,
                    100 * (double)load->n_by_size[1][i] / n);
    }
    fputs("EOD\n", script);
}

/* Up to where nothing more is served. */
static void write_caches(FILE *script, const struct plot_load *load)
{
    double most = load->n_caches > 0 ? load->caches[load->n_caches - 1].served_share : 0;
    fputs("$caches << EOD\n", script);
    for (size_t i = 0; i < load->n_caches; i++) {
        fprintf(script, "%.6g %.6g\n", load->caches[i].n_bytes, 100 * load->caches[i].served_share);
        if (load->caches[i].served_share >= most)
            break;
    }
    if (load->n_caches == 0)
        fprintf(script, "%u 0\n", 1U << BLOCKS_LOG2_BYTES);
    fputs("EOD\n", script);
}

static int draw_profile(const struct plot_request *request, const struct plot_data *data, FILE *script,
                        struct err *err)
{
    const struct plot_load *load = data->load;
    char detail[PLOT_TEXT_SIZE];
    if (load == NULL || load->n[0] + load->n[1] == 0)
        return err_set(err, -ENODATA,
                       "it holds no requests; give what fstune profile --output or --save-events wrote");
    snprintf(detail, sizeof detail, "%llu reads, %llu writes in %.3g s", (unsigned long long)load->n[0],
             (unsigned long long)load->n[1], load->seconds);
    plot_script_begin(script, request, data, "Requests of a program", detail);
    fprintf(script, "seconds = %.6g\nspan = %.6g\nhas_reads = %d\nhas_writes = %d\nhas_places = %d\n",
            load->seconds, load->span_bytes, load->n[0] > 0, load->n[1] > 0, load->n_intervals == 0);
    if (load->n_intervals > 0) {
        write_kinds(script, load);
        write_intervals(script, load);
    } else {
        write_requests(script, load);
    }
    write_sizes(script, load);
    write_caches(script, load);
    fputs(plot_assets_head, script);
    fputs(plot_assets_profile, script);
    return 0;
}

const struct plot_ops plot_profile = {
    "profile", "where a program's requests went, their rate and sizes, and what caches would serve",
    draw_profile};
