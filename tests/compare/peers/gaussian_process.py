"""The plain recipe: scikit-learn's Gaussian process with expected improvement."""
import math
import warnings

from trials import best_observed

N_FIRST = 10  # random trials before the first model
N_CANDIDATES = 2000  # that a step looks at; a larger space is sampled anew at every refit
FIRST_ROWS = 64
REFIT_GROWTH = 1.5  # hyper-parameters are fitted again when there are so many times the trials


class Expected:
    """Matern 5/2 with a length scale per column, and white noise. Sizes, depths and threads are indices scaled to
    0 .. 1, direct is 0 or 1, APIs are one-hot. scikit-learn fits the hyper-parameters, from where they were; between two
    fits the posterior at the candidates is carried on row by row: the same numbers for a fraction of the time.
    """

    def __init__(self, seed):
        self.seed, self.n_fitted, self.kernel = seed, 0, None

    def encode(self, points):
        import numpy
        from box import Box
        columns = []
        box = Box(points)
        for factor, row, size in zip(box.factors, box.rows.T, box.sizes):
            columns += [row == level for level in range(size)] if factor == 3 and size > 2 else [row / (size - 1)]
        return numpy.array(columns, dtype=float).T

    def fit(self, trials):
        """Hyper-parameters anew, and the posterior at a fresh set of candidates from all trials."""
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
        numpy, rows = self.numpy, self.rows
        if self.kernel is None:
            self.kernel = (ConstantKernel(1.0, (1e-2, 1e2)) * Matern([1.0] * rows.shape[1], (1e-1, 1e2), nu=2.5)
                           + WhiteKernel(0.1, (1e-4, 2.0)))
        values = numpy.array(trials.log_bps)
        self.centre, self.scale = values.mean(), values.std() or 1.0
        model = GaussianProcessRegressor(self.kernel, random_state=self.seed)
        model.fit(rows[trials.index], (values - self.centre) / self.scale)
        self.kernel, self.n_fitted = model.kernel_, len(values)
        self.latent, self.noise = model.kernel_.k1, model.kernel_.k2.noise_level
        self.restart(trials)

    def restart(self, trials):
        numpy, n = self.numpy, len(self.rows)
        chosen = range(n) if n <= N_CANDIDATES else sorted(
            set(self.chance.choice(n, N_CANDIDATES, replace=False).tolist()) | set(trials.index))
        self.candidates = numpy.array(chosen)
        self.place = {int(index): place for place, index in enumerate(chosen)}
        self.at = self.rows[self.candidates]
        self.mean = numpy.zeros(len(chosen))
        self.variance = numpy.full(len(chosen), self.latent.diag(self.at[:1])[0])
        self.solved = numpy.zeros((FIRST_ROWS, len(chosen)))  # grows
        self.n = 0
        covariances = self.latent(self.rows[trials.index], self.at)
        for index, value, covariance in zip(trials.index, trials.log_bps, covariances):
            self.add(index, value, covariance)

    def add(self, index, value, covariance=None):
        """One more row of the Cholesky factor of the trials' covariances, applied to the candidates."""
        if covariance is None:
            covariance = self.latent(self.rows[index:index + 1], self.at)[0]
        if self.n == len(self.solved):
            self.solved = self.numpy.vstack([self.solved, self.numpy.zeros_like(self.solved)])
        column = self.place[index]
        before = self.solved[:self.n, column]
        pivot = math.sqrt(covariance[column] + self.noise - before @ before)
        row = (covariance - before @ self.solved[:self.n]) / pivot
        weight = ((value - self.centre) / self.scale - self.mean[column]) / pivot
        self.solved[self.n] = row
        self.mean = self.mean + row * weight
        self.variance = self.variance - row * row
        self.n += 1

    def choose(self, trials):
        from scipy.special import ndtr
        numpy = self.numpy
        incumbent = max(self.mean[self.place[index]] for index in set(trials.index))
        std = numpy.sqrt(numpy.maximum(self.variance, 1e-12))
        z = (self.mean - incumbent) / std
        gain = std * (z * ndtr(z) + numpy.exp(-z * z / 2) / math.sqrt(2 * math.pi))
        return int(self.candidates[gain.argmax()])

    def pick(self, trials):
        if self.n_fitted == 0:
            return best_observed(trials)
        best = int(self.mean.argmax())
        return int(self.candidates[best]), math.exp(self.centre + self.scale * self.mean[best])

    def search(self, trials):
        import numpy
        self.numpy, self.chance = numpy, numpy.random.default_rng(self.seed)
        warnings.simplefilter("ignore")  # length scales at their bounds
        self.rows = self.encode(trials.points)
        for index in self.chance.permutation(len(self.rows))[:N_FIRST].tolist():
            trials.run(index)
        while True:
            if len(trials.index) >= REFIT_GROWTH * self.n_fitted:
                self.fit(trials)
            index = self.choose(trials)
            self.add(index, trials.run(index))


def expected_improvement(seed):
    model = Expected(seed)
    return model.search, model.pick
