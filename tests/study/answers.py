#!/usr/bin/env python3
"""How good the answers of `fstune recommend` are, on simulated surfaces whose truth is known.

usage: answers.py [--fstune FILE] [--seeds N] [--jobs N] [--cells TEXT] [--out FILE.csv] [-- OPTION...]

A cell is a family of surfaces, a noise and a budget. Each seed is one search; what it says is held against the table. Printed for each
cell: how often the true loss of the recommended setting is at most the tolerance and two points more (one that misses a limit loses all);
how much it has in flight, as a multiple of the cheapest setting that is truly within the tolerance (median, 90th percentile); how often
`shortfall_bound` holds, and its median; how often the search is conclusive, and how many of those answers are right; how often the 95 %
intervals of the recommended and of the fastest setting hold the truth."""
import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'compare'))
import cells as compare_cells  # noqa: E402
import surfaces  # noqa: E402

TOP = os.path.join(HERE, '..', '..')
CONFIGS = os.path.join(TOP, 'configs', 'surfaces')
KEYS = ('request_size', 'queue_depth', 'direct', 'api', 'threads')
N_VARIANTS = 5
# Beyond the tolerance, what a true loss may be.
ROOM = 0.02

Cell = collections.namedtuple('Cell', 'name tables noise budget options tolerance wander limit', defaults=(None, None))
Table = collections.namedtuple('Table', 'surface variant pattern')


def hard_disk(chance, random_access):
    """One arm: seeks get shorter with more requests to choose from; what is buffered loses a little to the page cache."""
    top, seek = chance.uniform(1.0e8, 1.4e8), chance.uniform(6e-3, 8e-3)

    def rate(size, depth, direct, api, _threads):
        arm = seek / (1 + 0.25 * min(depth, 5)) if random_access else 2e-4 / 2**min(depth, 3)
        return surfaces.API_GAIN[api] * (1.0 if direct else 0.97) * 2**size / (arm + 2**size / top)
    return rate


def capped(chance):
    """A made-up machine behind a limit on bytes and requests."""
    free, bps, iops = surfaces.machine(chance), *chance.choice(((2e8, 3000), (6e8, 12000), (5e7, 500)))
    return lambda s, d, direct, api, t: min(free(s, d, direct, api, t), bps, iops * 2**s)


def slow_floor(chance):
    """50 MB/s everywhere but around one narrow best."""
    at_size, at_depth, best = chance.uniform(15, 20), chance.uniform(1, 5), chance.choice((0, 1))
    return lambda s, d, direct, api, t: surfaces.API_GAIN[api] * (
        5e7 + 4e8 * (1.0 if direct == best else 0.5) * surfaces.bell(s, d, at_size, at_depth, 2, 2))


def slow_modes(chance):
    """Two far modes over a floor of 50 MB/s, the higher one narrower."""
    low, far = (chance.uniform(13, 15), chance.uniform(4, 5.5)), (chance.uniform(19, 21), chance.uniform(0, 1.5))
    high, wide = chance.choice(((low, far), (far, low)))
    return lambda s, d, direct, api, t: surfaces.API_GAIN[api] * (
        5e7 + 4e8 * max(surfaces.bell(s, d, *high, 1.8, 1.8), 0.85 * surfaces.bell(s, d, *wide, 3, 2.5)))


SLOW = {'disk-random': lambda chance: hard_disk(chance, True), 'disk-sequential': lambda chance: hard_disk(chance, False),
        'floor': slow_floor, 'slow-modes': slow_modes}
MADE = {'device': surfaces.machine, 'cap': capped} | SLOW


def table_text(table):
    """CSV of a table: recorded, a family of the comparison, or one of those above."""
    if table.variant is None:
        return surfaces.recorded_table(CONFIGS, table.surface, table.pattern)
    if table.surface in surfaces.FAMILIES:
        return surfaces.made_table(table.surface, table.variant, table.pattern)
    shape = MADE[table.surface](random.Random(f'{table.surface} {table.variant}'))
    rows = (f'{table.pattern},{size},{depth},{direct},{api},{threads},{shape(math.log2(size), math.log2(depth), direct, api, threads):.0f}\n'
            for size, depth, direct, api, threads in surfaces.grid(**surfaces.FAMILY_GRID))
    return surfaces.HEADER + ''.join(rows)


def read_truth(text):
    return {tuple(int(row[key]) if key != 'api' else row[key] for key in KEYS): float(row['throughput_bps'])
            for row in csv.DictReader(text.splitlines())}


def recorded():
    return [Table(name, None, pattern) for name in ('ext4', 'xfs') for pattern in surfaces.recorded_patterns(CONFIGS, name)]


def all_cells():
    variants = {name: [Table(name, variant, compare_cells.FAMILY_PATTERN) for variant in range(N_VARIANTS)]
                for name in ('two-modes', 'needle', 'cliff', 'plateau', 'smooth', 'flat', *MADE)}
    quiet = {'op_cv': 0.1, 'setup_seconds': 0.005}
    for cv in (0.0, 0.02, 0.05, 0.2):
        yield Cell(f'coverage/cv-{cv:g}', recorded(), quiet | {'run_cv': cv}, 60, [], 0.10)
    for cv, tolerances in ((0.05, (0.03, 0.10, 0.15)), (0.2, (0.10, 0.15))):
        for tolerance in tolerances:
            yield Cell(f'recorded/cv-{cv:g}-tolerance-{tolerance:.2f}', recorded(), quiet | {'run_cv': cv}, 60,
                       ['--tolerance', f'{tolerance:.2f}'], tolerance)
        yield Cell(f'fastest/cv-{cv:g}', recorded(), quiet | {'run_cv': cv}, 60, ['--prefer', 'fastest'], 0.10)
    yield Cell('short/cv-0.1', recorded(), quiet | {'run_cv': 0.1}, 30, [], 0.10)
    for cv in (0.05, 0.2):
        for words, limit in LIMITS.items():
            yield Cell(f'limit/{words}-cv-{cv:g}', recorded(), quiet | {'run_cv': cv}, 60, ['--max-latency-p99', words, '--prefer', 'fastest'], 0.03,
                       limit=limit)
    for wander in WANDERS:
        for cv in (0.03, 0.1):
            yield Cell(f'wander/{wander}-cv-{cv:g}', recorded(), quiet | {'run_cv': cv}, 60, [], 0.10, wander)
    for cv in (0.05, 0.2):
        for name, tables in variants.items():
            yield Cell(f'{name}/cv-{cv:g}', tables, {'op_cv': 0.1, 'setup_seconds': 0.1, 'run_cv': cv}, 60, [], 0.10)


# What all settings have in common at a time, as beside neighbours on a host: scatter of the logarithm, and seconds after which a third is left.
WANDERS = {'fast': (0.12, 1.0), 'slow': (0.15, 8.0), 'step': None}


def trace_of(wander, seed, seconds):
    """The device's rate over time, as pairs of seconds and factor; it ends at 1, which is the truth. step: a fall to 0.7, halfway on average."""
    chance, step = random.Random(f'{wander} {seed}'), 0.1
    if WANDERS[wander] is None:
        return [(0, 1 / 0.7), (chance.uniform(0.2, 0.8) * seconds, 1)]
    scatter, tau = WANDERS[wander]
    keep, level, steps = math.exp(-step / tau), chance.gauss(0, scatter), []
    for i in range(int(1.5 * seconds / step)):
        steps.append((i * step, math.exp(level)))
        level = keep * level + chance.gauss(0, scatter * math.sqrt(1 - keep * keep))
    return [*steps, (1.5 * seconds, 1)]


def in_flight(point):
    return point[0] * point[1] * point[4]


LIMITS = {'300us': 3e-4, '1ms': 1e-3, '3ms': 3e-3}


def p99_seconds(point, rate, noise):
    """Of all requests of all runs. A request's latency and a run's rate are lognormal with mean 1."""
    request, run = (math.log1p(noise[key]**2) for key in ('op_cv', 'run_cv'))
    z = statistics.NormalDist().inv_cdf(0.99)
    return in_flight(point) / rate * math.exp(z * math.sqrt(request + run) + (run - request) / 2)


def keeping_limit(truth, limit, noise):
    """What of a table may be recommended."""
    return truth if limit is None else {point: rate for point, rate in truth.items() if p99_seconds(point, rate, noise) <= limit}


def judge(answer, truth, kept, tolerance):
    """One search against the truth, as a row of figures; None where nothing was recommended. kept: what keeps the limit."""
    setting = answer['recommendation']
    if setting is None:
        return None
    point = tuple(setting[key] for key in KEYS)
    # fstune may leave out settings of the table that cannot run here; what it knows of is what it can be judged by.
    best = max(kept.values())
    loss = 1 - kept.get(point, 0) / best
    cheapest = min(in_flight(other) for other, rate in kept.items() if rate >= (1 - tolerance) * best)
    bound = answer['shortfall_bound']['share'] if answer['shortfall_bound'] else None
    fastest = answer['best']
    fastest_point = tuple(fastest[key] for key in KEYS)

    def held(row, at):
        return None if row['ci_low'] is None else row['ci_low'] <= truth[at] <= row['ci_high']
    return {'loss': loss, 'ratio': in_flight(point) / cheapest, 'bound': bound, 'bound_holds': bound is not None and loss <= bound,
            'conclusive': answer['conclusive'], 'held': held(answer['throughput'], point), 'held_fastest': held(fastest, fastest_point),
            'bias': answer['throughput']['mean'] / truth[point] - 1, 'seconds': answer['search']['seconds'], 'runs': answer['search']['runs'],
            'point': ' '.join(map(str, point))}


def search(fstune, conf, pattern, cell, seed, options):
    command = [fstune, 'recommend', '--pattern', pattern, '--simulate', conf, '--seed', str(seed), '--budget', f'{cell.budget}s', '--json', '--quiet',
               *cell.options, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3, 5):
        raise SystemExit(f'{" ".join(command)}: exit code {done.returncode}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def share(values):
    known = [value for value in values if value is not None]
    return f'{sum(known)}/{len(known)}' + (f' = {sum(known) / len(known):.3f}' if known else '')


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def report(cell, rows, n_none):
    if not rows:
        return f'| {cell.name} | nothing recommended in {n_none} |'
    conclusive = [row for row in rows if row['conclusive']]
    bounds = [row['bound'] for row in rows if row['bound'] is not None]
    return (f'| {cell.name} | {len(rows)}{f" (+{n_none} none)" if n_none else ""} | {share([row["loss"] <= cell.tolerance + ROOM for row in rows])} '
            f'| {share([row["loss"] <= 0.05 for row in rows])} | {statistics.median(row["ratio"] for row in rows):.3g}, {percentile([row["ratio"] for row in rows], 0.9):.3g} '
            f'| {share([row["bound_holds"] for row in rows])} | {100 * statistics.median(bounds):.1f} % '
            f'| {share([row["conclusive"] for row in rows])} | {share([row["loss"] <= cell.tolerance for row in conclusive])} '
            f'| {share([row["held"] for row in rows])} | {share([row["held_fastest"] for row in rows])} '
            f'| {100 * statistics.mean(row["bias"] for row in rows):+.2f} % | {statistics.median(row["seconds"] for row in rows):.0f} s |')


HEAD = ('| cell | seeds | loss <= tolerance + 2 points | loss <= 5 % | in flight: median, p90 | bound holds | its median | conclusive | of these right '
        '| interval holds | of the fastest | bias | ended after |\n' + '| --- |' + ' ---: |' * 12)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--fstune', default=os.path.join(TOP, 'build', 'release', 'fstune'))
    parser.add_argument('--seeds', type=int, default=40)
    parser.add_argument('--first', type=int, default=1, help='the first seed')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--cells', default='', help='only cells whose name holds one of these texts, separated by commas')
    parser.add_argument('--op-cv', type=float, help='scatter of single requests; 0 is many times faster')
    parser.add_argument('--out', help='a CSV with a row for each search')
    parser.add_argument('options', nargs='*', help='further options of fstune')
    given = parser.parse_args()
    wanted = [cell for cell in all_cells() if any(text in cell.name for text in given.cells.split(','))]
    out = open(given.out, 'w', encoding='ascii') if given.out else None
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for n_cell, cell in enumerate(wanted):
            truths, tasks = {}, []
            noise = cell.noise if given.op_cv is None else cell.noise | {'op_cv': given.op_cv}
            for seed in range(given.first, given.first + given.seeds):
                table = cell.tables[seed % len(cell.tables)]
                trace = trace_of(cell.wander, seed, cell.budget) if cell.wander else ()
                key = (table, seed if trace else 0)
                if key not in truths:
                    text = table_text(table)
                    conf, _ = surfaces.write(folder, f'{n_cell}-{table.surface}-{table.variant}-{table.pattern}-{key[1]}', text, noise, trace)
                    truths[key] = conf, read_truth(text)
                tasks.append((key, seed, pool.submit(search, given.fstune, truths[key][0], table.pattern, cell, seed, given.options)))
            rows = []
            for key, seed, task in tasks:
                table, truth = key[0], truths[key][1]
                row = judge(task.result(), truth, keeping_limit(truth, cell.limit, noise), cell.tolerance)
                rows.append(row)
                if out and row:
                    print(cell.name, table.surface, table.variant, table.pattern, seed, *row.values(), sep=',', file=out, flush=True)
            print(report(cell, [row for row in rows if row], rows.count(None)), flush=True)


if __name__ == '__main__':
    main()
