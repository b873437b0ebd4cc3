/* tests/models/online/online_rig: loads whose rates are known. */
#pragma once

#include "models/online/online.h"
#include "tests/models/online/latencies.h"
#include "tests/test.h"

#define READS  0U /* kinds: any two */
#define WRITES 3U
#define NOISE  0.03
#define SLICE  0.05 /* seconds */
#define MS     1000000U

/* The rates of three settings, over the first one's, for each of two kinds. */
static struct {
    double rate[2][3];
    bool forbidden; /* the third setting */
    uint64_t random;
    double drift;       /* of all rates, for each slice */
    unsigned n_slow[3]; /* by setting: of the 100 requests of a slice, those that take 10 ms instead of 1 */
    double seconds;     /* that have passed */
    struct online online;
    uint64_t n_run[3];
    struct online_setting watched;
    uint64_t n_watched; /* slices that ran it */
} load;

static inline struct fst_space *space_of(void *context, unsigned kind)
{
    (void)context;
    (void)kind;
    static const double two[] = {0, 1}, three[] = {0, 1, 2};
    struct fst_space *space = fst_space_new();
    fst_space_add_levels(space, "setting", three, 3);
    fst_space_add_choices(space, "nothing", 2);
    fst_space_add_levels(space, "either", two, 2);
    return space;
}

static inline bool may_use(void *context, const struct online_setting *setting)
{
    (void)context;
    return setting->values[0] < 2 || !load.forbidden;
}

static inline void begin(double regret_share, bool dry_run)
{
    struct online_options options = {.regret_share = regret_share,
                                     .dry_run = dry_run,
                                     .n_factors = 3,
                                     .is_timed = true,
                                     .seed = 1,
                                     .space = space_of,
                                     .may_use = may_use};
    load.random = 1;
    load.drift = 0;
    load.seconds = 0;
    load.watched.values[0] = -1;
    load.n_watched = 0;
    memset(load.n_slow, 0, sizeof(load.n_slow));
    load.forbidden = false;
    memset(load.n_run, 0, sizeof(load.n_run));
    online_init(&load.online, &options);
}

FIXTURE(tear_down)
{
    online_done(&load.online);
    return 0;
}

EACH_TEST(NULL, tear_down);

/* Nearly normal, with the noise's standard deviation. */
static inline double noise(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        load.random = load.random * 6364136223846793005ULL + 1442695040888963407ULL;
        sum += (double)(load.random >> 11) / 9007199254740992.0;
    }
    return NOISE * (sum - 6);
}

static inline bool is_watched(const struct online_setting *setting)
{
    double difference = 0;
    for (size_t i = 0; i < ONLINE_FACTORS; i++)
        difference += fabs(setting->values[i] - load.watched.values[i]);
    return difference < 0.5;
}

static inline struct online_slice slice_of(unsigned kind, struct online_setting setting, double bps)
{
    struct online_slice slice = {.kind = kind,
                                 .setting = setting,
                                 .n_bytes = (uint64_t)(bps * SLICE),
                                 .seconds = SLICE,
                                 .end_seconds = load.seconds += SLICE,
                                 .is_whole = true};
    unsigned n_slow = load.n_slow[(unsigned)setting.values[0]];
    latencies_add(&slice.latencies, MS, 100 - n_slow);
    latencies_add(&slice.latencies, 10 * MS, n_slow);
    return slice;
}

static inline void think(void)
{
    struct online_thought thought;
    while (online_thought_take(&load.online, &thought)) {
        online_think(&thought);
        online_thought_give(&load.online, &thought);
    }
}

/* n slices of a kind, as the disk would make them. */
static inline void run(unsigned kind, size_t n)
{
    static struct online_setting next;
    next = online_running(&load.online);
    for (size_t i = 0; i < n; i++) {
        unsigned which = (unsigned)next.values[0];
        double bps = 1e9 * load.rate[kind == WRITES][which] * exp(noise() + load.drift * (double)i);
        struct online_slice slice = slice_of(kind, next, bps);
        load.n_run[which]++;
        load.n_watched += is_watched(&next);
        next = online_next(&load.online, &slice);
        think();
    }
}

static inline void set_rates(double read1, double read2, double write1, double write2)
{
    load.rate[0][0] = load.rate[1][0] = 1;
    load.rate[0][1] = read1;
    load.rate[0][2] = read2;
    load.rate[1][1] = write1;
    load.rate[1][2] = write2;
}

static inline double running(void)
{
    return online_running(&load.online).values[0];
}
