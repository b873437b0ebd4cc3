"""Lets several searches look for settings of one program at the same time, and measures for them.

They go in step: when all have named their next setting, these are measured one after another in random order, and only then is any of them told. So a
drift of the machine meets all alike, and nobody thinks while there is a measurement."""
import contextlib
import dataclasses
import json
import math
import os
import signal
import socket
import subprocess
import tempfile
import time

import runs
from programs_problems import Failure

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, 'peers')
APIS = ('psync', 'pvec', 'pool', 'libaio', 'io_uring')
ONE_RUN_EACH = 'one-run-each'
# A search that has not named a setting after so long will not do so.
THINK_SECONDS = 120
# Who is told a run more than the last mark has its budget behind it.
RUN_COST = 1


@dataclasses.dataclass(frozen=True)
class Search:
    """One method with one seed; it says what it would pick after each of `marks` runs."""
    method: str
    marks: tuple
    seed: int

    def command(self, server, listener, name):
        is_library = self.method == runs.LIBRARY
        peer = 'random' if self.method == ONE_RUN_EACH else self.method
        program = [os.path.join(PEERS, 'claiming')] if is_library else [os.path.join(PEERS, 'peer'), peer]
        return [*program, '--server', server, '--surface', listener, '--pattern', name, '--seed', str(self.seed), '--seconds', str(self.marks[-1]),
                '--marks', ','.join(map(str, self.marks)), '--run-seconds', str(RUN_COST)]


def searches_of(methods, budgets, n_settings, seed):
    """libfstune is told its budget, so it searches anew for each; the others' picks at a smaller budget are what they would have been with it alone."""
    found = []
    for method in methods:
        if method == ONE_RUN_EACH:
            found.append(Search(method, (n_settings,), seed))
        elif method == runs.LIBRARY:
            found += [Search(method, (budget,), seed) for budget in budgets]
        else:
            found.append(Search(method, tuple(budgets), seed))
    return found


class Session:
    """A running search: its process and, once it has connected, the two-way stream to its relay."""

    def __init__(self, search, command):
        self.search, self.n_told, self.stream = search, 0, None
        self.out, self.errors = tempfile.TemporaryFile('w+'), tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.errors, start_new_session=True)

    def failure(self, what):
        self.errors.seek(0)
        return Failure(f'{self.search.method}: {what}: {(self.errors.read().strip().splitlines() or ["it said nothing"])[-1]}')

    def begin(self, stream, points):
        self.stream = stream
        stream.write(f'space {len(points)}\n')
        stream.writelines(f'{i} {size} {depth} {direct} {APIS[api]} {threads}\n' for i, (size, depth, direct, api, threads) in enumerate(points))
        stream.flush()

    def next_index(self):
        """The setting that it wants measured; None: it wants no more."""
        line = ''
        try:
            with contextlib.suppress(ConnectionResetError):
                line = self.stream.readline()
            # What it does at its end is not to disturb the next run.
            if not line:
                self.process.wait(THINK_SECONDS)
            return int(line.split()[0]) if line else None
        except (TimeoutError, subprocess.TimeoutExpired) as late:
            raise self.failure(f'no setting after {THINK_SECONDS} s') from late

    def is_spent(self):
        return self.n_told >= self.search.marks[-1]

    def tell(self, value):
        self.n_told += 1
        # Where it has died, it is the end of its stream that tells.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.stream.write(f'{value:.9g} {self.n_told}\n')
            self.stream.flush()

    def picks(self):
        """What it printed, one for each mark, the claim with the pick that it belongs to."""
        if self.process.returncode != 0:
            raise self.failure(f'exit {self.process.returncode}')
        self.out.seek(0)
        lines = [json.loads(line) for line in self.out.read().splitlines()]
        claims = [line for line in lines if 'shortfall' in line]
        picks = [{'method': self.search.method, 'seed': self.search.seed, 'budget': line['seconds'], 'index': line['index'], 'claimed': line['claimed_bps']}
                 for line in lines if 'seconds' in line]
        if [pick['budget'] for pick in picks] != list(self.search.marks) or None in (pick['index'] for pick in picks):
            raise self.failure(f'picks at {[pick["budget"] for pick in picks]} runs instead of {list(self.search.marks)}')
        for claim in claims:
            picks[-1] |= {'shortfall': claim['shortfall'], 'conclusive': claim['conclusive'], 'runs_used': claim['trials']}
        return picks

    def stop(self):
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for stream in (self.stream, self.out, self.errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class Block:
    """Searches side by side on one problem. The context ends all of them."""

    def __init__(self, problem, searches, server):
        self.problem, self.searches, self.server, self.sessions = problem, searches, server, []

    def __enter__(self):
        self.points = list(self.problem.points())
        self.listener = socket.socket(socket.AF_UNIX)
        return self

    def __exit__(self, *_):
        for session in self.sessions:
            session.stop()
        self.listener.close()

    def start(self):
        # An abstract name leaves no file behind.
        path = f'fstune-programs-{os.getpid()}'
        self.listener.bind('\0' + path)
        self.listener.listen(len(self.searches))
        self.listener.settimeout(1)
        for name, search in enumerate(self.searches):
            self.sessions.append(Session(search, search.command(self.server, path, str(name))))
        start, n = time.monotonic(), 0
        while n < len(self.sessions):
            n += self.accept()
            late = time.monotonic() - start > THINK_SECONDS
            for session in self.sessions:
                if session.stream is None and (late or session.process.poll() is not None):
                    raise session.failure('it ended at once' if session.process.poll() is not None else f'not ready after {THINK_SECONDS} s')

    def accept(self):
        """Whether one more session is there within a second."""
        try:
            connection, _ = self.listener.accept()
        except TimeoutError:
            return False
        connection.settimeout(THINK_SECONDS)
        stream = connection.makefile('rw', encoding='ascii')
        connection.close()  # the stream holds it
        self.sessions[int(stream.readline())].begin(stream, self.points)
        return True

    def round(self, going, chance):
        """One run for each of those that go on, which are returned."""
        wanted = [(session, index) for session in going if (index := session.next_index()) is not None]
        values = {}
        for session, index in chance.sample(wanted, len(wanted)):
            # What comes after the budget only shows the search that it is over.
            values[session] = 1.0 if session.is_spent() else self.problem.measure(self.problem.settings[index], chance)
        for session, _ in wanted:
            session.tell(values[session])
        return [session for session, _ in wanted]

    def play(self, chance, note):
        """All picks."""
        self.start()
        going, n = self.sessions, 0
        while going:
            going, n = self.round(going, chance), n + 1
            note(n)
        return [pick for session in self.sessions for pick in session.picks()]


class Truth:
    """Every setting measured again and again: in each pass all of them, in random order."""

    def __init__(self, problem):
        self.problem, self.passes = problem, []

    def add_pass(self, chance):
        rates = {index: self.problem.measure(self.problem.settings[index], chance)
                 for index in chance.sample(range(len(self.problem.settings)), len(self.problem.settings))}
        self.passes.append([math.log(rates[index]) for index in range(len(self.problem.settings))])
