#!/usr/bin/env python3
"""From where on are the cumulative bytes of a run a line, and was the run long enough to tell? Simulated runs whose lasting rate is known.

usage: tests/study/line_yet.py [--runs 200] [--only WORD] [--windows FILE]

Each run keeps slots busy for its seconds and is cut into windows as bench/io/pump_windows cuts it. A cell is the bias of the rate behind the cut and,
in brackets, its standard deviation, in per cent of the rate that lasts; then how often the judge says that the run was long enough. The judges are
those of models/statistics, compiled for this, and `none`, which cuts nothing. The same seeds give the same figures. What was found is in
docs/compare.md. FILE has windows of real runs, one run a line: its name, and the bytes of each window. Standard library and a C compiler."""
import argparse
import ctypes
import heapq
import math
import os
import random
import statistics
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
MOST = 128
SIZE, DOUBLE, BOOL = ctypes.c_size_t, ctypes.c_double, ctypes.c_bool


class Interval(ctypes.Structure):
    _fields_ = [('low', DOUBLE), ('high', DOUBLE)]


class Line(ctypes.Structure):
    _fields_ = [('start', SIZE), ('held', BOOL), ('off', DOUBLE)]


class Means(ctypes.Structure):
    _fields_ = [('mean', DOUBLE), ('interval', Interval), ('cut', SIZE), ('size', SIZE), ('n', SIZE), ('effective', DOUBLE), ('lag1', DOUBLE)]


class Verdict(ctypes.Structure):
    _fields_ = [('shape', ctypes.c_int), ('steady', BOOL), ('start', SIZE), ('end', SIZE), ('mean', DOUBLE), ('drift', DOUBLE), ('left', BOOL),
                ('change', SIZE), ('before', DOUBLE), ('low', DOUBLE), ('high', DOUBLE), ('share', DOUBLE), ('period', DOUBLE), ('spikes', SIZE)]


def compiled(folder):
    library = os.path.join(folder, 'judges.so')
    source = os.path.join(ROOT, 'models', 'statistics')
    files = [os.path.join(source, name) for name in sorted(os.listdir(source)) if name.endswith('.c')]
    subprocess.run(['cc', '-O2', '-std=gnu17', '-I', ROOT, '-shared', '-fPIC', '-o', library, *files, '-lgsl', '-lgslcblas', '-lm'], check=True)
    return ctypes.CDLL(library)


# --- devices: the factor of the rate at a time, the rate that lasts, and whether a run of so many seconds shows it ---

def steady(t, seconds):
    return 1


def decay(factor, tau):
    return lambda t, seconds: 1 + (factor - 1) * math.exp(-3 * t / tau)


def credit(factor, until):
    return lambda t, seconds: factor if t < until else 1


def slices(period, share):
    return lambda t, seconds: 1 / share if t % period < share * period else 1e-6


def drop(at, to):
    return lambda t, seconds: 1 if t < at * seconds else to


def stall(at, width):
    return lambda t, seconds: 1e-6 if at * seconds <= t < at * seconds + width else 1


# name: factor of the rate, seconds, slots, turnovers a second, cv of latencies, AR(1) scatter of the rate, is the run long enough?
RUNS = {
    'steady': (steady, 0.4, 16, 300, 0.3, 0, True),
    'steady, wild requests': (steady, 0.4, 4, 300, 1.0, 0, True),
    'steady, short': (steady, 0.05, 4, 2500, 0.3, 0, True),
    'rate wanders by 5 %': (steady, 0.4, 16, 300, 0.3, 0.05, True),
    'one stall of 10 ms': (stall(0.6, 0.01), 0.4, 16, 300, 0.3, 0, True),
    'deep queue, 60 turnovers': (steady, 0.4, 64, 150, 0.05, 0, True),
    'deep queue, 8 turnovers': (steady, 0.4, 64, 20, 0.05, 0, True),
    'warm-up, 3 x, 0.05 s': (decay(3, 0.05), 0.4, 16, 300, 0.3, 0, True),
    'warm-up, 3 x, 0.1 s': (decay(3, 0.1), 0.4, 16, 300, 0.3, 0, True),
    'warm-up, 0.3 x, 0.1 s': (decay(0.3, 0.1), 0.4, 16, 300, 0.3, 0, True),
    'warm-up, 2 x, 1 s': (decay(2, 1), 0.4, 16, 300, 0.3, 0, False),
    'credit of 3 x for 0.02 s': (credit(3, 0.02), 0.4, 16, 300, 0.3, 0, True),
    'credit of 3 x for 0.1 s': (credit(3, 0.1), 0.4, 16, 300, 0.3, 0, True),
    'credit of 3 x for 0.3 s': (credit(3, 0.3), 0.4, 16, 300, 0.3, 0, False),
    'slices of 0.1 s, 40 %': (slices(0.1, 0.4), 0.4, 16, 300, 0.3, 0, False),
    'slices of 0.25 s, 30 %': (slices(0.25, 0.3), 0.4, 16, 300, 0.3, 0, False),
    'slices of 0.1 s, 5 %': (slices(0.1, 0.05), 0.4, 16, 300, 0.3, 0, False),
    'drop to 0.5 at 0.7': (drop(0.7, 0.5), 0.4, 16, 300, 0.3, 0, False),
    'drop to 0.8 at 0.7': (drop(0.7, 0.8), 0.4, 16, 300, 0.3, 0, False),
}


def play(rng, factor, seconds, slots, turnovers, cv, wander):
    """Times of completions. A request takes as long as the rate at its submission says; a stop holds all requests that meet it."""
    sigma, latency, step = math.sqrt(math.log1p(cv * cv)), 1 / turnovers, seconds / 1000
    state, states = rng.gauss(0, 1), []
    for _ in range(1001):
        states.append(1 + wander * state)
        state = 0.98 * state + math.sqrt(1 - 0.98 ** 2) * rng.gauss(0, 1)
    work = [0.0]
    for i in range(1000):
        work.append(work[-1] + step * factor((i + 0.5) * step, seconds) * states[i])
    flying, times = [(latency * rng.lognormvariate(-sigma ** 2 / 2, sigma), slot) for slot in range(slots)], []
    heapq.heapify(flying)
    i = 0
    while flying[0][0] < work[-1]:
        done, slot = heapq.heapreplace(flying, (flying[0][0] + latency * rng.lognormvariate(-sigma ** 2 / 2, sigma), flying[0][1]))
        while work[i + 1] < done:
            i += 1
        times.append(step * (i + (done - work[i]) / (work[i + 1] - work[i])))
    return times


def windows_of(times, seconds):
    """As bench/io/pump_windows: widths are 1 ms times a power of two, and at most 128 of them."""
    width = 0.001
    while seconds / width > MOST:
        width *= 2
    counts = [0.0] * int(seconds / width)
    for time in times:
        if time / width < len(counts):
            counts[int(time / width)] += 1
    return counts, width


# --- judges: windows left out at the start, and whether the run was long enough ---

class Judges:
    def __init__(self, library):
        self.library = library
        library.line_of.restype = Line
        library.run_length_settling.restype = library.run_length_idle.restype = DOUBLE
        library.run_length_idle.argtypes = [ctypes.POINTER(DOUBLE), SIZE, DOUBLE]

    def none(self, values, lump):
        return 0, True

    def mser5(self, values, lump):
        cut = SIZE(0)
        found = self.library.truncate_mser5(values, SIZE(len(values)), ctypes.byref(cut)) == 0
        return cut.value if found else len(values) // 2, found

    def batch_means(self, values, lump):
        means = Means()
        self.library.batch_means_of(values, SIZE(len(values)), DOUBLE(0.95), ctypes.byref(means))
        return means.cut, math.isfinite(means.interval.low)

    def pilot(self, values, lump):
        """The early by the late rate, then where it settles; and pauses."""
        n = len(values)
        coarse = (DOUBLE * 16)(*[sum(values[i * n // 16:(i + 1) * n // 16]) / (n / 16) for i in range(16)])
        idle = self.library.run_length_idle(values, SIZE(n), DOUBLE(4 * lump / 4))
        settled = self.library.run_length_settling(coarse, SIZE(16))
        return math.ceil(min(1.5 * settled, 0.75) * n), settled < 0.5 and not idle >= 0.2

    def trace(self, values, lump):
        verdict = Verdict()
        self.library.trace_classify(values, SIZE(len(values)), ctypes.byref(verdict))
        return verdict.start, verdict.steady and verdict.shape != 6

    def line(self, values, lump):
        line = self.library.line_of(values, SIZE(len(values)))
        return line.start, line.held and line.off < 0.05


JUDGES = ('none', 'mser5', 'batch_means', 'pilot', 'trace', 'line')


def row(name, judges, n_runs):
    factor, seconds, slots, turnovers, cv, wander, enough = RUNS[name]
    truth = slots * turnovers * (1 if factor is not None else 0)
    found = {judge: ([], []) for judge in JUDGES}
    for seed in range(n_runs):
        rng = random.Random(f'{name} {seed}')
        counts, width = windows_of(play(rng, factor, seconds, slots, turnovers, cv, wander), seconds)
        values = (DOUBLE * len(counts))(*counts)
        lump = max(1.0, 4 / turnovers / width)
        for judge in JUDGES:
            cut, says = getattr(judges, judge)(values, lump)
            rate = sum(counts[cut:]) / (len(counts) - cut) / width
            found[judge][0].append(100 * (rate / truth - 1))
            found[judge][1].append(100 * says)
    cells = ' | '.join(f'{statistics.mean(errors):+.1f} ({statistics.pstdev(errors):.1f}), {statistics.mean(says):.0f}'
                       for errors, says in found.values())
    return f'| {name} | {"yes" if enough else "no"} | {cells} |'


def real(path, judges):
    with open(path, encoding='ascii') as lines:
        for line in lines:
            name, lump, *counts = line.split()
            counts = [float(count) for count in counts]
            values = (DOUBLE * len(counts))(*counts)
            cells = []
            for judge in JUDGES:
                cut, says = getattr(judges, judge)(values, float(lump))
                cells.append(f'{cut}, {sum(counts[cut:]) / (len(counts) - cut) / (sum(counts) / len(counts)):.3f}, {"yes" if says else "no"}')
            print(f'| {name} | {len(counts)} | {" | ".join(cells)} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=200)
    parser.add_argument('--only', default='')
    parser.add_argument('--windows', default='')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judges = Judges(compiled(folder))
    print(f'| run | long enough | {" | ".join(JUDGES)} |\n| --- | --- |{" --- |" * len(JUDGES)}')
    if options.windows:
        real(options.windows, judges)
        return
    for name in RUNS:
        if options.only in name:
            print(row(name, judges, options.runs), flush=True)


if __name__ == '__main__':
    main()
