#!/usr/bin/env python3
"""Searches on recorded surfaces whose runs start unlike they go on, or come in bursts: is the recommendation good, and is its rate the one that lasts?

usage: tests/study/starts.py SURFACES PROGRAM... [--seeds N] [--only FAMILY].... SURFACES holds recorded-*.csv. Prints a table in Markdown
with a row for each family, budget and program. Standard library only."""
import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

RECORDED = [(name, pattern) for name in ('ext4', 'xfs') for pattern in ('randread', 'randwrite', 'read', 'write')]
# What every run has, and what each family adds to it.
NOISE = {'run_cv': 0.1, 'setup_seconds': 0.005}
FAMILIES = {
    'steady': {},
    'requests scatter': {'op_cv': 0.5},
    'fast start': {'warmup_seconds': 0.1, 'warmup_factor': 3.0},
    'slow start': {'warmup_seconds': 0.1, 'warmup_factor': 0.3},
    'long fast start': {'warmup_seconds': 0.4, 'warmup_factor': 2.0},
    'fast start, noisy': {'warmup_seconds': 0.1, 'warmup_factor': 3.0, 'run_cv': 0.3},
    'fast start, dear': {'warmup_seconds': 0.1, 'warmup_factor': 3.0, 'setup_seconds': 0.1},
    'pulses, 0.1 s': {'pulse_seconds': 0.1, 'pulse_share': 0.4},
    'pulses, 0.25 s': {'pulse_seconds': 0.25, 'pulse_share': 0.3},
    'pulses, 0.03 s': {'pulse_seconds': 0.03, 'pulse_share': 0.5},
}
BUDGETS = (20, 60)


def describe(folder, surfaces, family, name):
    """A surface of this family on that recorded table."""
    path = os.path.join(folder, f'{family.replace(" ", "-").replace(",", "")}-{name}.conf')
    noise = ''.join(f' {key} = {float(value)!r};' for key, value in (NOISE | FAMILIES[family]).items())
    with open(path, 'w', encoding='ascii') as conf:
        conf.write(f'name = "{name}"; points = "{surfaces}/recorded-{name}.csv"; noise = {{{noise} }};\n')
    return path


def rates_of(surfaces, name, pattern):
    with open(os.path.join(surfaces, f'recorded-{name}.csv'), encoding='ascii') as table:
        return {tuple(row[key] for key in ('request_size', 'queue_depth', 'direct', 'api', 'threads')): float(row['throughput_bps'])
                for row in csv.DictReader(table) if row['pattern'] == pattern}


def search(program, conf, pattern, budget, seed):
    command = [program, 'recommend', '--simulate', conf, '--pattern', pattern, '--budget', f'{budget}s', '--seed', str(seed),
               '--tolerance', '3%', '--json', '--quiet']
    return json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)


def judge(answer, rates):
    """What the recommended setting reaches of the best, its claimed rate by the true one, and whether the interval holds that."""
    point, claim = answer['recommendation'], answer['throughput']
    truth = rates[tuple(str(point[key]) for key in ('request_size', 'queue_depth', 'direct', 'api', 'threads'))]
    held = claim['ci_low'] is not None and claim['ci_low'] <= truth <= claim['ci_high']
    return truth / max(rates.values()), claim['mean'] / truth - 1, held, answer['search']['points_measured']


def row(family, budget, program, results):
    n = len(results)
    ratios, errors, held, points = (list(column) for column in zip(*results))
    error = statistics.stdev(errors) / math.sqrt(n)
    good = 100 * sum(ratio >= 0.95 for ratio in ratios) / n
    return (f'| {family} | {budget} s | {os.path.basename(program)} | {good:.0f} % | {statistics.mean(ratios):.3f} | '
            f'{100 * statistics.mean(errors):+.1f} % +- {100 * error:.1f} | {100 * statistics.mean(map(abs, errors)):.1f} % | '
            f'{100 * sum(held) / n:.0f} % | {statistics.mean(points):.0f} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('surfaces')
    parser.add_argument('programs', nargs='+')
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--only', action='append', choices=FAMILIES)
    options = parser.parse_args()
    surfaces = os.path.abspath(options.surfaces)
    print('| family | budget | program | within 5 % | mean ratio | claim by truth | off by | interval holds | settings |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for family in options.only or FAMILIES:
            confs = {name: describe(folder, surfaces, family, name) for name in ('ext4', 'xfs')}
            for budget in BUDGETS:
                for program in options.programs:
                    def one(seed, program=program, budget=budget, confs=confs):
                        name, pattern = RECORDED[seed % len(RECORDED)]
                        return judge(search(program, confs[name], pattern, budget, seed), rates_of(surfaces, name, pattern))
                    print(row(family, budget, program, list(pool.map(one, range(options.seeds)))), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
