"""Plans the runs of a comparison, plays them side by side and keeps the results."""
import collections
import concurrent.futures
import dataclasses
import fnmatch
import functools
import hashlib
import json
import os
import subprocess
import sys
import threading
import time

import cells
import runs

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = os.path.join(HERE, 'peers', 'peer')

# What a peer consists of, besides what all of them share.
SHARED_SOURCES = ('peer', 'trials.py', 'box.py')
OWN_SOURCES = {'gp-ei': 'gaussian_process.py', 'dlib': 'dlib.cpp', 'random': 'structure_free.py', 'grid': 'structure_free.py', 'ttts': 'structure_free.py',
               'libfstune': 'library.py', 'random-forest': 'forest.py', 'oracle': 'oracle structure_free.py'}
OTHER_SOURCES = 'optimisers.py'
PROBES, PROBE_SEED = 12, '1'


@functools.cache
def answers_hash(server, conf, pattern):
    """Of what the trial server says of the space and of a few trials. Peers see nothing else of fstune: a change of its sources that
    leaves these answers as they are leaves the peers' results as they are."""
    code, truth, errors, _ = runs.run([server, '--truth', conf, pattern])
    n_points = len(truth.splitlines())
    if code != 0 or n_points == 0:
        raise runs.Failure(f'{server} {conf}: exit {code}: {errors}')
    trials = ''.join(f'{i * (n_points - 1) // (PROBES - 1)} {runs.RUN_SECONDS}\n' for i in range(PROBES))
    answers = subprocess.run([server, conf, pattern, PROBE_SEED], input=trials, capture_output=True, text=True, check=True).stdout
    return hashlib.sha256((truth + answers).encode()).hexdigest()[:24]


@dataclasses.dataclass(frozen=True)
class Tools:
    fstune: str
    server: str
    peer: str
    surfaces: str  # folder of recorded-*.csv
    work: str      # where generated surfaces go

    def source_hash(self, method):
        """The method's own part of what a cached result depends on: the program of fstune, the sources of a peer."""
        if runs.is_fstune(method):
            return runs.hash_of([self.fstune])
        folder = os.path.dirname(self.peer)
        own = OWN_SOURCES.get(runs.peer_of(method)[0], OTHER_SOURCES).split()
        return runs.hash_of(os.path.join(folder, name) for name in (*SHARED_SOURCES, *own))

    def world_hash(self, method, conf, pattern):
        """fstune's part of what a cached result of a peer depends on."""
        if runs.is_fstune(method):
            return '-'
        library = runs.hash_of([os.path.join(os.path.dirname(self.fstune), 'libfstune.so.0')]) if method == runs.LIBRARY else ''
        return answers_hash(self.server, conf, pattern) + library


@dataclasses.dataclass(frozen=True)
class Job:
    cell: cells.Cell
    method: str
    seed: int
    key: str
    conf: str
    digest: str
    pattern: str


# So many failures mean that something is broken, and the rest would be a waste.
MOST_FAILURES = 20


class Store:
    """Results by key, one JSON line each. Lines that a kill cut short are left out."""

    def __init__(self, path):
        self.path, self.lock, self.by_key = path, threading.Lock(), {}
        if os.path.exists(path):
            with open(path, 'a+', encoding='utf-8') as lines:
                lines.seek(0)
                text = lines.read()
                if text and not text.endswith('\n'):
                    lines.write('\n')
                for line in text.splitlines():
                    try:
                        result = json.loads(line)
                        self.by_key[result['key']] = result
                    except (ValueError, KeyError):
                        continue

    def add(self, result):
        with self.lock, open(self.path, 'a', encoding='utf-8') as lines:
            lines.write(json.dumps(result) + '\n')
            self.by_key[result['key']] = result


def plan(options, tools):
    """All jobs, seed by seed, so that what an interrupt leaves is balanced."""
    hashes = {method: tools.source_hash(method) for method in options.methods}
    jobs, marks_of, surface_of = [], {}, {}
    chosen = [cell for cell in cells.all_cells(tools.surfaces) if any(fnmatch.fnmatch(cell.name, glob_) for glob_ in options.cells)]
    if options.marks:
        chosen = [dataclasses.replace(cell, marks=options.marks) for cell in chosen]
    for i in range(max(options.seeds.values())):
        seed = options.first_seed + i
        for cell in chosen:
            source = cell.name, cell.source_of(seed)
            if i < cell.most_seeds and source not in surface_of:
                surface_of[source] = cells.write_surface(cell, seed, tools.surfaces, os.path.join(tools.work, 'surfaces'))
            for method in options.methods:
                if i >= min(options.seeds[method], cell.most_seeds) or (method in runs.ONLY_RECORDED and cell.group != 'recorded'):
                    continue
                conf, digest, pattern = surface_of[source]
                world = tools.world_hash(method, conf, pattern)
                key = f'{digest} {hashes[method]} {world} {pattern} {method} {seed} {",".join(map(str, cell.marks))} {runs.peer_of(method)[1]}'
                jobs.append(Job(cell, method, seed, key, conf, digest, pattern))
    return chosen, jobs


class Progress:
    """A line on stderr now and then; the estimate comes from what each method has taken in each cell so far."""

    def __init__(self, jobs, store, n_workers):
        self.left = collections.Counter((job.method, job.cell.name) for job in jobs)
        self.n_all, self.n_done, self.n_workers = len(jobs), 0, n_workers
        self.took = collections.defaultdict(list)
        for result in store.by_key.values():
            self.took[result['method'], result['cell']].append(result['wall'])
        self.lock, self.shown = threading.Lock(), time.monotonic()

    def note(self, job, wall):
        with self.lock:
            self.n_done += 1
            self.left[job.method, job.cell.name] -= 1
            self.took[job.method, job.cell.name].append(wall)
            if time.monotonic() - self.shown >= (5 if sys.stderr.isatty() else 60) or self.n_done == self.n_all:
                self.shown = time.monotonic()
                print(f'compare: {self.n_done} of {self.n_all} runs, about {self.estimate() / 60:.0f} min left', file=sys.stderr, flush=True)

    def estimate(self):
        means = {what: sum(walls) / len(walls) for what, walls in self.took.items()}
        typical = sum(means.values()) / max(1, len(means))
        return sum(n * means.get(what, typical) for what, n in self.left.items()) / self.n_workers


class Player:
    def __init__(self, tools, store):
        self.tools, self.store, self.surfaces, self.lock = tools, store, {}, threading.Lock()

    def surface(self, job):
        with self.lock:
            name = job.digest, job.pattern
            if name not in self.surfaces:
                self.surfaces[name] = runs.Surface(self.tools.server, job.conf, job.digest, job.pattern)
            return self.surfaces[name]

    def play(self, job):
        result = runs.play(self.tools, self.surface(job), job.method, job.seed, job.cell.marks)
        return {'key': job.key, 'cell': job.cell.name, 'method': job.method, 'seed': job.seed} | result


def play_all(jobs, player, progress, n_workers):
    """Texts of failures; MOST_FAILURES end it. Ctrl-C keeps what is done and ends after the runs under way."""
    failures, pool = [], concurrent.futures.ThreadPoolExecutor(n_workers)
    futures = {pool.submit(player.play, job): job for job in jobs}
    try:
        for future in concurrent.futures.as_completed(futures):
            job = futures[future]
            try:
                result = future.result()
            except (runs.Failure, ValueError, KeyError, OSError) as failure:
                failures.append(f'{job.cell.name} {job.method} seed {job.seed}: {type(failure).__name__}: {" ".join(str(failure).split())}')
                print(f'compare: {failures[-1]}', file=sys.stderr, flush=True)
                progress.note(job, 0.0)
                if len(failures) == MOST_FAILURES:
                    break
                continue
            player.store.add(result)
            progress.note(job, result['wall'])
    except KeyboardInterrupt:
        failures.append('interrupted')
    finally:
        pool.shutdown(cancel_futures=True)
    return failures
