/* What blurs figures: noise from run to run, other load, power saving. */
#include "bench/base/units.h"
#include "tuner/impact/doctor.h"

#include <math.h>
#include <string.h>

/* The default tolerance of `recommend`: what a search has to tell apart. */
#define WANTED_SHARE 0.03
/* Replays per point that the default budget has to give. */
#define FEW_REPLAYS  10
#define MANY_REPLAYS 40

static void check_noise(const struct doctor_facts *facts, struct doctor_report *report)
{
    const struct doctor_noise *noise = &facts->noise;
    if (noise->n < 3) {
        if (noise->failed && facts->has_target && !facts->interrupted)
            doctor_say(report, DOCTOR_FINDING, "nothing can be measured here until this is solved", "%.300s",
                       noise->why);
        return;
    }
    char time[UNITS_TEXT_SIZE];
    size_t replays = doctor_noise_replays_for(noise->run_cv, WANTED_SHARE);
    double resolved = doctor_noise_resolves(noise->run_cv, noise->n);
    enum doctor_severity severity = replays <= FEW_REPLAYS    ? DOCTOR_OK
                                    : replays <= MANY_REPLAYS ? DOCTOR_NOTE
                                                              : DOCTOR_FINDING;
    units_format_duration((uint64_t)(2e9 * (double)replays * noise->run_seconds), time);
    doctor_say(
        report, severity,
        severity == DOCTOR_OK     ? NULL
        : severity == DOCTOR_NOTE ? "give recommend more --budget for close calls"
                                  : "quieten the machine, give more --budget, or a larger --tolerance",
        "differences below %.1f %% need more than %zu replays of %.0f ms; 3 %% needs %zu%s, %s for two "
        "settings",
        100 * resolved, noise->n, 1e3 * noise->run_seconds, replays, replays >= 100000 ? " or more" : "",
        time);
    /* Independent tenths of a run would average out to a tenth's scatter / sqrt(10). */
    if (noise->run_cv > 2 * noise->window_cv / sqrt(10) && noise->run_cv > WANTED_SHARE)
        doctor_say(report, DOCTOR_NOTE, "more replays help, longer runs do not",
                   "runs differ as a whole (%.1f %% between runs, %.1f %% between tenths of one)",
                   100 * noise->run_cv, 100 * noise->window_cv);
}

/* One by its number; of several how many there are, the first and the last. */
static void format_processors(const cpu_set_t *set, char *text, size_t size)
{
    size_t first = 0, last = CPU_SETSIZE - 1;
    while (first < last && !CPU_ISSET(first, set))
        first++;
    while (last > first && !CPU_ISSET(last, set))
        last--;
    if (first == last)
        snprintf(text, size, "processor %zu", first);
    else
        snprintf(text, size, "%d of the processors %zu to %zu", CPU_COUNT(set), first, last);
}

static void check_interrupts(const struct doctor_facts *facts, struct doctor_report *report)
{
    const struct doctor_placement *placement = &facts->noise.placement;
    char where[64];
    if (CPU_COUNT(&placement->there) == 0 || !isfinite(placement->ratio.low) || facts->noise.warm)
        return;
    format_processors(&placement->there, where, sizeof where);
    const bool is_faster = placement->ratio.low > 1 + WANTED_SHARE,
               is_slower = placement->ratio.high < 1 - WANTED_SHARE;
    doctor_say(report, is_faster || is_slower ? DOCTOR_NOTE : DOCTOR_OK,
               is_faster ? "a program has one rate or the other for as long as the scheduler keeps it in one "
                           "place: start it, and fstune, with taskset there"
               : is_slower
                   ? "a program has one rate or the other for as long as the scheduler keeps it in one "
                     "place: start it, and fstune, with taskset elsewhere"
                   : NULL,
               "requests end on %s: random reads there make %.2f times the rate of elsewhere (95 %% interval "
               "%.2f to %.2f, %zu runs)",
               where, placement->there_bps / placement->elsewhere_bps, placement->ratio.low,
               placement->ratio.high, facts->noise.n);
}

static void check_load(const struct doctor_facts *facts, struct doctor_report *report)
{
    double load = hostinfo_number(facts->host, "load1_before"), cpus = hostinfo_number(facts->host, "cpus");
    if (!isfinite(load) || !(cpus > 0))
        return;
    bool busy = load > 0.5 * cpus;
    doctor_say(report,
               load > cpus ? DOCTOR_FINDING
               : busy      ? DOCTOR_NOTE
                           : DOCTOR_OK,
               busy ? "other programs want the processors; end them or measure later" : NULL,
               "load %.2f on %.0f processors", load, cpus);
}

static void check_pressure(const struct doctor_facts *facts, struct doctor_report *report)
{
    double share = hostinfo_number(facts->host, "psi_io_some_avg10_percent_before");
    if (!isfinite(share))
        return;
    doctor_say(report,
               share > 20  ? DOCTOR_FINDING
               : share > 5 ? DOCTOR_NOTE
                           : DOCTOR_OK,
               share > 5 ? "other programs do I/O; end them or measure later" : NULL,
               "tasks waited for I/O %.1f %% of the last 10 s", share);
}

static void check_device_busy(const struct doctor_facts *facts, struct doctor_report *report)
{
    char text[UNITS_TEXT_SIZE];
    double in_flight = hostinfo_number(facts->host, "device_in_flight_before"),
           writeback = hostinfo_number(facts->host, "writeback_memory_bytes_before");
    if (facts->never_quiet)
        doctor_say(report, DOCTOR_FINDING, "somebody else uses this disk; measure when it is idle",
                   "the device was busy after every run");
    else if (in_flight > 0)
        doctor_say(report, DOCTOR_NOTE, "somebody else uses this disk; measure when it is idle",
                   "%.0f requests in flight before the first run", in_flight);
    else if (in_flight == 0)
        doctor_say(report, DOCTOR_OK, NULL, "the device was idle before the first run");
    if (writeback > 64.0 * 1048576) {
        units_format_bytes((uint64_t)writeback, text);
        doctor_say(report, DOCTOR_NOTE, "wait until it is written (sync)", "%s were being written back",
                   text);
    }
}

static void check_steal(const struct doctor_facts *facts, struct doctor_report *report)
{
    double share = facts->steal_share;
    if (!(share > 0.01))
        return;
    doctor_say(report, share > 0.05 ? DOCTOR_FINDING : DOCTOR_NOTE,
               "the host runs other guests; measure at another time",
               "the host took %.1f %% of the processors' time away", 100 * share);
}

static void check_governor(const struct doctor_facts *facts, struct doctor_report *report)
{
    const char *name = hostinfo_text(facts->host, "cpu_governor");
    if (name[0] == '\0')
        return;
    bool saves = strcmp(name, "powersave") == 0 || strcmp(name, "conservative") == 0;
    doctor_say(report, saves ? DOCTOR_NOTE : DOCTOR_OK,
               saves ? "small requests may be faster with the governor performance" : NULL,
               "processor governor %s", name);
}

static void check_power(const struct doctor_facts *facts, struct doctor_report *report)
{
    double on_battery = hostinfo_number(facts->host, "on_battery");
    if (on_battery == 1)
        doctor_say(report, DOCTOR_FINDING, "processor and drive save power; plug it in",
                   "the machine runs on battery");
}

static const struct doctor_check checks[] = {
    {"noise_floor", check_noise},
    {"interrupts", check_interrupts},
    {"load", check_load},
    {"io_pressure", check_pressure},
    {"device_busy", check_device_busy},
    {"steal", check_steal},
    {"cpu_governor", check_governor},
    {"power", check_power},
};

const struct doctor_group doctor_quiet = {"What blurs figures", checks, sizeof checks / sizeof checks[0]};
