"""The space as a box of integers, for optimisers that know no other."""
import numpy

N_FACTORS = 5
CATEGORIES = (2, 3)  # direct, api
OTHER_CATEGORY = 4  # more than all ordered factors together can differ by


class Box:
    """Factors that vary, each as the index of its level (sizes, depths and threads ascend, APIs by simplicity).

    A proposal that is not tabulated becomes the nearest tabulated point: the one with the same direct and API where
    there is one, and the least sum of squared differences of the other factors, each scaled to 0 .. 1.
    """

    def __init__(self, points):
        levels = [sorted(set(column)) for column in zip(*points)]
        self.factors = [factor for factor in range(N_FACTORS) if len(levels[factor]) > 1]
        if not self.factors:
            raise SystemExit("peer: a space of one point has nothing to search")
        self.sizes = [len(levels[factor]) for factor in self.factors]
        self.rows = numpy.array([[levels[factor].index(point[factor]) for factor in self.factors] for point in points])
        self.is_category = [factor in CATEGORIES for factor in self.factors]
        self.places = {tuple(row): place for place, row in enumerate(self.rows.tolist())}

    def index_of(self, proposal):
        row = tuple(min(max(int(round(x)), 0), size - 1) for x, size in zip(proposal, self.sizes))
        if row not in self.places:
            self.places[row] = self._nearest(row)
        return self.places[row]

    def _nearest(self, row):
        cost = numpy.zeros(len(self.rows))
        for column, is_category in enumerate(self.is_category):
            step = self.rows[:, column] - row[column]
            scale = self.sizes[column] - 1
            cost += OTHER_CATEGORY * (step != 0) if is_category else (step / scale) ** 2
        return int(cost.argmin())
