"""docs/compare-programs.md: regrets of picks on live programs, and what libfstune claims, against the table of all settings."""
import math
import statistics

import runs
from programs_play import ONE_RUN_EACH
from report import NEAR, markdown, percent, with_interval

# So many standard errors of the table may stand between a claim and what the table says.
TABLE_ERRORS = 2


class Truth:
    """Means of the logarithms of all passes, and their standard errors. What is common to a pass, such as a slow minute, is taken out of the errors:
    each pass has all settings, so it cancels in their ratios."""

    def __init__(self, passes):
        centred = [[value - statistics.fmean(values) for value in values] for values in passes]
        self.n_passes = len(passes)
        self.means = [statistics.fmean(column) for column in zip(*passes)]
        self.stds = [statistics.stdev(column) if self.n_passes > 1 else math.nan for column in zip(*centred)]
        self.best = max(range(len(self.means)), key=self.means.__getitem__)

    def error(self, index):
        return self.stds[index] / math.sqrt(self.n_passes)

    def regret(self, index):
        """(1 - truth / best truth, its standard error)"""
        ratio = math.exp(self.means[index] - self.means[self.best])
        return 1 - ratio, 0.0 if index == self.best else ratio * math.hypot(self.error(index), self.error(self.best))

    def rows(self, settings):
        return [{'setting': setting, 'mean': math.exp(mean), 'std_error_share': self.error(i) if self.n_passes > 1 else None}
                for i, (setting, mean) in enumerate(zip(settings, self.means))]


def quantile(values, share):
    """The smallest value that at least this share of them does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def judged(problem):
    """The problem's picks, each with its regret and the table's part of it."""
    truth = Truth(problem['passes'])
    for pick in problem['picks']:
        regret, error = truth.regret(pick['index'])
        yield pick | {'regret': regret, 'table_error': error, 'overstated': math.log(pick['claimed']) - truth.means[pick['index']]}


def standard_error(values):
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def share_text(value, digits=1):
    return '-' if math.isnan(value) else f'{100 * value:.{digits}f} %'


def grouped(picks):
    """By method and budget; what measures every setting once has no budget, and its runs are as many as there are settings."""
    groups = {}
    for pick in picks:
        groups.setdefault((pick['method'], pick['budget']), []).append(pick)
    return groups


def regret_row(method, budget, picks):
    regrets = [pick['regret'] for pick in picks]
    near = sum(regret <= 1 - NEAR for regret in regrets)
    return [method, budget, len(picks), f'{share_text(statistics.fmean(regrets))} +- {share_text(standard_error(regrets))}', share_text(quantile(regrets, 0.9)),
            with_interval((near, len(picks))), share_text(statistics.fmean(pick['table_error'] for pick in picks)),
            f'{math.exp(statistics.fmean(pick["overstated"] for pick in picks)):.2f}']


REGRET_HEADER = ['method', 'runs', 'searches', 'mean regret', '90th percentile', 'within 5 %', 'table\'s error', 'claimed / true']


def regret_table(picks):
    groups = grouped(picks)
    order = sorted(groups, key=lambda key: (key[1], statistics.fmean(pick['regret'] for pick in groups[key])))
    return markdown(REGRET_HEADER, [regret_row(*key, groups[key]) for key in order])


def together_table(by_problem):
    """The mean over the problems of each mean, so that none counts more than another. What has another budget in each is left out."""
    means = {}
    for picks in by_problem.values():
        for key, group in grouped(picks).items():
            near = sum(pick['regret'] <= 1 - NEAR for pick in group) / len(group)
            means.setdefault(key, []).append((statistics.fmean(pick['regret'] for pick in group), near))
    rows = [(budget, statistics.fmean(mean for mean, _ in values), method, statistics.fmean(near for _, near in values))
            for (method, budget), values in means.items() if len(values) == len(by_problem)]
    return markdown(['method', 'runs', 'mean regret', 'within 5 %'],
                    [[method, budget, share_text(regret), percent(near)] for budget, regret, method, near in sorted(rows)])


def holds(pick, errors):
    return pick['regret'] <= pick['shortfall'] + errors * pick['table_error']


def share_that_holds(picks, errors):
    return with_interval((sum(holds(pick, errors) for pick in picks), len(picks)) if picks else None)


def claim_row(name, budget, picks):
    claims = [pick for pick in picks if pick.get('shortfall') is not None]
    conclusive = [pick for pick in claims if pick['conclusive']]
    bounds = [pick['shortfall'] for pick in claims]
    return [name, budget, len(picks), len(claims), share_that_holds(claims, 0), share_that_holds(claims, TABLE_ERRORS),
            share_text(statistics.median(bounds)) if bounds else '-', with_interval((len(conclusive), len(picks))), share_that_holds(conclusive, TABLE_ERRORS),
            f'{statistics.median(pick["runs_used"] for pick in claims):.0f}' if claims else '-']


CLAIM_HEADER = ['problem', 'runs', 'answers', 'with a bound', 'bound holds', f'with {TABLE_ERRORS} errors of the table', 'median bound', 'conclusive',
                'of these, holds', 'runs used']


def claim_table(by_problem):
    return markdown(CLAIM_HEADER, [claim_row(name, budget, group) for name, picks in by_problem.items()
                                   for (method, budget), group in grouped(picks).items() if method == runs.LIBRARY])


def describe(problem):
    truth = Truth(problem['passes'])
    near = sum(truth.regret(i)[0] <= 1 - NEAR for i in range(len(truth.means)))
    factors = '; '.join(f'{factor["name"] or "one of"}: {", ".join(str(level) if level != "" else "(none)" for level in factor["levels"])}'
                        for factor in problem['factors'])
    return (f'{problem["title"]}.\n\n{len(truth.means)} settings ({factors}). Each was measured {truth.n_passes} times; a run scatters by '
            f'{share_text(statistics.median(truth.stds), 0)} (median of the settings), and a mean has a standard error of '
            f'{share_text(statistics.median(truth.stds) / math.sqrt(truth.n_passes))}. The best is {problem["texts"][truth.best]}, with '
            f'{math.exp(truth.means[truth.best]):.4g} {problem["unit"]}; {near} are within 5 % of it, and the worst has '
            f'{math.exp(min(truth.means) - truth.means[truth.best]):.2f} of it.\n')


INTRODUCTION = '''# How libfstune does on live programs

Made by `make compare-programs-live`; do not edit. {facts}

Each method looks for the settings of a program with which it is fastest, by live runs of that program: {problems}. All get the same number of runs, and
nobody is told how much runs scatter. What each method is, is told in `tests/compare/peers`; libfstune is told its budget. `{one_run_each}` measures every
setting once and takes the best.

The searches of one seed go in step: when all have named their next setting, these are measured one after another in random order, while none of them
thinks. Before each seed every setting is measured, in random order; the geometric mean of these runs is the truth. The *regret* of a pick is 1 - its truth /
the best truth. The table's error is the standard error of that ratio, mean over the picks; as the best of many means is a little too high, so are all
regrets. +- is the standard error over the searches, *within 5 %* has a 95 % Wilson interval, and *claimed / true* is the rate that the method names for its
pick over the pick's truth.
'''

TOGETHER = '''Means over the problems, each with the same weight. `{one_run_each}` takes as many runs as a problem has settings, so it is not the same
everywhere and stands in the tables of the problems.
'''

CLAIMS = '''libfstune says how much its answer loses at most against the best setting, with 95 % confidence. The bound is held against the table as it is, and
with {errors} standard errors of the table allowed. *Conclusive* are answers whose bound is within the tolerance (3 %) and that were measured again after the
choice. A search may end before its budget.
'''


def write(document):
    problems = {problem['name']: problem for problem in document['problems'] if problem['picks'] and len(problem['passes']) > 1}
    if not problems:
        return '# How libfstune does on live programs\n\nNo results.\n'
    by_problem = {name: list(judged(problem)) for name, problem in problems.items()}
    parts = [INTRODUCTION.format(facts=document['facts'], problems=', '.join(problems), one_run_each=ONE_RUN_EACH)]
    if len(problems) > 1:
        parts += ['## All together\n', TOGETHER.format(one_run_each=ONE_RUN_EACH), together_table(by_problem)]
    parts += ['## What libfstune claims, and whether it is true\n', CLAIMS.format(errors=TABLE_ERRORS), claim_table(by_problem)]
    for name, problem in problems.items():
        parts += [f'## {name}\n', describe(problem), regret_table(by_problem[name])]
    if document['skipped']:
        parts += ['## Left out\n', ''.join(f'- {what}: {why}\n' for what, why in document['skipped'].items())]
    return '\n'.join(parts)
