#!/usr/bin/env python3
"""Which estimator of a run's rate has the least bias and scatter, where n slots each send a request again as soon as it completes?

usage: tests/study/rate_estimators.py [--traces 300] [--duration 0.05] [--only WORD] [--truth]     simulated devices whose rate is known
       tests/study/rate_estimators.py --fio DIRECTORY [--seconds 10]     requests of fio on a real disk, which needs 1 GiB there

Prints Markdown. A cell is "bias (standard deviation)" in per cent; u and a number: per cent of the runs that gave no figure. Simulated runs start
with an empty queue; the mean latency of each is drawn within a fifth of the nominal one. The same seeds give the same figures. --truth compares
long simulations with the rates taken for true. What was found is in docs/statistics.md. Needs numpy, and fio for --fio."""
import argparse
import heapq
import itertools
import math
import os
import subprocess
import tempfile

import numpy as np
from rate_devices import DEVICES, Trace, play

LEAST = 64  # completions in a run
TURNOVERS = (0.5, 1, 2, 5, 20, 100)
NAMES = {'span': '1 span', 'window': '2 window', 'between': '3 between', 'slope': '4 slope', 'batches': '5 batches', 'wald': '6 Wald',
         'late': "6' Wald from t0", 'before': '7 before', 'drained': '8 drained', 'own': '9 own rates', 'shares': '10 shares'}
COSTS = ('span', 'window', 'wald', 'late', 'drained')


def openings(trace):
    """Marks the first completion of every slot."""
    marks = np.zeros(len(trace.slot), bool)
    marks[np.unique(trace.slot, return_index=True)[1]] = True
    return marks


def last_of(trace, marks, n):
    """The last completion of every slot among the marked ones."""
    last = np.full(n, -np.inf)
    np.maximum.at(last, trace.slot[marks], trace.complete[marks])
    return last


def by_slots(trace, n, marks, ends):
    """Requests and seconds of each slot from its first completion to its end, which is one of the marked completions."""
    seconds = np.maximum(ends - last_of(trace, openings(trace), n), 0)
    return np.bincount(trace.slot[marks & (trace.complete <= ends[trace.slot])], minlength=n), seconds


def closings(trace, n, deadline):
    """When each slot completes for the first time at or after the deadline, but for its very first time; None where the trace is too short."""
    late = np.flatnonzero(~openings(trace) & (trace.complete >= deadline))
    slots, first = np.unique(trace.slot[late], return_index=True)
    return trace.complete[late[first]] if len(slots) == n else None


def in_window(times, start, end):
    """Estimators 2 to 5, of the completions after the start and up to the end."""
    inside = times[(times > start) & (times <= end)]
    rates = {'window': len(inside) / (end - start)}
    if inside[-1] > inside[0]:
        rates['between'] = np.count_nonzero(inside > inside[0]) / (inside[-1] - inside[0])
        rates['slope'] = np.polyfit(inside - start, np.arange(len(inside)), 1)[0]
        gaps = np.diff(inside)
        rates['batches'] = 1 / gaps[len(gaps) % 16:].reshape(16, -1).mean(axis=1).mean()
    return rates


def shares(trace, start, end):
    """Estimator 10: each request counts with the share of its time that lies between start and end."""
    inside = np.minimum(trace.complete, end) - np.maximum(trace.submit, start)
    return (np.maximum(inside, 0) / np.maximum(trace.complete - trace.submit, 1e-12)).sum() / (end - start)


def estimate(trace, n, duration):
    """Rates by the estimators that keep the queue full, and until when each needs it so; None where the trace is too short."""
    again = ~openings(trace)
    if len(again) < LEAST or np.count_nonzero(~again) < n:
        return None
    opened = trace.complete[~again].max()
    after = trace.complete[trace.complete > opened]
    if len(after) < LEAST:
        return None
    enough = trace.complete[again][LEAST - n - 1] if LEAST > n else 0  # when slots close, each counts once more
    end, deadline = max(opened + duration, after[LEAST - 1]), max(opened + duration, enough)
    wald, late = closings(trace, n, max(duration, enough)), closings(trace, n, deadline)
    if wald is None or late is None:
        return None
    rates = in_window(trace.complete, opened, end)
    rates['shares'] = shares(trace, opened, deadline)
    for name, ends in {'wald': wald, 'late': late, 'before': last_of(trace, again & (trace.complete < end), n)}.items():
        counts, seconds = by_slots(trace, n, again, ends)
        rates[name] = n * counts.sum() / seconds.sum() if seconds.sum() > 0 else math.nan
        if name == 'wald':
            rates['own'] = (counts / seconds).sum()
    return rates, {'window': end, 'wald': wald.max(), 'late': late.max(), 'drained': max(duration, opened, enough)}


def run_once(name, seed, latency, duration):
    """All rates of one simulated run over the truth, and after how many durations the queue is empty again."""
    n, horizon, found = DEVICES[name][1], 1.3 * duration + 4 * latency, None
    while found is None or max(found[1].values()) > horizon:
        horizon *= 1.5
        truth, trace = play(name, seed, latency, horizon)
        found = estimate(trace, n, duration)
    rates, stops = found
    stops['span'], costs = max(duration, np.sort(trace.submit)[LEAST - 1]), {}
    for key in COSTS:
        run = Trace(*(part[trace.submit <= stops[key]] for part in trace))
        if DEVICES[name][0].followers_matter:
            run = play(name, seed, latency, stops[key])[1]
        costs[key] = run.complete[-1] / duration
        if key == 'span':
            rates[key] = len(run.slot) / run.complete[-1]
        elif key == 'drained':
            counts, seconds = by_slots(run, n, ~openings(run), last_of(run, run.submit >= 0, n))
            rates[key] = n * counts.sum() / seconds.sum()
    return {key: rates.get(key, math.nan) / truth for key in NAMES}, costs


def cell(values):
    """Bias and standard deviation, per cent."""
    known = np.array(values)[np.isfinite(values)]
    unknown = 100 - 100 * len(known) / len(values)
    text = f'{100 * known.mean() - 100:+.1f} ({100 * known.std():.1f})' if len(known) > 1 else '-'
    return text + (f' u{unknown:.0f}' if unknown >= 0.5 else '')


def row(*cells):
    print('|', ' | '.join(cells), '|', flush=True)


def simulate(options):
    row('device', 'turnovers', *NAMES.values(), *(f'cost of {NAMES[key]}' for key in COSTS))
    row(*['---'] * (2 + len(NAMES) + len(COSTS)))
    for number, name in enumerate(DEVICES):
        for turnovers in TURNOVERS if options.only in name else ():
            seed = (number, int(10 * turnovers))
            latencies = options.duration / turnovers * np.random.default_rng(seed).uniform(0.8, 1.2, options.traces)
            runs = [run_once(name, (*seed, trace), latency, options.duration) for trace, latency in enumerate(latencies)]
            row(name, f'{turnovers:g}', *(cell([rates[key] for rates, _ in runs]) for key in NAMES),
                *(f'{np.mean([costs[key] for _, costs in runs]):.2f}' for key in COSTS))


def check_truth(options):
    row('device', 'long simulation / rate taken for true')
    row('---', '---')
    for name in (name for name in DEVICES if options.only in name):
        ratios = []
        for seed in range(5):
            truth, trace = play(name, seed, 0.01, 50)
            ratios.append(np.count_nonzero((trace.complete > 5) & (trace.complete <= 50)) / 45 / truth)
        row(name, f'{np.mean(ratios):.4f} +- {np.std(ratios) / 2:.4f}')


def recorded(folder, pattern, size, depth, seconds):
    """What fio did. Its log has no slots: each request gets the one that was free longest. It has milliseconds: the completions of one are spread
    evenly over it, which is too rough for shares of requests."""
    subprocess.run(['fio', '--name=trace', '--filename=data', '--size=768m', f'--rw={pattern}', f'--bs={size}', f'--iodepth={depth}', '--direct=1',
                    '--ioengine=libaio', '--time_based', f'--runtime={seconds}', '--write_lat_log=trace', '--log_avg_msec=0', '--disable_slat=1',
                    '--disable_clat=1', '--output=out'], cwd=folder, check=True)
    stamps, latencies = np.loadtxt(os.path.join(folder, 'trace_lat.1.log'), delimiter=',', usecols=(0, 1), unpack=True)
    _, place, count = np.unique(stamps, return_index=True, return_counts=True)
    complete = stamps / 1000 + (np.arange(len(stamps)) - np.repeat(place, count) + 0.5) / np.repeat(count, count) / 1000
    free, slots, submits = [(0.0, slot) for slot in range(depth)], np.empty(len(stamps), int), np.empty(len(stamps))
    for request in np.argsort(complete - latencies / 1e9, kind='stable'):
        submits[request], slots[request] = heapq.heapreplace(free, (complete[request], free[0][1]))
    order = np.argsort(complete, kind='stable')
    return Trace(slots[order], submits[order], complete[order])


def pieces_of(trace, n, duration):
    """Rates of consecutive runs over the rate of the whole, which is the trace without its first and last 0.3 s."""
    first, last = 0.3, trace.complete[-1] - 0.3
    whole, pieces = np.count_nonzero((trace.complete > first) & (trace.complete <= last)) / (last - first), []
    for start in np.arange(first, last - duration, duration):
        found, length = None, 2 * duration
        while found is None and start + length < last + duration:
            part = slice(*np.searchsorted(trace.complete, (start, start + length), side='right'))
            found = estimate(Trace(trace.slot[part], trace.submit[part] - start, trace.complete[part] - start), n, duration)
            length *= 2
        pieces += [found[0]] if found is not None else []
    return whole, pieces


def record_all(options):
    keys = [key for key in NAMES if key not in ('span', 'drained', 'shares')]
    row('pattern', 'size', 'depth', 'requests/s', 'piece', 'turnovers', 'pieces', *(NAMES[key] for key in keys))
    row(*['---'] * (7 + len(keys)))
    with tempfile.TemporaryDirectory(dir=options.fio) as folder:
        subprocess.run(['fio', '--name=fill', '--filename=data', '--size=768m', '--rw=write', '--bs=1m', '--end_fsync=1', '--output=out'],
                       cwd=folder, check=True)
        for pattern, size, depth in itertools.product(('randread', 'randwrite'), ('4k', '256k', '4m'), (1, 4, 16, 64)):
            trace = recorded(folder, pattern, size, depth, options.seconds)
            for duration in (0.05, 0.2, 1.0):
                whole, pieces = pieces_of(trace, depth, duration)
                cells = [cell([piece.get(key, math.nan) / whole for piece in pieces]) if pieces else '-' for key in keys]
                row(pattern, size, str(depth), f'{whole:.0f}', f'{duration:g} s', f'{whole * duration / depth:.1f}', str(len(pieces)), *cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--traces', type=int, default=300)
    parser.add_argument('--duration', type=float, default=0.05)
    parser.add_argument('--only', default='')
    parser.add_argument('--truth', action='store_true')
    parser.add_argument('--fio', metavar='DIRECTORY')
    parser.add_argument('--seconds', type=int, default=10)
    options = parser.parse_args()
    (record_all if options.fio else check_truth if options.truth else simulate)(options)


if __name__ == '__main__':
    main()
