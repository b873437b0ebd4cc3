/* The picture of `advise write`: the rate of each way of writing over the size of the burst. */
#include "bench/base/units.h"
#include "tuner/picture/plot_script.h"
#include "tuner/writes/write_advice.h"

static double rate_at(const struct write_advice *advice, size_t i, size_t way)
{
    return advice->bytes[i] / advice->curve[i].seconds[way];
}

static struct plot_unit unit_of(const struct write_advice *advice)
{
    double most = 0;
    for (size_t i = 0; i < advice->n_points; i++) {
        for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
            most = rate_at(advice, i, way) > most ? rate_at(advice, i, way) : most;
    }
    return plot_script_unit(most);
}

/* Every fourth power of two, with its name. */
static void write_tics(FILE *script, const struct write_advice *advice)
{
    char text[UNITS_TEXT_SIZE];
    const char *separator = "set xtics (";
    for (uint64_t bytes = 4096; (double)bytes <= advice->high_bytes * 2; bytes *= 16) {
        fprintf(script, "%s'%s' %.17g", separator, units_format_size(bytes, text), (double)bytes);
        separator = ", ";
    }
    fputs(")\n", script);
}

static void write_blocks(FILE *script, const struct write_advice *advice, struct plot_unit unit)
{
    fputs("$curve << EOD\n", script);
    for (size_t i = 0; i < advice->n_points; i++) {
        fprintf(script, "%.17g", advice->bytes[i]);
        for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++)
            plot_script_number(script, rate_at(advice, i, way) / unit.bps);
        fputc('\n', script);
    }
    fputs("EOD\n$asked << EOD\n", script);
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++) {
        double bytes = (double)advice->burst.bytes;
        fprintf(script, "%.17g", bytes);
        plot_script_number(script, bytes / advice->cost.seconds[way] / unit.bps);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

/* A dotted line for each crossing, in the colour of the way that crosses. */
static void write_crossings(FILE *script, const struct write_advice *advice)
{
    for (size_t i = 0; i < 2; i++) {
        const struct write_advice_crossings *crossings = &advice->crossings[i];
        for (size_t k = 0; k < crossings->n; k++)
            fprintf(script,
                    "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead dashtype 3 lc rgb "
                    "'%s'\n",
                    crossings->at[k].bytes, crossings->at[k].bytes, plot_series_colours[crossings->first]);
    }
}

/* Dashed: a synchronous write often costs what a direct one does, and would hide it. */
static void write_plot(FILE *script)
{
    const char *separator = "plot \\\n";
    for (size_t way = 0; way < CAWL_ADVICE_N_WAYS; way++) {
        fprintf(script, "%s  $curve using 1:%zu with lines lw 2%s lc rgb '%s' title ", separator, way + 2,
                way == CAWL_ADVICE_SYNC ? " dt 2" : "", plot_series_colours[way]);
        plot_script_text(script, write_advice_words[way], 64);
        separator = ", \\\n";
    }
    fputs(", \\\n  $asked using 1:2 with points pt 7 ps 1.2 lc rgb '#404040' title 'the burst asked for'\n",
          script);
}

int write_advice_draw(FILE *script, const struct plot_request *request, const void *context, struct err *err)
{
    const struct write_advice *advice = context;
    static const struct plot_data nothing;
    struct plot_unit unit = unit_of(advice);
    char size[UNITS_TEXT_SIZE], detail[128];
    snprintf(detail, sizeof detail, "requests of %s; dotted: where another way takes over",
             units_format_size(advice->burst.request_bytes, size));
    plot_script_begin(script, request, &nothing, "Writing a burst: predicted by a model, not measured",
                      detail);
    plot_script_title(script, "x", "size of the burst, bytes");
    fprintf(script, "set logscale xy\nset xrange [%.17g:%.17g]\nset ylabel 'rate, %s'\n", advice->low_bytes,
            advice->high_bytes, unit.name);
    write_tics(script, advice);
    plot_script_key_below(script, request, true);
    write_crossings(script, advice);
    write_blocks(script, advice, unit);
    write_plot(script);
    (void)err;
    return 0;
}
