/* The program fstune-atoms: the atomic tests alone, linked statically, for guests that have no libraries.
 * usage: fstune-atoms [DIRECTORY [ROUNDS]]; it prints what `fstune atoms --json` prints. */
#include "bench/base/rng.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"
#include "tuner/impact/atoms_figures.h"

#include <gsl/gsl_errno.h>
#include <signal.h>

#define SAMPLE_NS  4000000ULL
#define ROUNDS     25
#define MOST       1000
#define CONFIDENCE 0.95

int main(int argc, char **argv)
{
    struct err err = {0};
    struct atoms_figures figures = {0};
    static struct atoms atoms;
    uint64_t rounds = ROUNDS;
    gsl_set_error_handler_off();
    signal(SIGPIPE, SIG_IGN);
    if (argc > 3 || (argc > 2 && (units_parse_count(argv[2], MOST, &rounds) < 0 || rounds == 0)))
        return fail_with(EXIT_USAGE, "usage: fstune-atoms [DIRECTORY [ROUNDS]], 1 to %d rounds", MOST);
    const struct atoms_plan plan = {.place = {.directory = argc > 1 ? argv[1] : "."},
                                    .sample_ns = SAMPLE_NS,
                                    .n_rounds = (uint32_t)rounds,
                                    .seed = rng_seed_from_system()};
    int result = atoms_open(&atoms, &plan, &err);
    if (result == 0)
        result = atoms_measure(&atoms, &plan);
    if (result == 0) {
        atoms_figures_of(&atoms, CONFIDENCE, &figures);
        result = json_print(stdout, atoms_figures_json(&figures, false), &err);
    }
    atoms_figures_free(&figures);
    atoms_close(&atoms);
    return result < 0 ? fail_with(EXIT_FAILED, "%s", err.text) : EXIT_DONE;
}
