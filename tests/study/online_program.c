/* How soon, how often rightly and at what price `fstune retune --online` chooses: the program of
 * tests/tuner/nightly/online_rig, in virtual time, with five values of which the best is 1.8 times as fast as
 * the first one, and rates that scatter by 3 % to both sides.
 *
 * usage: online_program [SESSIONS] (of each case; 20) */
#include "tests/tuner/nightly/online_rig.h"

#include <stdlib.h>

#define SLICES 3000 /* of a session */
#define BEST   3

static const double hill[RIG_VALUES] = {0.5, 1, 1.3, 1.8, 1.4};

struct outcome {
    size_t n_right, n_slices;
    double cost_share;
};

/* Slices until the search was over; 0: it is not yet. */
static size_t n_until_settled;

static bool wait_and_look(void *context, uint64_t until_ns)
{
    if (n_until_settled == 0 && tuned.online.mind[0].is_settled)
        n_until_settled = program.n_slices;
    return program_wait(context, until_ns);
}

static int tune(uint64_t seed, struct outcome *outcome)
{
    struct retune_online_world watched = world;
    watched.wait = wait_and_look;
    begin_program(hill, SLICES);
    program.random = seed;
    n_until_settled = 0;
    int code = retune_online_open(&tuned, &config, &watched, &err);
    if (code < 0)
        return code;
    code = retune_online_run(&tuned, &err);
    outcome->n_right += in_force() == BEST;
    outcome->n_slices += n_until_settled > 0 ? n_until_settled : SLICES;
    outcome->cost_share += tuned.online.regret_bytes / tuned.online.served_bytes;
    retune_online_close(&tuned);
    return code;
}

/* Returns how many sessions have not found the best value. */
static size_t try_all(size_t n, double regret_share)
{
    struct outcome outcome = {0};
    config.regret_share = regret_share;
    for (uint64_t seed = 1; seed <= n; seed++) {
        if (tune(seed, &outcome) < 0) {
            fprintf(stderr, "online_program: %s\n", err.text);
            return n;
        }
    }
    printf("regret %.0f %%: %zu of %zu have the best value, settled after %zu slices on average; trials cost "
           "%.2f %% "
           "of the work of %d slices\n",
           100 * regret_share, outcome.n_right, n, outcome.n_slices / n, 100 * outcome.cost_share / (double)n,
           SLICES);
    return n - outcome.n_right;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
    if (n == 0 || rig_enter(NULL) != 0)
        return EXIT_FAILURE;
    read_config("");
    size_t n_wrong = try_all(n, 0.03) + try_all(n, 0.2);
    return rig_leave(NULL) == 0 && n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
