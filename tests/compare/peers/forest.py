"""A random forest as the model, as in SMAC: expected improvement by the mean and the spread of its trees."""
import math
import random

from trials import best_observed

N_FIRST = 10       # random trials before the first forest
N_TREES = 30
REFIT_GROWTH = 1.1  # a new forest whenever there are so many times the trials; between them, the next best points
RANDOM_SHARE = 0.1  # of the trials go to random points


class Forest:
    def __init__(self, seed):
        self.chance, self.seed = random.Random(seed), seed
        self.mean = None

    def fit(self, trials, rows):
        import numpy
        from scipy.stats import norm
        from sklearn.ensemble import RandomForestRegressor
        forest = RandomForestRegressor(N_TREES, min_samples_leaf=2, random_state=self.seed)
        forest.fit(rows[trials.index], trials.log_bps)
        trees = numpy.array([tree.predict(rows) for tree in forest.estimators_])
        self.mean, spread = trees.mean(axis=0), trees.std(axis=0) + 1e-9
        ahead = self.mean - self.mean[trials.index].max()
        worth = ahead * norm.cdf(ahead / spread) + spread * norm.pdf(ahead / spread)
        return worth.argsort()[::-1].tolist()

    def search(self, trials):
        from box import Box
        rows, n = Box(trials.points).rows, len(trials.points)
        for _ in range(N_FIRST):
            trials.run(self.chance.randrange(n))
        while True:
            order, most = self.fit(trials, rows), REFIT_GROWTH * len(trials.index)
            while order and len(trials.index) <= most:
                trials.run(self.chance.randrange(n) if self.chance.random() < RANDOM_SHARE else order.pop(0))

    def pick(self, trials):
        """The measured point that the forest expects most of."""
        if self.mean is None:
            return best_observed(trials)
        best = max(set(trials.index), key=lambda index: self.mean[index])
        return best, math.exp(self.mean[best])


def random_forest(seed):
    forest = Forest(seed)
    return forest.search, forest.pick
