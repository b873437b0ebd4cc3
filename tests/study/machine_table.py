"""Tables of the study `machines`, as tests/data/machines.csv holds them.

A row is a machine under one pattern. Its first columns say what the machine is made of (system to server: see machine_list.py) and what fstune saw of
it (file_system to kernel: as in `system` of its answers; limited says whether a control group limits the device). Then come the number of replays,
their scatter cv (of the logarithms; robust, over all settings; empty where there was one replay), and a column for each setting, named as
64k-4-direct-io_uring: request size, queue depth, direct or buffered, API. A cell holds MB/s (10^6 bytes), the median of the replays, behind a limit
the least of them. It is empty where the machine has no such setting: no direct I/O, or more in flight than fstune allows with this file or memory.
With a `c` behind it, it was not measured, because it would take long below the limit: it is the rate of the next smaller size, which already reaches
the limit. Standard library only."""
import collections
import csv
import itertools
import json
import math
import os
import statistics

from machine_list import Machine

SIZES = [4096 << 2 * i for i in range(5)]
DEPTHS = [1, 4, 16, 64]
APIS = ('psync', 'libaio', 'io_uring')
SEEN = ('file_system', 'device', 'scheduler', 'rotational', 'limited', 'virtualisation', 'mount_options', 'kernel')
# Of squares of n - 1 degrees of freedom, as a share of their mean.
MEDIAN_SQUARE = {1: 0.455, 2: 0.693, 3: 0.789, 4: 0.839}

# How alike the logarithms of neighbouring rates are, for `smooth`, as found by maximum likelihood on these tables: the spread of a table, over how
# many levels of size and of depth the likeness goes, and what is left of it between direct and buffered, and between two APIs.
SPREAD, SIZE_LEVELS, DEPTH_LEVELS, DIRECT_ALIKE, API_ALIKE = 2.0, 7.0, 10.5, 0.95, 0.998
MEAN_SPREAD = 3.0   # of what all rates of a table have in common
TAILS = 1.8         # the variance of replays is so much larger than a robust estimate of it
MEDIAN_OF_3 = 1.35  # variance of a median of three, over that of their mean

Setting = collections.namedtuple('Setting', 'size depth direct api')


def settings():
    """Of the whole space. libaio is synchronous through the page cache, so a search leaves out its deep queues there."""
    for size, depth, direct, api in itertools.product(SIZES, DEPTHS, (0, 1), APIS):
        if depth == 1 or api == 'io_uring' or (api == 'libaio' and direct):
            yield Setting(size, depth, direct, api)


def name_of(setting):
    size = f'{setting.size >> 10}k' if setting.size < 1 << 20 else f'{setting.size >> 20}m'
    return f'{size}-{setting.depth}-{"direct" if setting.direct else "buffered"}-{setting.api}'


HEAD = ('machine', 'pattern', *Machine._fields[1:], *SEEN, 'replays', 'cv')
FIELDS = HEAD + tuple(name_of(setting) for setting in settings())


class Table:
    """Of one machine and pattern. rates: {setting: bytes a second}; given: settings whose rate the limit gave."""

    def __init__(self, head, rates, given=()):
        self.head, self.rates, self.given = head, rates, set(given)

    @property
    def key(self):
        return self.head['machine'], self.head['pattern']

    def row(self):
        cells = {name_of(setting): f'{float(f"{rate / 1e6:.3g}"):g}' + ('c' if setting in self.given else '') for setting, rate in self.rates.items()}
        return {**self.head, **cells}


def table_of(row):
    rates, given = {}, []
    for setting in settings():
        cell = row[name_of(setting)]
        if cell:
            rates[setting] = float(cell.rstrip('c')) * 1e6
        if cell.endswith('c'):
            given.append(setting)
    return Table({name: row[name] for name in HEAD}, rates, given)


def read(path):
    with open(path, encoding='utf-8', newline='') as file:
        return [table_of(row) for row in csv.DictReader(file)]


def scatter(replays):
    """cv of a list of replays' lists, by the median of their variances: a few settings have two levels, which is no scatter."""
    known = [statistics.variance(logs) / MEDIAN_SQUARE[len(logs) - 1] for logs in replays if 2 <= len(logs) <= 5]
    return statistics.median(known) ** 0.5 if known else None


class Output:
    """A file that grows by a machine's rows at a time, whole lines only, and knows what it has."""

    def __init__(self, path):
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(','.join(FIELDS) + '\n')
        with open(path, 'rb+') as file:
            # A line that an interruption cut short.
            file.truncate(file.read().rfind(b'\n') + 1)
        self.path, self.keys = path, {table.key for table in read(path)}

    def add(self, tables):
        with open(self.path, 'a', encoding='utf-8', newline='') as file:
            writer = csv.DictWriter(file, FIELDS, restval='', lineterminator='\n')
            writer.writerows(table.row() for table in tables)
            file.flush()
            os.fsync(file.fileno())
        self.keys |= {table.key for table in tables}


def system_json(table):
    """What a history keeps of the machine, in the words of fstune: what rules for kinds of hosts look at."""
    seen = {name: table.head[name] for name in SEEN if table.head[name] and name not in ('limited', 'rotational')}
    return json.dumps({'simulated': False, **seen, 'rotational': table.head['rotational'] == 'yes',
                       'cgroup_v1_blkio_throttle': table.head['limited'] or 'none'})


def likeness(a, b):
    """Prior covariance of two settings' logarithms: Matern's, of smoothness 3/2, which allows kinks."""
    sizes, depths = SIZES.index(a.size) - SIZES.index(b.size), DEPTHS.index(a.depth) - DEPTHS.index(b.depth)
    far = math.sqrt(3) * math.hypot(sizes / SIZE_LEVELS, depths / DEPTH_LEVELS)
    alike = (1 + far) * math.exp(-far) * (1 if a.direct == b.direct else DIRECT_ALIKE) * (1 if a.api == b.api else API_ALIKE)
    return MEAN_SPREAD ** 2 + SPREAD ** 2 * alike


def solve(matrix, right):
    """Of a symmetric positive definite matrix, by Cholesky's factors."""
    n, factor, found = len(matrix), [], list(right)
    for i in range(n):
        row = []
        for j in range(i + 1):
            rest = matrix[i][j] - sum(x * y for x, y in zip(row, factor[j] if j < i else row))
            row.append(math.sqrt(rest) if i == j else rest / factor[j][j])
        factor.append(row)
        found[i] = (found[i] - sum(x * y for x, y in zip(row[:-1], found))) / row[i]
    for i in reversed(range(n)):
        found[i] = (found[i] - sum(factor[k][i] * found[k] for k in range(i + 1, n))) / factor[i][i]
    return found


def smooth(table):
    """{setting: bytes a second}: the rates as their replays and those of their neighbours let expect them (a Gaussian process on the logarithms). The
    highest of many means of few replays is a peak that is not real. What a limit gives is exact, and stays as it is."""
    if table.head['limited'] or not table.head['cv']:
        return dict(table.rates)
    known, replays = list(table.rates), int(table.head['replays'])
    noise = TAILS * float(table.head['cv']) ** 2 / replays * (MEDIAN_OF_3 if replays > 2 else 1) + 1e-6
    logs = [math.log(table.rates[setting]) for setting in known]
    middle = statistics.fmean(logs)
    covariance = [[likeness(a, b) for b in known] for a in known]
    noisy = [[value + (noise if i == j else 0) for j, value in enumerate(row)] for i, row in enumerate(covariance)]
    weights = solve(noisy, [value - middle for value in logs])
    return {setting: math.exp(middle + sum(x * y for x, y in zip(row, weights))) for setting, row in zip(known, covariance)}
