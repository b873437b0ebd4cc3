"""docs/compare.md: tables, tests and the lines that must hold, all computed from the results."""
import collections
import statistics
import subprocess

import runs
import stats
from cells import MADE_NOISE, N_VARIANTS, RECORDED_NOISE

NEAR = 0.95       # "within 5 % of the best"
TOLERANCE = 0.03  # fstune's standard tolerance, which its probability is about
CLAIM = 0.95
SHOWN_MARKS = (10, 20, 60, 120)
REFERENCES = ('random', 'ttts')


class Table:
    """Results by cell, method and mark."""

    def __init__(self, chosen, methods, results):
        self.cells = {cell.name: cell for cell in chosen}
        self.picks = collections.defaultdict(dict)  # (cell, method, mark) -> {seed: pick}
        self.cpu = collections.defaultdict(float)   # (group, method) -> seconds
        self.n_runs = collections.Counter()
        for cell, result in results:
            self.cpu[cell.group, result['method']] += result['cpu']
            self.n_runs[cell.group, result['method']] += 1
            for pick in result['picks']:
                self.picks[cell.name, result['method'], pick['seconds']][result['seed']] = pick
        self.methods = [method for method in methods if any(key[1] == method for key in self.picks)]
        self.groups = list(dict.fromkeys(cell.group for cell in chosen))

    def of_group(self, group):
        return [cell for cell in self.cells.values() if cell.group == group]

    def hits(self, cell, method, mark):
        """{seed: whether the pick reaches NEAR of the best}"""
        return {seed: pick['ratio'] >= NEAR for seed, pick in self.picks.get((cell, method, mark), {}).items()}

    def share(self, cells, method, mark):
        """(hits, n) over the seeds of these cells; None without any."""
        hits = [hit for cell in cells for hit in self.hits(cell, method, mark).values()]
        return (sum(hits), len(hits)) if hits else None

    def mean_ratio(self, cells, method, mark):
        ratios = [pick['ratio'] for cell in cells for pick in self.picks.get((cell, method, mark), {}).values()]
        return statistics.fmean(ratios) if ratios else float('nan')

    def answers(self, cells):
        """fstune's answers of these cells at all marks, refusals left out: (cell, mark, pick)."""
        return [(self.cells[cell], mark, pick) for (cell, method, mark), picks in self.picks.items() if method == 'fstune' and cell in cells
                for pick in picks.values() if pick['index'] is not None]


def percent(share):
    return f'{100 * share:.0f} %'


def with_interval(counted):
    if counted is None:
        return '-'
    low, high = stats.wilson(*counted)
    return f'{percent(counted[0] / counted[1])} ({100 * low:.0f}-{100 * high:.0f})'


def markdown(header, rows):
    lines = ['| ' + ' | '.join(map(str, row)) + ' |' for row in [header, ['---'] * len(header)] + rows]
    return '\n'.join(lines) + '\n'


def cell_table(table, cell):
    marks = [mark for mark in cell.marks if mark in SHOWN_MARKS] or list(cell.marks)
    rows = []
    for method in table.methods:
        if not any(table.share([cell.name], method, mark) for mark in marks):
            continue
        n = max(len(table.picks.get((cell.name, method, mark), {})) for mark in marks)
        row = [method, n]
        for mark in marks:
            row += [with_interval(table.share([cell.name], method, mark)), f'{table.mean_ratio([cell.name], method, mark):.3f}']
        rows.append(row)
    header = ['method', 'seeds'] + [text for mark in marks for text in (f'{mark} s: within 5 %', 'mean ratio')]
    return f'**{cell.name}**: {cell.title}\n\n{markdown(header, rows)}\n'


# ---- not worse than the references ----

def tests_against(table):
    """[(cell, reference, mark, ours, theirs, p)] on the seeds that both have, at the cell's last mark."""
    found = []
    for cell in table.cells.values():
        mark = cell.marks[-1]
        ours = table.hits(cell.name, 'fstune', mark)
        for reference in REFERENCES:
            theirs = table.hits(cell.name, reference, mark)
            seeds = sorted(ours.keys() & theirs.keys())
            if seeds:
                a, b = [ours[seed] for seed in seeds], [theirs[seed] for seed in seeds]
                found.append((cell.name, reference, mark, (sum(a), len(a)), (sum(b), len(b)), stats.mcnemar_worse(a, b)))
    return found


def write_tests(table):
    found = tests_against(table)
    if not found:
        return 'No cell has both fstune and a reference.\n', None
    adjusted = stats.holm([test[-1] for test in found])
    rows = [[cell, reference, f'{mark} s', with_interval(ours), with_interval(theirs), f'{p:.3f}', f'{holm:.3f}', 'WORSE' if holm <= 0.05 else 'no']
            for (cell, reference, mark, ours, theirs, p), holm in zip(found, adjusted) if p <= 0.2]
    worse = sum(holm <= 0.05 for holm in adjusted)
    plain = sum(test[-1] <= 0.05 for test in found)
    text = (f'{len(found)} one-sided exact McNemar tests on paired seeds: fstune picks a point within 5 % less often than the reference. '
            f'Below 0.05: {plain} ({0.05 * len(found):.1f} or fewer are expected by chance where fstune is as good); after Holm\'s correction: {worse}. '
            'Rows with p <= 0.2:\n\n')
    header = ['cell', 'reference', 'after', 'fstune', 'reference\'s', 'p', 'Holm', 'worse']
    return text + (markdown(header, rows) if rows else 'None.\n'), worse == 0


# ---- what fstune claims ----

def calibration(answers):
    """(right, n) of the answers that claim CLAIM or more."""
    sure = [pick for _, _, pick in answers if pick['probability'] >= CLAIM]
    return sum(pick['ratio'] >= 1 - TOLERANCE for pick in sure), len(sure)


def bias(answers):
    """(mean of claim / truth - 1, its standard error, share of intervals with the truth inside as (hits, n)) where the world stands still."""
    still = [pick for cell, _, pick in answers if cell.stationary]
    if len(still) < 2:
        return None
    errors = [pick['claimed_bps'] / pick['truth_bps'] - 1 for pick in still]
    bounded = [pick for pick in still if pick['ci'][0] is not None]
    covered = sum(pick['ci'][0] <= pick['truth_bps'] <= pick['ci'][1] for pick in bounded)
    return statistics.fmean(errors), statistics.stdev(errors) / len(errors)**0.5, (covered, len(bounded))


def claims_row(table, name, cells, mark):
    answers = [answer for answer in table.answers(cells) if answer[1] == mark]
    if not answers:
        return None
    right, sure = calibration(answers)
    off = bias(answers)
    return [name, f'{mark} s', len(answers), percent(sure / len(answers)), with_interval((right, sure)) if sure else '-',
            f'{100 * off[0]:+.2f} % +- {100 * off[1]:.2f} %' if off else '-', with_interval(off[2]) if off and off[2][1] else '-',
            percent(statistics.fmean(pick['conclusive'] for _, _, pick in answers)),
            f'{statistics.fmean(pick["took_seconds"] for _, _, pick in answers):.1f} s']


def write_claims(table):
    rows = []
    for group in table.groups:
        cells = table.of_group(group)
        if group == 'noise':
            rows += [claims_row(table, cell.name, {cell.name}, cell.marks[-1]) for cell in cells]
        else:
            rows += [claims_row(table, group, {cell.name for cell in cells}, mark) for mark in (20, 60, 120)]
    header = ['cells', 'budget', 'answers', f'claim >= {CLAIM:g}', 'of these within 3 %', 'claimed / true rate - 1', 'intervals with the truth',
              'conclusive', 'virtual time used']
    return markdown(header, [row for row in rows if row])


def write_claims_of_all(table):
    """What every method says that its pick does, against what it does, on the recorded surfaces at the last mark."""
    rows = []
    for method in table.methods:
        errors = [pick['claimed_bps'] / pick['truth_bps'] - 1 for cell in table.of_group('recorded')
                  for pick in table.picks.get((cell.name, method, cell.marks[-1]), {}).values() if pick['index'] is not None]
        if len(errors) > 1:
            rows.append([method, len(errors), f'{100 * statistics.fmean(errors):+.1f} %', f'{100 * statistics.quantiles(errors, n=20)[-1]:+.1f} %'])
    return markdown(['method', 'picks', 'claimed / true rate - 1, mean', 'its 95th percentile'], rows) if rows else ''


# ---- what must hold ----

def verdict(met):
    return '' if met is None else 'met' if met else 'NOT MET'


def must_recorded(table):
    for cell in table.of_group('recorded'):
        counted = table.share([cell.name], 'fstune', 60)
        if counted:
            ratio = table.mean_ratio([cell.name], 'fstune', 60)
            yield (f'{cell.title}, run_cv 0.2, 60 s: within 5 % in >= 90 %, mean ratio >= 0.97',
                   f'{with_interval(counted)}, {ratio:.3f}', counted[0] >= 0.9 * counted[1] and ratio >= 0.97)


def must_beat_peers(table, seconds, said):
    for cell in table.of_group('recorded'):
        ours = table.share([cell.name], 'fstune', 20)
        peers = [method for method in table.methods if runs.is_peer(method) and runs.peer_of(method)[1] == seconds]
        theirs = {method: table.share([cell.name], method, 60) for method in peers}
        theirs = {method: counted[0] / counted[1] for method, counted in theirs.items() if counted}
        if ours and theirs:
            best = max(theirs, key=theirs.get)
            yield (f'{cell.title}: at 20 s no worse than the best peer at 60 s, {said}',
                   f'{with_interval(ours)} against {percent(theirs[best])} ({best})', ours[0] / ours[1] >= theirs[best])


def must_share(table, cell, mark, text):
    counted = table.share([cell], 'fstune', mark)
    if counted:
        yield text, f'{with_interval(counted)}, {table.mean_ratio([cell], "fstune", mark):.3f}', counted[0] >= 0.9 * counted[1]


def time_factor(table):
    """(seconds without noise, seconds at run_cv 0.2) until 90 % of the seeds are within 5 %; None where the marks do not reach that."""
    noisy = [cell.name for cell in table.of_group('recorded')]
    times = []
    for cells in (['noise/cv-0'], noisy):
        marks = [mark for mark in (5, 10, 20, 40, 60) if table.share(cells, 'fstune', mark)]
        shares = [hits / n for hits, n in (table.share(cells, 'fstune', mark) for mark in marks)]
        times.append(stats.seconds_to_reach(0.9, marks, shares) if marks else None)
    return times


def beside_oracle(table):
    cells = [cell.name for cell in table.of_group('recorded')]
    for mark in (10, 20):
        shares = [table.share([cell], runs.ORACLE, mark) for cell in cells]
        if cells and all(shares):
            yield (f'beside: a sampler that is told which points are within 10 % of the best and tries only these, at {mark} s, table by table; all together',
                   f'{", ".join(percent(hits / n) for hits, n in shares)}; {with_interval(table.share(cells, runs.ORACLE, mark))}', None)


def must_time_factor(table):
    if not table.share(['noise/cv-0'], 'fstune', 60) or not table.of_group('recorded'):
        return
    clean, noisy = time_factor(table)
    shown = [f'{seconds:.0f} s' if seconds else 'not within 60 s' for seconds in (clean, noisy)]
    factor = f', factor {noisy / clean:.1f}' if clean and noisy else ''
    yield ('noise 0.2 costs at most twice the virtual time of the noiseless case (until 90 % of the seeds are within 5 %, all recorded tables together)',
           f'{shown[0]} without noise, {shown[1]} with{factor}', bool(clean and noisy and noisy <= 2 * clean))


def must_claims(table):
    answers = table.answers(set(table.cells))
    right, sure = calibration(answers)
    if sure:
        yield ('of the answers that claim a probability >= 0.95, >= 93 % are within 3 % (all cells and budgets)', with_interval((right, sure)),
               right >= 0.93 * sure)
    off = bias([answer for answer in answers if answer[1] == answer[0].marks[-1]])
    if off:
        yield ('bias of the reported rate <= 0.5 % (last budget of each cell)', f'{100 * off[0]:+.2f} % +- {100 * off[1]:.2f} % (standard error)',
               abs(off[0]) <= 0.005)


def must_hold(table, not_worse):
    """(line, figures, whether it is met; None: only reported). Lines without results are left out."""
    yield from must_recorded(table)
    yield from must_beat_peers(table, runs.USUAL_RUN_SECONDS, 'runs of 1 s')
    yield from must_beat_peers(table, runs.RUN_SECONDS, 'its runs shortened to 0.1 s for it')
    yield from beside_oracle(table)
    for text, figures, _ in must_share(table, 'noise/slow-noise', 60, 'beside: the same with run_cv_seconds 1, 60 s'):
        yield text, figures, None
    yield from must_share(table, 'noise/cv-0.05', 20, 'run_cv 0.05: within 5 % in 20 s in >= 90 %')
    yield from must_time_factor(table)
    if not_worse is not None:
        yield 'not significantly worse than random search or ttts in any cell (one-sided 5 %, Holm)', 'see below', not_worse
    yield from must_share(table, 'spaces/20000-cv-0.05', 120, '20,000 points, run_cv 0.05: within 5 % in 120 s in >= 90 %')
    yield from must_claims(table)


# ---- the whole ----

def output_of(command):
    """Nothing where the program fails or is missing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ''
    return done.stdout.strip() if done.returncode == 0 else ''


def write_cost(table):
    rows = []
    for method in table.methods:
        groups = [(table.cpu[group, method], table.n_runs[group, method]) for group in table.groups]
        total, n = sum(cpu for cpu, _ in groups), sum(n for _, n in groups)
        rows.append([method, n, f'{total / 60:.1f}', f'{total / n:.2f}'] + [f'{cpu / n:.2f}' if n else '-' for cpu, n in groups])
    total = sum(table.cpu.values())
    return (f'CPU time of the runs behind this page: {total / 3600:.2f} hours, cached ones included. Seconds a run, all marks together:\n\n'
            + markdown(['method', 'runs', 'CPU minutes', 'a run'] + table.groups, rows))


INTRODUCTION = '''# How fstune's search compares

Made by `make compare`; do not edit. {facts}

Each method searches the same simulated surface, with the same noise, for the same virtual seconds. A peer's trial costs its run and the surface's
set-up time: {recorded_setup} s on recorded surfaces, as measured with them, {made_setup} s on made-up ones. Runs of peers take {run_seconds} s, a tenth of what people
give fio: the noise is that from run to run, whatever their length, and many short runs are what fstune lives on; on recorded surfaces `-1s` is the same peer with the
usual runs of {usual_seconds:g} s. fstune chooses the length of its runs, and gets one whole run of the program per budget, final replays included. A figure is the *true* rate of the
point that a method names after so many virtual seconds, over the true rate of the best point: *within 5 %* is the share of seeds in which that ratio is at least 0.95, with
a 95 % Wilson interval. An answer that fstune refuses counts as ratio 0. `tests/compare/peers` says what each peer is and which favours it gets.

fstune recommends the *cheapest* point that it holds for within 3 % of the best, so its mean ratio can stay below 1 by intention.

In `recorded/` each cell is one recorded table. In the other groups the seeds take the recorded tables (`noise/`) or {n_variants} variants with moved optima
(`shapes/`, `spaces/`) in turn. Base noise: run_cv 0.2; a cell changes one thing. Surfaces: `tests/compare/surfaces.py`, cells: `tests/compare/cells.py`.
'''


def facts(table):
    made = output_of(['git', 'log', '-1', '--format=%cs']) or 'unknown date'
    version = (output_of(['build/release/fstune', '--version']).splitlines() or ['fstune'])[0]
    seeds = collections.defaultdict(list)
    for method in table.methods:
        n = max(len(picks) for (_, name, _), picks in table.picks.items() if name == method)
        seeds[n].append(method)
    most = '; '.join(f'{n} for {", ".join(names)}' for n, names in sorted(seeds.items(), reverse=True))
    return f'Sources of {made}, {version}. Seeds a cell, at most: {most}. Fewer than 100 where a method or a space is slow; each table says how many.'


def write(table, pictures):
    if not table.picks:
        return '# How fstune\'s search compares\n\nNo results.\n'
    tests, not_worse = write_tests(table)
    must = [[text, figures, verdict(met)] for text, figures, met in must_hold(table, not_worse)]
    parts = [INTRODUCTION.format(facts=facts(table), run_seconds=runs.RUN_SECONDS, usual_seconds=runs.USUAL_RUN_SECONDS, n_variants=N_VARIANTS,
                                 recorded_setup=RECORDED_NOISE['setup_seconds'], made_setup=MADE_NOISE['setup_seconds']),
             '## What must hold\n', markdown(['line', 'figures', 'verdict'], must),
             'Real disks are not compared here.\n']
    for group in table.groups:
        parts.append(f'## {group.capitalize()}\n')
        parts += [f'![{group}: {what}](compare/{group}-{what}.svg)\n' for what in ('share', 'ratio') if f'{group}-{what}' in pictures]
        parts += [cell_table(table, cell) for cell in table.of_group(group)]
    parts += ['## Not worse than random search and than a sampler without structure\n', tests,
              '## What fstune claims, and whether it is true\n', write_claims(table),
              'Cells whose rate changes while they are searched (drift, step) have no single true rate and are left out of the columns about rates.\n',
              'What every method claims on the recorded surfaces at the last mark (a peer: what its user would read off it):\n', write_claims_of_all(table),
              '## Cost\n', write_cost(table)]
    return '\n'.join(parts)
