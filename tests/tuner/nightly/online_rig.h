/* tests/tuner/nightly/online_rig: a configuration of a program that is tuned while it works, and a program
 * whose rate is known for each setting, in virtual time. */
#pragma once

#include "tests/tuner/rig.h"
#include "tuner/nightly/retune_online.h"

#include <errno.h>

#define RIG_VALUES 5
#define SLICE_NS   1000000000ULL

static struct retune_online_config config;
static struct retune_online tuned;
static struct err err;

static struct {
    double rate[2][RIG_VALUES]; /* of each load: work a second */
    double done;
    uint64_t now_ns, put_ns, end_ns;
    unsigned load; /* its number; words are "reads" and "writes" where has_words */
    bool has_words;
    struct online_setting setting; /* in force */
    unsigned n_put, n_slices, n_run[RIG_VALUES];
    unsigned fail_put;   /* the how manieth put fails, from 1; 0: none */
    bool fail_all;       /* and all after it */
    unsigned back_at;    /* the counter goes back in this slice; 0: never */
    unsigned gone_at;    /* it cannot be read any more from this slice on */
    unsigned swap_every; /* slices, after which the load changes; 0: never */
    bool stops;          /* somebody stops us in each slice */
    uint64_t random;
} program;

/* Within 3 % to both sides. */
static inline double noise(void)
{
    program.random = program.random * 6364136223846793005ULL + 1442695040888963407ULL;
    return 0.97 + 0.06 * (double)(program.random >> 11) / 9007199254740992.0;
}

static inline void work_until(uint64_t until_ns)
{
    unsigned value = (unsigned)program.setting.values[0];
    double seconds = (double)(until_ns - program.now_ns) / 1e9;
    program.done += program.rate[program.load][value] * seconds * noise();
    program.now_ns = until_ns;
}

static inline int program_count(void *context, struct retune_online_count *ret_count, struct err *error)
{
    (void)context;
    if (program.gone_at > 0 && program.n_slices >= program.gone_at)
        return err_set(error, -ENOENT, "counter /x: cannot be opened");
    *ret_count = (struct retune_online_count){.n = (uint64_t)program.done,
                                              .at_ns = program.now_ns,
                                              .n_stops = program.stops ? program.n_slices : 0};
    if (program.back_at > 0 && program.n_slices >= program.back_at)
        ret_count->n = 1;
    if (program.has_words)
        snprintf(ret_count->kind, sizeof ret_count->kind, "%s", program.load == 0 ? "reads" : "writes");
    return 0;
}

/* Nothing is done meanwhile. */
static inline int program_put(void *context, const struct online_setting *setting, struct err *error)
{
    (void)context;
    program.n_put++;
    program.now_ns += program.put_ns;
    if (program.n_put == program.fail_put || (program.fail_all && program.n_put > program.fail_put))
        return err_set(error, -EREMOTEIO, "the hook command failed with exit code 1");
    program.setting = *setting;
    return 0;
}

static inline bool program_wait(void *context, uint64_t until_ns)
{
    (void)context;
    if (until_ns > program.end_ns)
        return false;
    program.n_run[(unsigned)program.setting.values[0]]++;
    work_until(until_ns);
    program.n_slices++;
    if (program.swap_every > 0 && program.n_slices % program.swap_every == 0)
        program.load = 1 - program.load;
    return true;
}

static const struct retune_online_world world = {
    .count = program_count, .put = program_put, .wait = program_wait};

/* One setting of five values; the second one runs first. */
#define RIG_CONFIG                                                                                           \
    "value_file = \"/x/values\"; counter = \"/x/counter\"; settings = ( { name = \"block\"; values = "       \
    "[\"4k\", \"16k\", \"64k\", \"256k\", \"1m\"]; first = \"16k\"; } );"

static inline void read_config(const char *more)
{
    rig_write("o.conf", "%s%s", RIG_CONFIG, more);
    if (retune_online_config_read(&config, "o.conf", &err) != 0)
        fail_msg("%s", err.text);
}

static inline void begin_program(const double rates[RIG_VALUES], unsigned n_slices)
{
    memset(&program, 0, sizeof program);
    memset(&err, 0, sizeof err);
    for (size_t i = 0; i < RIG_VALUES; i++) {
        program.rate[0][i] = 1e8 * rates[i];
        program.rate[1][i] = 1e8 * rates[RIG_VALUES - 1 - i];
    }
    program.random = 1;
    program.end_ns = n_slices * SLICE_NS;
}

static inline void open_program(void)
{
    if (retune_online_open(&tuned, &config, &world, &err) != 0)
        fail_msg("%s", err.text);
}

static inline unsigned in_force(void)
{
    return (unsigned)program.setting.values[0];
}
