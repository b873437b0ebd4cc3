"""The page of cawl_validation: errors of predictions, and what they are compared with. Standard library only."""
import os
import statistics

# What this study wants: mean relative error at most, and, with a page cache, how much better than naive.
AIMS, AIM_BETTER = {'direct': 0.15, 'sync': 0.15, 'nosync': 0.2, 'stdio': 0.2}, 0.7
# Beyond the paper's model: each alone, and together what the kernel is known to do, with and without the two that change how waiting is modelled.
ALONE = ('piecewise', 'balanced', 'rewrites', 'writeback', 'small-calls')
KERNEL = ('rewrites', 'writeback', 'small-calls')
SETS = [(name,) for name in ALONE] + [KERNEL, ('piecewise',) + KERNEL, ('balanced',) + KERNEL, ('piecewise', 'balanced') + KERNEL]
EXTENSIONS = {', '.join(names): names for names in SETS}


KINDS = ('chunk', 'weighted', 'total')


def errors(predicted, measured):
    """Mean over chunks (the paper's), the same weighted with their costs, and of the total."""
    shares = [abs(p - m) / m for p, m in zip(predicted, measured) if m > 0]
    total = sum(measured)
    misses = sum(abs(p - m) for p, m in zip(predicted, measured))
    return {'chunk': statistics.fmean(shares) if shares else None, 'weighted': misses / total if total > 0 else None, 'total': abs(sum(predicted) - total) / total if total > 0 else None}


def middle(values):
    """Mean of the middle half."""
    cut = len(values) // 4
    return statistics.fmean(sorted(values)[cut:len(values) - cut])


def scatter_of(rounds, centre):
    """How far a round is from what the others say."""
    if len(rounds) < 2:
        return {key: None for key in KINDS}
    each = []
    for i, costs in enumerate(rounds):
        others = [centre(column) for column in zip(*(rounds[:i] + rounds[i + 1:]))]
        each.append(errors(costs, others))
    return {key: statistics.fmean(error[key] for error in each) for key in KINDS}


def percent(share):
    return '-' if share is None else f'{100 * share:.0f} %' if share >= 0.1 else f'{100 * share:.1f} %'


def three(error):
    return ' / '.join(percent(error[key]) for key in KINDS)


def best_extension(results):
    """The set that errs least over all page cache scenarios of all places, by single writes."""
    rows = [row for _, found in results if not isinstance(found, str) for row in found if row.get('extended')]
    return min(EXTENSIONS, key=lambda words: statistics.fmean(row['extended'][words]['chunk'] for row in rows)) if rows else None


def extended_of(row, best):
    """The error with extensions; where none means anything, the plain model's."""
    return row['extended'][best] if row['extended'] else row['cawl']


def better_by(row, error):
    return 1 - error['chunk'] / row['naive']['chunk'] if row['naive']['chunk'] else None


def aim_of(row, error):
    """Whether an error is as small as wanted, or as small as the machine's scatter lets anything be."""
    found, aim = error['chunk'], AIMS[row['mode']]
    scatter = row['scatter']['chunk'] or 0
    words = 'yes' if found <= aim else 'within the scatter' if found <= scatter else 'no'
    if row['mode'] in ('nosync', 'stdio') and words != 'no' and (better_by(row, error) or 0) < AIM_BETTER:
        words += ', but not 70 % better'
    return words


def row_of(row, best):
    if 'failed' in row:
        return f"| {row['words']} | skipped: {row['failed']} | | | | | | | | |"
    extended = extended_of(row, best)
    return (f"| {row['words']} | {1000 * row['measured_s']:.4g} | {three(row['cawl'])} | {three(extended)} | {three(row['naive'])} | "
            f"{percent(better_by(row, row['cawl']))}; {percent(better_by(row, extended))} | {three(row['scatter'])} | "
            f"{aim_of(row, row['cawl'])} | {aim_of(row, extended)} | {row['paper'][0]}; {row['paper'][1]} |")


HEAD = ('| scenario | measured, ms | CAWL | extended | naive | better by: CAWL; extended | scatter | aim reached | extended | paper: CAWL; naive |\n'
        '|---|---|---|---|---|---|---|---|---|---|')

ABOUT = """# Predicted and measured writes

Made by `make cawl-validation`; do not edit. The scenarios of Gholami and Schintke's evaluation, scaled to this machine: the total is 2.5 times the limit at
which writers wait, a chunk is 1/8 of that limit or what the device takes half a second for, and computing between chunks (played by sleeping) takes 0.4 or 0.8
of the device's time for a chunk: the proportions of the paper's second host with its 100 and 200 ms.

Errors are against medians over the rounds (64 KiB in 512 B: against means of the middle half of 5 repetitions a round, because the steps of the clock are a
third of such a cost): the mean of the relative errors of all writes (the paper's figure) / the same weighted with their costs / of the
total. Better by: of the first. Scatter: the error that a round has as a prediction of the median of the others; a model cannot be judged finer than that. The
aim: a mean error of at most 15 % for direct and sync, 20 % for nosync and stdio, and for these 70 % less than naive. The paper prints figures of its two hosts
for some scenarios only.

CAWL is the paper's model as it stands; extended adds the set of extensions that errs least over all places, and stands beside it. Synchronous writes know of
`writeback` only, direct ones of none.
"""


def extension_lines(rows):
    """Means over a place's page cache scenarios."""
    rows = [row for row in rows if row.get('extended') and row['mode'] in ('nosync', 'stdio')]
    if not rows:
        return []
    models = [('the paper\'s', [row['cawl'] for row in rows])] + [(words, [row['extended'][words] for row in rows]) for words in EXTENSIONS]
    return ['', '| CAWL, means over the nosync and stdio rows | errors |', '|---|---|'] + [
        f"| {words} | {three({key: statistics.fmean(error[key] for error in found) for key in KINDS})} |" for words, found in models]


def summary_of(rows, words, error_of):
    found = [(place, row, aim_of(row, error_of(row))) for place, row in rows]
    counts = {aim: sum(one == aim for _, _, one in found) for aim in ('yes', 'within the scatter')}
    near = [f"{place.name}: {row['words']}" for place, row, aim in found if aim.endswith('better')]
    missed = [f"{place.name}: {row['words']}" for place, row, aim in found if aim == 'no']
    return (f"{words}: of {len(rows)} rows {counts['yes']} reach the aim, and {counts['within the scatter']} err no more than the machine scatters."
            + (f" So good, but not 70 % better than naive: {'; '.join(near)}." if near else '')
            + (f" Not reached: {'; '.join(missed)}." if missed else ''))


def summary(results, best):
    """How many rows are as good as wanted, and which are not."""
    rows = [(place, row) for place, found in results if not isinstance(found, str) for row in found if 'failed' not in row]
    return [summary_of(rows, 'The paper\'s model', lambda row: row['cawl'])] + (
        ['', summary_of(rows, f'With extensions ({best})', lambda row: extended_of(row, best))] if best else [])


def naive_words(place):
    """Where naive cannot be far off."""
    share = place.parameters['bw_dev'] / place.parameters['bw_ramdisk']
    return [f'The device writes {100 * share:.0f} % as fast as the page cache takes bytes: naive is near the truth here without knowing of a page cache.',
            ''] if place.has_device and share > 0.5 else []


def markdown(results, options):
    best = best_extension(results)
    lines = [ABOUT, f'{options.system_words}, rounds: {options.rounds} (slow: {options.slow_rounds})'
             f"{', interrupted' if options.interrupted else ''}. Limits of dirty memory: "
             f"{options.limits_words}. Calibrated with --max-write 32g, which is more rounds than the standard 8 GiB allow.", ''] + summary(results, best)
    for place, rows in results:
        lines += ['', f'## {place.words}', '']
        if isinstance(rows, str):
            lines.append(f'Skipped: {rows}.')
            continue
        known = [f'{key} {place.parameters[key]:.4g}' for key in
                 ('bw_mem', 'bw_ramdisk', 'bw_reduced', 'bw_rewrite', 'bw_dev', 'bw_writeback', 'bw_rdev', 'bw_page', 'bw_buffer', 'sc_w', 'sc_sw', 'sc_f',
                  'c_sk') if key in place.parameters]
        lines += ['Calibrated: ' + ', '.join(known) + ' (bytes/s and seconds).', ''] + naive_words(place) + [HEAD] + [row_of(row, best) for row in rows]
        lines += extension_lines(rows) + picture_lines(options, place)
    return '\n'.join(lines) + '\n'


PICTURES = ('xfs-nosync-0', 'xfs-rewrite-75-0', 'here-nosync-0', 'slow-nosync-0', 'slow-nosync-80', 'here-stdio-512')


def picture_lines(options, place):
    if not options.pictures or not options.markdown:
        return []
    folder = os.path.relpath(options.pictures, os.path.dirname(options.markdown) or '.')
    names = [f'cawl-{name}.svg' for name in PICTURES if name.startswith(place.name + '-')]
    return [line for name in names if os.path.exists(os.path.join(options.pictures, name))
            for line in ('', f'![{name[5:-4]}: costs of the writes and dirty memory, measured and predicted]({folder}/{name})')]
