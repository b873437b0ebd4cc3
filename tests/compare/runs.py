"""Runs one method on one surface and says what it picked at every mark."""
import hashlib
import json
import os
import subprocess
import tempfile
import time

# Peers do runs of this length; each costs the surface's set-up time on top. fstune chooses its own. The noise is that from run to run, whatever
# their length, so short runs are a favour: whoever drives fio makes runs of a second. PEER-1s is the peer with these.
RUN_SECONDS, USUAL_RUN_SECONDS, USUAL = 0.1, 1.0, '-1s'

# method -> seeds of the stored table. fstune-NAME is `fstune recommend --method NAME`. The slow ones get fewer.
METHODS = {
    'fstune': 100, 'fstune-gp': 50, 'fstune-quadratic': 50, 'fstune-random': 50,
    'tpe': 20, 'cmaes': 30, 'gp-ei': 20, 'nlopt-direct': 50, 'nlopt-bobyqa': 50, 'nlopt-cobyla': 50, 'dlib': 50,
    'random': 100, 'grid': 100, 'ttts': 100,
    'tpe-1s': 100, 'cmaes-1s': 100, 'gp-ei-1s': 100, 'nlopt-direct-1s': 100, 'nlopt-bobyqa-1s': 100, 'nlopt-cobyla-1s': 100, 'dlib-1s': 100,
    'random-1s': 100, 'grid-1s': 100, 'ttts-1s': 100,
    'libfstune': 50, 'random-forest': 20, 'one-plus-one': 50,
    'oracle': 100,
}
# Python modules that a method needs of Debian's python3.
NEEDS = {'tpe': ('optuna',), 'cmaes': ('optuna', 'cmaes'), 'gp-ei': ('sklearn',), 'nlopt-direct': ('nlopt',), 'nlopt-bobyqa': ('nlopt',),
         'nlopt-cobyla': ('nlopt',), 'random-forest': ('sklearn', 'scipy'), 'libfstune': ('numpy',)}
NEEDS |= {method + USUAL: modules for method, modules in NEEDS.items()}
# What shows fstune's own parts, and what shows the length of runs, is tried on the recorded surfaces alone.
# No peer, as it is told what others have to find: how far off the end of all searching is.
ORACLE = 'oracle'
# fstune's engine through its library, which gets the trials of a peer.
LIBRARY = 'libfstune'
ONLY_RECORDED = (ORACLE, LIBRARY, 'random-forest', 'one-plus-one', 'fstune-gp', 'fstune-quadratic', 'fstune-random', *(method for method in METHODS if method.endswith(USUAL)))


class Failure(Exception):
    """A method or a surface did something that is no result."""


def is_fstune(method):
    return method.split('-')[0] == 'fstune'


def is_peer(method):
    return not is_fstune(method) and method not in (ORACLE, LIBRARY)


def peer_of(method):
    """(peer, seconds of its runs)"""
    return (method[:-len(USUAL)], USUAL_RUN_SECONDS) if method.endswith(USUAL) else (method, RUN_SECONDS)


def hash_of(paths):
    digest = hashlib.sha256()
    for path in paths:
        with open(path, 'rb') as file:
            digest.update(os.path.basename(path).encode() + b'\0' + file.read() + b'\0')
    return digest.hexdigest()[:24]


def run(command):
    """(exit code, stdout, stderr, CPU seconds of the command and all that it waited for)."""
    with tempfile.TemporaryFile('w+') as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True) as child:
            out = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return child.returncode, out, errors.read().strip(), usage.ru_utime + usage.ru_stime


class Surface:
    """A surface and its truth as the trial server tells it."""

    def __init__(self, server, conf, digest, pattern):
        self.conf, self.digest, self.pattern = conf, digest, pattern
        code, out, errors, _ = run([server, '--truth', conf, pattern])
        if code != 0:
            raise Failure(f'{server} {conf}: exit {code}: {errors}')
        self.truth, self.index_of = [], {}
        for line in out.splitlines():
            fields = line.split()
            if len(fields) != 7:
                continue
            size, depth, direct, api, threads = fields[1:6]
            self.index_of[int(size), int(depth), int(direct), api, int(threads)] = len(self.truth)
            if int(fields[0]) != len(self.truth):
                raise Failure(f'{server} {conf}: index {fields[0]} where {len(self.truth)} was due')
            self.truth.append(float(fields[6]))
        if not self.truth:
            raise Failure(f'{server} {conf}: no truth')
        self.best = max(self.truth)


def check_picks(surface, marks, picks):
    """Raises Failure unless there is one legal pick per mark. An index of None is an honest refusal."""
    if [pick['seconds'] for pick in picks] != list(marks):
        raise Failure(f'{surface.conf}: answers at {[pick["seconds"] for pick in picks]}, not at {list(marks)}')
    for pick in picks:
        if pick['index'] is not None and not 0 <= pick['index'] < len(surface.truth):
            raise Failure(f'{surface.conf}: index {pick["index"]} of a space of {len(surface.truth)} points')


def fstune_pick(program, surface, method, seed, mark):
    command = [program, 'recommend', '--simulate', surface.conf, '--pattern', surface.pattern, '--budget', f'{mark}s',
               '--method', method, '--seed', str(seed), '--json', '--quiet']
    code, out, errors, cpu = run(command)
    if code not in (0, 3, 5):
        raise Failure(f'{" ".join(command)}: exit {code}: {errors}')
    answer = json.loads(out)
    pick = {'seconds': mark, 'index': None, 'trials': answer['search']['runs'], 'took_seconds': answer['search']['seconds']}
    if code == 5:
        return pick, cpu
    point, rate = answer['recommendation'], answer['throughput']
    key = (point['request_size'], point['queue_depth'], point['direct'], point['api'], point['threads'])
    if key not in surface.index_of:
        raise Failure(f'{" ".join(command)}: recommends {key}, which the surface does not have')
    return pick | {'index': surface.index_of[key], 'claimed_bps': rate['mean'], 'ci': [rate['ci_low'], rate['ci_high']],
                   'probability': answer['probability_within_tolerance'], 'conclusive': answer['conclusive']}, cpu


def peer_picks(tools, surface, method, seed, marks):
    peer, run_seconds = peer_of(method)
    program = [os.path.join(os.path.dirname(tools.peer), ORACLE)] if method == ORACLE else [tools.peer, peer]
    command = [*program, '--server', tools.server, '--surface', surface.conf, '--pattern', surface.pattern,
               '--seed', str(seed), '--seconds', str(marks[-1]), '--marks', ','.join(map(str, marks)), '--run-seconds', str(run_seconds)]
    code, out, errors, cpu = run(command)
    if code != 0:
        raise Failure(f'{" ".join(command)}: exit {code}: {errors[-400:]}')
    return [json.loads(line) for line in out.splitlines() if line.startswith('{')], cpu


def play(tools, surface, method, seed, marks):
    """One result: what the method picked at each mark, and the CPU and wall seconds that it took."""
    start = time.monotonic()
    if is_fstune(method):
        name = method.partition('-')[2] or 'auto'
        pairs = [fstune_pick(tools.fstune, surface, name, seed, mark) for mark in marks]
        picks, cpu = [pick for pick, _ in pairs], sum(cpu for _, cpu in pairs)
    else:
        picks, cpu = peer_picks(tools, surface, method, seed, marks)
    check_picks(surface, marks, picks)
    for pick in picks:
        pick['ratio'] = 0.0 if pick['index'] is None else surface.truth[pick['index']] / surface.best
        pick['truth_bps'] = None if pick['index'] is None else surface.truth[pick['index']]
    return {'picks': picks, 'cpu': cpu, 'wall': time.monotonic() - start}
