/* The disk in Prometheus' text format: metrics of the disk, and metrics that each kind of load has. */
#include "tuner/nightly/disk_metrics.h"

#include "bench/base/clock.h"
#include "tuner/base/metrics_text.h"

#include <stdlib.h>

/* The beginning of a sample, up to its disk. */
static void begin(FILE *out, const struct disk *disk, const char *name)
{
    fprintf(out, "%s{disk=\"", name);
    metrics_text_value(out, disk->options.path);
    fputc('"', out);
}

/* What has no number are labels; its value is 1. None of these words needs to be escaped. */
static void print_info(FILE *out, const struct disk *disk)
{
    static const char name[] = "fstune_disk_info";
    char words[DISK_WAYS_TEXT_SIZE];
    metrics_text_head(out, name, "gauge", "What the disk does: its state, the load, and the setting.");
    begin(out, disk, name);
    fprintf(out, ",state=\"%s\",load=\"%s\",setting=\"%s\"} 1\n", disk_state(disk),
            kind_name(disk->online.kind), disk_ways_format(disk_gate_way(&disk->gate), words));
}

static void print_figures(FILE *out, const struct disk *disk)
{
    const struct online *online = &disk->online;
    const struct {
        const char *name, *type, *help;
        double value;
    } figures[] = {
        {"fstune_disk_served_bytes_total", "counter", "Bytes read and written in slices of time.",
         online->served_bytes},
        {"fstune_disk_trials_total", "counter", "Trials of another setting.", (double)online->n_trials},
        {"fstune_disk_dropped_trials_total", "counter", "Trials that told nothing.",
         (double)online->n_dropped},
        {"fstune_disk_regret_bytes_total", "counter", "Bytes that trials cost.", online->regret_bytes},
        {"fstune_disk_phases_total", "counter", "How often the load became one of another kind.",
         (double)online->n_switches},
        {"fstune_disk_changes_total", "counter", "Changes between cached and direct requests.",
         (double)disk->gate.n_changes},
        {"fstune_disk_thinking_seconds_total", "counter", "Processor time for choosing what to try.",
         (double)disk->thinking_ns / (double)CLOCK_NS_PER_S},
        {"fstune_disk_errors_total", "counter", "Requests that the image failed.", (double)disk->n_errors},
        {"fstune_disk_stalls_total", "counter", "Reads and writes that took longer than stall=.",
         (double)disk->n_stalls},
        {"fstune_disk_refused_total", "counter", "Settings refused for the latency of their requests.",
         (double)online->n_refused},
        {"fstune_disk_flush_lost", "gauge", "1: writes were lost, and all flushes fail.",
         disk->flush.lost_code != 0},
        {"fstune_disk_direct_possible", "gauge", "1: requests can pass by the page cache.",
         disk->ways.can_direct},
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        metrics_text_head(out, figures[i].name, figures[i].type, figures[i].help);
        begin(out, disk, figures[i].name);
        fprintf(out, "} %.17g\n", figures[i].value);
    }
}

static double gain_of(const struct online_mind *mind)
{
    return mind->gain;
}

static double settled_of(const struct online_mind *mind)
{
    return mind->is_settled;
}

static double trials_of(const struct online_mind *mind)
{
    return (double)mind->n_trials;
}

static double slices_of(const struct online_mind *mind)
{
    return (double)mind->n_slices;
}

/* Of the kinds that were seen or remembered. */
static void print_kinds(FILE *out, const struct disk *disk)
{
    static const struct {
        const char *name, *type, *help;
        bool has_setting;
        double (*value)(const struct online_mind *mind);
    } metrics[] = {
        {"fstune_disk_kind_gain_ratio", "gauge",
         "Rate of the setting for this kind of load over that of the first one.", true, gain_of},
        {"fstune_disk_kind_settled", "gauge", "1: the search for this kind of load has ended.", false,
         settled_of},
        {"fstune_disk_kind_trials_total", "counter", "Trials in this kind of load.", false, trials_of},
        {"fstune_disk_kind_slices_total", "counter", "Slices of time with this kind of load.", false,
         slices_of},
    };
    char words[DISK_WAYS_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        metrics_text_head(out, metrics[i].name, metrics[i].type, metrics[i].help);
        for (unsigned kind = 0; kind < KIND_N; kind++) {
            const struct online_mind *mind = &disk->online.mind[kind];
            if (mind->n_slices == 0 && !mind->is_settled)
                continue;
            begin(out, disk, metrics[i].name);
            fprintf(out, ",kind=\"%s\"", kind_name(kind));
            if (metrics[i].has_setting)
                fprintf(out, ",setting=\"%s\"", disk_ways_format(disk_ways_of_setting(&mind->best), words));
            fprintf(out, "} %.17g\n", metrics[i].value(mind));
        }
    }
}

char *disk_metrics_text(struct disk *disk)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (out == NULL)
        return NULL;
    pthread_mutex_lock(&disk->gate.lock);
    print_info(out, disk);
    print_figures(out, disk);
    print_kinds(out, disk);
    pthread_mutex_unlock(&disk->gate.lock);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
