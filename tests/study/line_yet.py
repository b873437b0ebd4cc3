#!/usr/bin/env python3
"""From where on are the cumulative bytes of a run a line, and was the run long enough to tell? Simulated runs whose lasting rate is known.

usage: tests/study/line_yet.py [--runs 200] [--only WORD] [--windows FILE]

Each run keeps slots busy for its seconds and is cut into windows as bench/io/pump_windows cuts it. A cell is the bias of the rate behind the cut and,
in brackets, its standard deviation, in per cent of the rate that lasts; then how often the judge says that the run was long enough. `line`
and `trace` are those of models/statistics, compiled for this; `none` cuts nothing. The same seeds give the same figures. What was found is in
docs/statistics.md. FILE has windows of real runs, one run a line: its name, and the bytes of each window. Standard library and a C compiler."""
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
PERIODIC = 6  # of trace_shape
SIZE, DOUBLE, BOOL = ctypes.c_size_t, ctypes.c_double, ctypes.c_bool


class Interval(ctypes.Structure):
    _fields_ = [('low', DOUBLE), ('high', DOUBLE)]


class Line(ctypes.Structure):
    _fields_ = [('held', BOOL), ('change', SIZE), ('start', SIZE), ('off', DOUBLE)]


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
    judges = ctypes.CDLL(library)
    judges.line_of.restype, judges.run_length_idle.restype = Line, DOUBLE
    return judges


def doubles(values):
    return (DOUBLE * len(values))(*values)


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
    'deep queue, 8 turnovers': (steady, 0.4, 64, 20, 0.05, 0, False),
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
    'drop to 0.5 at 0.8': (drop(0.8, 0.5), 0.4, 16, 300, 0.3, 0, False),
    'drop to 0.8 at 0.8': (drop(0.8, 0.8), 0.4, 16, 300, 0.3, 0, False),
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

def squares(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def mser5(values, judges):
    """White, Cobb and Spratt 2000; the start shows no end where the best cut is the last one allowed."""
    batches = [sum(values[i:i + 5]) / 5 for i in range(0, len(values) // 5 * 5, 5)]
    best = min(range(len(batches) // 2 + 1), key=lambda cut: squares(batches[cut:]) / (len(batches) - cut) ** 2)
    return best * 5, best < len(batches) // 2


def pelt(values, judges):
    """Killick, Fearnhead and Eckley 2012: levels, with three log n of the scatter as the price of each; the last one has to begin in the first half, as
    in Barrett et al. 2017. The scatter is that of AR(1) noise, from medians of differences (Chakar et al. 2017)."""
    n, sums, powers = len(values), [0.0], [0.0]
    for value in values:
        sums.append(sums[-1] + value)
        powers.append(powers[-1] + value * value)

    def inside(begin, end):
        return max(powers[end] - powers[begin] - (sums[end] - sums[begin]) ** 2 / (end - begin), 0)

    one, two = (statistics.median(abs(values[i] - values[i - apart]) for i in range(apart, n)) for apart in (1, 2))
    rho = min(max((two / one) ** 2 - 1, 0), 0.9) if one > 0 else 0
    std = max(1.4826 * one / math.sqrt(2 * (1 - rho)), 0.002 * sums[n] / n)
    price = 3 * math.log(n) * std ** 2 * (1 + rho) / (1 - rho)
    cost, begins, kept = [-price], [0], [0]
    for end in range(1, n + 1):
        best, begin = min((cost[k] + inside(k, end) + price, k) for k in kept)
        cost.append(best)
        begins.append(begin)
        kept = [k for k in kept if cost[k] + inside(k, end) <= best] + [end]
    return begins[n], 2 * begins[n] <= n


def settling(values, judges):
    """What the pilot did before: the last of 16 windows that is off the later half, half as much again, and no pauses."""
    n = len(values)
    coarse = [sum(values[i * n // 16:(i + 1) * n // 16]) / ((i + 1) * n // 16 - i * n // 16) for i in range(16)]
    late, end = statistics.mean(coarse[8:]), 8
    apart = max(0.03 * late, 3 * statistics.stdev(coarse[8:]))
    while end > 0 and abs(coarse[end - 1] - late) <= apart:
        end -= 1
    return min(math.ceil(1.5 * end / 16 * n), n - 1), end < 8 and judges.run_length_idle(doubles(values), SIZE(n), DOUBLE(4)) < 0.2


def batch_means(values, judges):
    """MSER-5's cut twice over, where the means on both sides differ by more than 2.5 standard errors; before, models/statistics/batch_means did this."""
    cut, ended = mser5(values, judges)
    n = len(values)
    means = Means()
    judges.batch_means_of(doubles(values[cut:]), SIZE(n - cut), DOUBLE(0.95), ctypes.byref(means))
    width = means.interval.high - means.interval.low
    if cut == 0 or not width > 0 or abs(sum(values[:cut]) / cut - means.mean) < 2.5 * width / 4 * math.sqrt(n / cut):
        return 0, True
    return min(2 * cut, n // 2), ended


def trace(values, judges):
    """models/statistics/trace, which names shapes; what repeats five times is steady to it, but no line."""
    verdict = Verdict()
    judges.trace_classify(doubles(values), SIZE(len(values)), ctypes.byref(verdict))
    return verdict.start, verdict.steady and verdict.shape != PERIODIC


def line(values, judges):
    """models/statistics/line, and behind its start no more than 5 % off."""
    found = judges.line_of(doubles(values), SIZE(len(values)))
    rest = values[found.start:]
    return found.start, found.held and judges.line_of(doubles(rest), SIZE(len(rest))).off < 0.05


JUDGES = {'none': lambda values, judges: (0, True), 'MSER-5': mser5, 'MSER-5, tested': batch_means, 'settling': settling, 'PELT': pelt, 'trace': trace,
          'line': line}


def row(name, judges, n_runs):
    factor, seconds, slots, turnovers, cv, wander, enough = RUNS[name]
    truth, found = slots * turnovers, {judge: ([], []) for judge in JUDGES}
    for seed in range(n_runs):
        counts, width = windows_of(play(random.Random(f'{name} {seed}'), factor, seconds, slots, turnovers, cv, wander), seconds)
        for judge, ask in JUDGES.items():
            cut, says = ask(counts, judges)
            found[judge][0].append(100 * (sum(counts[cut:]) / (len(counts) - cut) / width / truth - 1))
            found[judge][1].append(100 * says)
    cells = ' | '.join(f'{statistics.mean(errors):+.1f} ({statistics.pstdev(errors):.1f}), {statistics.mean(says):.0f}'
                       for errors, says in found.values())
    return f'| {name} | {"yes" if enough else "no"} | {cells} |'


def real(path, judges):
    with open(path, encoding='ascii') as lines:
        for words in lines:
            name, *counts = words.split()
            counts = [float(count) for count in counts]
            cells = []
            for ask in JUDGES.values():
                cut, says = ask(counts, judges)
                rate = sum(counts[cut:]) / (len(counts) - cut) / (sum(counts) / len(counts))
                cells.append(f'{cut}: {100 * (rate - 1):+.1f}, {"yes" if says else "no"}')
            print(f'| {name} | {len(counts)} | {" | ".join(cells)} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=200)
    parser.add_argument('--only', default='')
    parser.add_argument('--windows', default='')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judges = compiled(folder)
    print(f'| run | long enough | {" | ".join(JUDGES)} |\n| --- | --- |{" --- |" * len(JUDGES)}')
    if options.windows:
        real(options.windows, judges)
        return
    for name in RUNS:
        if options.only in name:
            print(row(name, judges, options.runs), flush=True)


if __name__ == '__main__':
    main()
