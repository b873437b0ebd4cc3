"""Peers from libraries that search a box: Optuna and NLopt."""
import logging
import random
import warnings

from box import Box
from trials import best_observed


def ask_and_tell(trials, make_sampler):
    import optuna
    from optuna.distributions import CategoricalDistribution, IntDistribution
    optuna.logging.set_verbosity(logging.ERROR)
    warnings.simplefilter("ignore")
    box = Box(trials.points)
    space = {}
    for place, (size, is_category) in enumerate(zip(box.sizes, box.is_category)):
        space[str(place)] = (CategoricalDistribution(list(range(size))) if is_category
                             else IntDistribution(0, size - 1))
    study = optuna.create_study(direction="maximize", sampler=make_sampler(optuna))
    while True:
        trial = study.ask(space)
        index = box.index_of([trial.params[str(place)] for place in range(len(box.sizes))])
        study.tell(trial, trials.run(index))


def tpe(seed):
    def make(optuna):
        return optuna.samplers.TPESampler(multivariate=True, seed=seed)
    return lambda trials: ask_and_tell(trials, make), best_observed


def cmaes(seed):
    def make(optuna):
        return optuna.samplers.CmaEsSampler(seed=seed, warn_independent_sampling=False)
    return lambda trials: ask_and_tell(trials, make), best_observed


def nlopt_search(trials, seed, algorithm):
    import nlopt
    box, chance = Box(trials.points), random.Random(seed)
    nlopt.srand(seed)
    while True:
        optimiser = nlopt.opt(getattr(nlopt, algorithm), len(box.sizes))
        # Every level has the same width.
        optimiser.set_lower_bounds([-0.5] * len(box.sizes))
        optimiser.set_upper_bounds([size - 0.5 for size in box.sizes])
        optimiser.set_max_objective(lambda x, _: trials.run(box.index_of(x)))
        # Nearer than this, proposals are the same point.
        optimiser.set_xtol_abs(0.5)
        start = [chance.uniform(-0.49, size - 0.51) for size in box.sizes]
        try:
            optimiser.optimize(start)
        except nlopt.RoundoffLimited:
            pass


def nlopt_direct(seed):
    return lambda trials: nlopt_search(trials, seed, "GN_DIRECT"), best_observed


def nlopt_bobyqa(seed):
    return lambda trials: nlopt_search(trials, seed, "LN_BOBYQA"), best_observed


def nlopt_cobyla(seed):
    return lambda trials: nlopt_search(trials, seed, "LN_COBYLA"), best_observed


def one_plus_one(seed):
    """Each factor changes with probability 1/n to any level; what looks at least as good is kept."""
    def search(trials):
        box, chance = Box(trials.points), random.Random(seed)
        parent = [chance.randrange(size) for size in box.sizes]
        best = trials.run(box.index_of(parent))
        while True:
            child = [chance.randrange(size) if chance.random() < 1 / len(box.sizes) else level for level, size in zip(parent, box.sizes)]
            value = trials.run(box.index_of(child))
            if value >= best:
                parent, best = child, value
    return search, best_observed
