"""The programs whose settings tests/compare/programs looks for: what can be set, and one live run of a setting."""
import concurrent.futures
import contextlib
import ctypes
import dataclasses
import hashlib
import itertools
import os
import random
import shutil
import subprocess
import time

# The columns that the trial server's protocol has for a point; peers hold direct and api for categories, whose levels have no order.
COLUMNS = ('size', 'depth', 'direct', 'api', 'threads')
# Few enough to measure all of them in a second: two levels of the first factors, one of the others.
SMOKE_FACTORS = 3


class Failure(Exception):
    """Something that the user should know and that ends the comparison."""


@dataclasses.dataclass(frozen=True)
class Factor:
    column: str
    name: str
    levels: tuple

    def thinned(self, keeps_both_ends):
        return dataclasses.replace(self, levels=(self.levels[0], self.levels[-1]) if keeps_both_ends else self.levels[:1])


class Problem:
    """name, title, unit, factors: what it is called, what is measured, in what, and what can be set.

    missing(): why it cannot be measured here, or None. prepare(folder, kept): whatever is made once; what lies in folder may go when all is over,
    what lies in kept serves the next time. measure(setting, chance): one run; the higher the better, above 0."""
    factors = ()

    def __init__(self, is_smoke):
        if is_smoke:
            self.factors = tuple(factor.thinned(i < SMOKE_FACTORS) for i, factor in enumerate(self.factors))
        self.settings = list(itertools.product(*(factor.levels for factor in self.factors)))

    def points(self):
        """A setting in the words of the protocol, for every one of them: level numbers, in the order of COLUMNS."""
        places = {factor.column: i for i, factor in enumerate(self.factors)}
        for levels in itertools.product(*(range(len(factor.levels)) for factor in self.factors)):
            yield tuple(levels[places[column]] if column in places else 0 for column in COLUMNS)

    def text(self, setting):
        return ', '.join(f'{factor.name} {value}'.strip() for factor, value in zip(self.factors, setting) if value != '')


class Sqlite(Problem):
    name, unit = 'sqlite', 'transactions/s'
    title = 'SQLite, transactions a second of 2 inserts and 20 look-ups each on a database of some 2 MiB in the page cache, `synchronous=OFF`'
    factors = (Factor('size', 'page_size', tuple(512 << i for i in range(8))), Factor('depth', 'cache_size KiB', (64, 256, 1024, 4096, 16384)),
               Factor('threads', 'mmap_size KiB', (0, 256, 1024, 65536)))
    n_rows, n_inserts, n_look_ups = 20000, 2, 20

    def __init__(self, is_smoke, seconds):
        super().__init__(is_smoke)
        self.seconds = seconds

    def missing(self):
        try:
            import sqlite3
        except ImportError:
            return 'python3 has no sqlite3'
        self.sqlite3 = sqlite3
        return None

    def open(self, path, words):
        base = self.sqlite3.connect(path, isolation_level=None)
        for word in words + ['synchronous=OFF']:
            base.execute(f'PRAGMA {word}')
        return base

    @contextlib.contextmanager
    def told(self):
        try:
            yield
        except (OSError, self.sqlite3.Error) as failure:
            raise Failure(f'{self.folder}: {failure}; see whether there is room') from failure

    def prepare(self, folder, _kept):
        """A database for each page size, whose copies the runs work on. Its keys are even, those inserted odd."""
        self.folder = folder
        with self.told():
            for page_size in self.factors[0].levels:
                self.make(os.path.join(folder, str(page_size)), page_size, random.Random(1))

    def make(self, path, page_size, chance):
        base = self.open(path, [f'page_size={page_size}'])
        base.execute('CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)')
        base.execute('BEGIN')
        base.executemany('INSERT INTO t VALUES (?, ?)', ((2 * k, chance.randbytes(100)) for k in range(self.n_rows)))
        base.execute('COMMIT')
        base.close()

    def transact(self, base, chance):
        base.execute('BEGIN')
        for _ in range(self.n_inserts):
            base.execute('INSERT OR REPLACE INTO t VALUES (?, ?)', (2 * chance.randrange(self.n_rows) + 1, b'x' * 100))
        for _ in range(self.n_look_ups):
            base.execute('SELECT v FROM t WHERE k = ?', (2 * chance.randrange(self.n_rows),)).fetchone()
        base.execute('COMMIT')

    def measure(self, setting, chance):
        page_size, cache, mapped = setting
        path, n, seconds = os.path.join(self.folder, 'run'), 0, 0.0
        with self.told():
            # A new file each time: some file systems write one out at once that is cut short and filled again.
            shutil.copyfile(os.path.join(self.folder, str(page_size)), path)
            base = self.open(path, [f'cache_size=-{cache}', f'mmap_size={mapped << 10}'])
            start = time.monotonic()
            while seconds < self.seconds:
                self.transact(base, chance)
                n, seconds = n + 1, time.monotonic() - start
            base.close()
            os.unlink(path)
        return n / seconds


class Zstd(Problem):
    name, unit = 'zstd', 'MB/s'
    title = 'zstd, megabytes a second of compressing 1.5 MB of text (measured) and sending the result at 30 MB/s (calculated)'
    factors = (Factor('size', 'level', tuple(range(1, 13))), Factor('depth', 'window_log', (15, 17, 19, 21)), Factor('threads', 'threads', (1, 2)))
    library, n_bytes, link_bps = 'libzstd.so.1', 1500000, 30e6
    level_code, window_code, workers_code = 100, 101, 400

    def missing(self):
        try:
            zstd = ctypes.CDLL(self.library)
        except OSError:
            return f'{self.library} is not there: install libzstd1'
        zstd.ZSTD_createCCtx.restype = ctypes.c_void_p
        zstd.ZSTD_freeCCtx.argtypes = [ctypes.c_void_p]
        zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]
        zstd.ZSTD_CCtx_setParameter.restype = zstd.ZSTD_compress2.restype = ctypes.c_size_t
        zstd.ZSTD_CCtx_setParameter.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
        zstd.ZSTD_compress2.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
        context = zstd.ZSTD_createCCtx()
        refuses = zstd.ZSTD_isError(zstd.ZSTD_CCtx_setParameter(context, self.workers_code, 2))
        zstd.ZSTD_freeCCtx(context)
        self.zstd = zstd
        return f'{self.library} was built without threads' if refuses else None

    def prepare(self, _folder, _kept):
        """Lines of words with the frequencies of a language; some come again later, so that a window has something to see."""
        chance, lines, n = random.Random(1), [], 0
        words = [''.join(chance.choices('etaoinshrdlu', k=chance.randint(3, 9))) for _ in range(3000)]
        sums = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
        while n < self.n_bytes:
            again = lines and chance.random() < 0.15
            lines.append(chance.choice(lines) if again else ' '.join(chance.choices(words, cum_weights=sums, k=12)) + f' {chance.randrange(10**6)}\n')
            n += len(lines[-1])
        self.data = ''.join(lines).encode()[:self.n_bytes]
        self.packed = ctypes.create_string_buffer(2 * self.n_bytes)

    def checked(self, code):
        if self.zstd.ZSTD_isError(code):
            raise Failure(f'{self.library} refuses a setting: it is too old or of another kind')
        return code

    def measure(self, setting, _chance):
        level, window, threads = setting
        start = time.monotonic()
        context = self.zstd.ZSTD_createCCtx()
        for code, value in ((self.level_code, level), (self.window_code, window), (self.workers_code, 0 if threads == 1 else threads)):
            self.checked(self.zstd.ZSTD_CCtx_setParameter(context, code, value))
        n = self.checked(self.zstd.ZSTD_compress2(context, self.packed, len(self.packed), self.data, len(self.data)))
        self.zstd.ZSTD_freeCCtx(context)
        return len(self.data) / (time.monotonic() - start + n / self.link_bps) / 1e6


class Flags(Problem):
    name, unit = 'flags', 'runs/s'
    title = 'flags of gcc, runs a second of a small numeric program (`tests/compare/numeric.c`), its start included'
    factors = (Factor('size', '', ('-O0', '-O1', '-O2', '-O3')), Factor('depth', '', ('', '-funroll-loops')), Factor('direct', '', ('', '-march=native')),
               Factor('api', '', ('-fno-tree-vectorize', '-fvect-cost-model=very-cheap', '-fvect-cost-model=dynamic')),
               Factor('threads', '', ('', '-ffast-math')))
    compiler, rounds = 'gcc', '600'
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'numeric.c')

    def missing(self):
        return None if shutil.which(self.compiler) else f'{self.compiler} is not there: install it'

    def compile(self, setting):
        """A program is known by all that it was made of, and made under another name first, so that a kill leaves none half made."""
        command = [self.compiler, *filter(None, setting), self.source]
        path = os.path.join(self.kept, 'numeric-' + hashlib.sha256(repr((command, self.version, self.text_of_source)).encode()).hexdigest()[:24])
        if not os.path.exists(path):
            made = subprocess.run([*command, '-o', f'{path}.{os.getpid()}'], capture_output=True, text=True, check=False)
            if made.returncode != 0:
                raise Failure(f'{" ".join(command)}: {(made.stderr.strip().splitlines() or ["it failed"])[-1]}')
            os.replace(f'{path}.{os.getpid()}', path)
        return path

    def prepare(self, _folder, kept):
        self.kept = kept
        self.version = subprocess.run([self.compiler, '-v'], capture_output=True, text=True, check=False).stderr
        with open(self.source, encoding='utf-8') as source:
            self.text_of_source = source.read()
        pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        try:
            self.programs = dict(zip(self.settings, pool.map(self.compile, self.settings)))
        finally:
            pool.shutdown(cancel_futures=True)

    def measure(self, setting, _chance):
        start = time.monotonic()
        if subprocess.run([self.programs[setting], self.rounds], stdout=subprocess.DEVNULL, check=False).returncode != 0:
            raise Failure(f'{self.programs[setting]} failed')
        return 1 / (time.monotonic() - start)


def all_problems(options):
    return [Sqlite(options.smoke, options.sqlite_seconds), Zstd(options.smoke), Flags(options.smoke)]
