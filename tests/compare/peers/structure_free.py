"""Peers that know nothing of the factors: random, grid, top-two Thompson sampling."""
import random

from trials import best_observed, highest_mean


def passes(trials, seed):
    chance, order = random.Random(seed), list(range(len(trials.points)))
    while True:
        chance.shuffle(order)
        for index in order:
            trials.run(index)


class Thompson:
    """Top-two Thompson sampling (Russo 2016) over independent points, beta = 0.5.

    Log throughput of a point is normal with unknown mean and variance under a normal-inverse-gamma prior that all
    points share: its mean and its weight (in trials) come from the data so far, its variance from the replays, held by
    PRIOR_DEGREES degrees of freedom at PRIOR_STD. Points that were never tried have equal posteriors, so the largest of
    their draws is drawn at once.
    """

    BETA = 0.5
    PRIOR_DEGREES, PRIOR_STD = 4, 0.2
    PRIOR_SHAPE = 2.0
    MOST_WEIGHT = 1.0
    MOST_DRAWS = 30

    def __init__(self, seed):
        import numpy
        self.numpy, self.chance = numpy, numpy.random.default_rng(seed)
        self.place = {}  # of a tried point in the arrays below
        self.untried = []
        self.n, self.mean, self.squares = (numpy.zeros(0) for _ in range(3))

    def add(self, index, value):
        if index not in self.place:
            self.place[index] = len(self.n)
            self.n, self.mean, self.squares = (self.numpy.append(a, 0.0) for a in (self.n, self.mean, self.squares))
        i = self.place[index]
        self.n[i] += 1
        step = value - self.mean[i]
        self.mean[i] += step / self.n[i]
        self.squares[i] += step * (value - self.mean[i])

    def learn(self):
        """Posterior of the tried points and, last, of an untried one."""
        within = (self.PRIOR_DEGREES * self.PRIOR_STD ** 2 + self.squares.sum()) / (
            self.PRIOR_DEGREES + (self.n - 1).sum())
        between = max(self.mean.var() - within * (1 / self.n).mean(), within / 100)
        weight = min(within / between, self.MOST_WEIGHT)
        centre = self.mean.mean()
        n, mean = self.numpy.append(self.n, 0), self.numpy.append(self.mean, centre)
        squares = self.numpy.append(self.squares, 0)
        self.weight = weight + n
        self.posterior = (weight * centre + n * mean) / self.weight
        self.shape = self.PRIOR_SHAPE + n / 2
        self.rate = within * (self.PRIOR_SHAPE - 1) + squares / 2 + weight * n * (mean - centre) ** 2 / self.weight / 2

    def draw(self, n_untried):
        """Place of the largest draw; the number of tried points stands for an untried one."""
        chance = self.chance
        spread = self.numpy.sqrt(self.rate / chance.gamma(self.shape) / self.weight)
        draws = self.posterior + spread * chance.standard_normal(len(spread))
        draws[-1] = self._largest_untried(n_untried) if n_untried > 0 else -self.numpy.inf
        return int(draws.argmax())

    def _largest_untried(self, n):
        from scipy.special import stdtrit
        degrees = 2 * self.shape[-1]
        scale = (self.rate[-1] / self.shape[-1] / self.weight[-1]) ** 0.5
        return self.posterior[-1] + scale * stdtrit(degrees, self.chance.random() ** (1 / n))

    def choose(self, n_points):
        tried = list(self.place)
        n_untried = n_points - len(tried)
        first = self.draw(n_untried)
        choice = first
        if self.chance.random() >= self.BETA:
            for _ in range(self.MOST_DRAWS):
                choice = self.draw(n_untried)
                # Two draws of untried points are two points, but for a chance of 1 in n_untried.
                if choice != first or (first == len(tried) and n_untried > 1):
                    break
        return tried[choice] if choice < len(tried) else self.untried.pop()

    def pick(self, trials):
        del trials
        self.learn()
        best = int(self.posterior[:-1].argmax())
        return list(self.place)[best], float(self.numpy.exp(self.posterior[best]))

    def search(self, trials):
        n_points = len(trials.points)
        self.untried = self.chance.permutation(n_points).tolist()
        for _ in range(min(2, n_points)):
            index = self.untried.pop()
            self.add(index, trials.run(index))
        while True:
            self.learn()
            index = self.choose(n_points)
            self.add(index, trials.run(index))


def thompson(seed):
    sampler = Thompson(seed)
    return sampler.search, sampler.pick


def random_search(seed):
    return lambda trials: passes(trials, seed), best_observed


def grid(seed):
    return lambda trials: passes(trials, seed), highest_mean
