"""The cells of the comparison: one row each, one thing changed at a time.

A cell is a list of surfaces that its seeds take in turn (seed modulo their number) and one kind of noise. The cells of the group
`recorded` have a single surface, so that each pattern gets all seeds; the other groups rotate to bound the cost."""
import dataclasses
import glob
import os

import surfaces

MARKS = (5, 10, 20, 40, 60)
LONG_MARKS = (10, 20, 60, 120)
# Set-up of a run as measured when the tables were recorded (tests/study/record_surface prints it), and what runs cost on made-up surfaces.
RECORDED_NOISE = {'run_cv': 0.2, 'setup_seconds': 0.005}
MADE_NOISE = {'run_cv': 0.2, 'setup_seconds': 0.1}
N_VARIANTS = 5
FAMILY_PATTERN = 'randwrite'


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str      # GROUP/NAME
    title: str
    sources: tuple  # of (surface, variant, pattern); the variant of a recorded surface is None
    noise: dict
    trace: tuple = ()
    marks: tuple = MARKS
    # Never more seeds than this: one step of a search in a large space costs seconds.
    most_seeds: int = 1000
    # A claim has a truth to be held against only where the world stands still.
    stationary: bool = True

    @property
    def group(self):
        return self.name.split('/')[0]

    def source_of(self, seed):
        return self.sources[seed % len(self.sources)]


# name, title, keys of noise that differ from the base, then further fields of the cell
NOISES = (
    ('set-up', 'each run costs 0.1 s before it begins', {'setup_seconds': 0.1}, {}),
    ('cv-0', 'no noise', {'run_cv': 0.0}, {}),
    ('cv-0.05', 'run_cv 0.05', {'run_cv': 0.05}, {}),
    ('cv-0.5', 'run_cv 0.5', {'run_cv': 0.5}, {}),
    ('slow-noise', 'run_cv 0.2 with run_cv_seconds 1', {'run_cv_seconds': 1.0}, {}),
    ('outliers', '5 % of the runs three times slower', {'outlier_probability': 0.05, 'outlier_factor': 3.0}, {}),
    ('two-level', '30 % of the points with two levels: 40 % of their runs three times slower',
     {'level_share': 0.3, 'level_probability': 0.4, 'level_factor': 3.0}, {}),
    ('drift', 'everything 10 % of its first rate slower every 20 s', {'drift_per_hour': -18.0}, {'stationary': False}),
    ('step', 'everything at 0.6 from 8 s on', {}, {'stationary': False, 'trace': ((0, 1.0), (8, 0.6))}),
    ('warm-up', 'each run starts three times faster, settling within 0.1 s', {'warmup_seconds': 0.1, 'warmup_factor': 3.0}, {}),
)

SHAPES = (
    ('smooth', 'one smooth peak'),
    ('ridge', 'a ridge along request_size x queue_depth = constant'),
    ('two-modes', 'two far modes, the higher one narrow'),
    ('plateau', 'a plateau of equals'),
    ('cliff', 'rising until a limit in flight, a third beyond'),
    ('crossing', 'buffered and direct cross'),
    ('needle', 'one point 1.6 times faster, unannounced'),
    ('flat', 'all points equal'),
)

# surface, title, marks, most seeds
SIZES = (
    ('space-100', '100 points', LONG_MARKS, 100),
    ('space-2000', '2,000 points, threads vary', (20, 60, 120), 20),
    ('space-20000', '20,000 points, finer sizes, threads vary', (20, 60, 120), 20),
)


def all_cells(conf_folder):
    """Every cell, in the order of the report. conf_folder holds recorded-*.csv."""
    names = [os.path.basename(path)[len('recorded-'):-len('.csv')] for path in sorted(glob.glob(os.path.join(conf_folder, 'recorded-*.csv')))]
    recorded = tuple((f'recorded-{name}', None, pattern) for name in names for pattern in surfaces.recorded_patterns(conf_folder, name))
    cells = [Cell(f'recorded/{surface[len("recorded-"):]}-{pattern}', f'{surface}, {pattern}', ((surface, None, pattern),), RECORDED_NOISE)
             for surface, _, pattern in recorded]
    cells += [Cell(f'noise/{name}', title, recorded, RECORDED_NOISE | noise, **more) for name, title, noise, more in NOISES]
    variants = range(N_VARIANTS)
    cells += [Cell(f'shapes/{name}', title, tuple((name, variant, FAMILY_PATTERN) for variant in variants), MADE_NOISE)
              for name, title in SHAPES]
    cells += [Cell(f'spaces/{name[len("space-"):]}-cv-{cv:g}', f'{title}, run_cv {cv:g}', tuple((name, variant, FAMILY_PATTERN) for variant in variants),
                   MADE_NOISE | {'run_cv': cv}, marks=marks, most_seeds=most)
              for name, title, marks, most in SIZES for cv in (0.05, 0.2)]
    return cells


def write_surface(cell, seed, conf_folder, folder):
    """The surface of one seed: (conf, hash of its content, pattern)."""
    surface, variant, pattern = cell.source_of(seed)
    recorded = variant is None
    name = f'{cell.name.replace("/", "-")}-{surface}-{pattern if recorded else variant}'
    table = surfaces.recorded_table(conf_folder, surface[len('recorded-'):], pattern) if recorded else surfaces.made_table(surface, variant, pattern)
    return *surfaces.write(folder, name, table, cell.noise, cell.trace), pattern
