"""libfstune, the engine of fstune for other programs, by the classes of docs/examples/from_python.py."""
import ctypes
import importlib.util
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "..", "..", "..", "docs", "examples", "from_python.py")
LIBRARY = os.path.join("..", "..", "libfstune.so.0")  # from the trial server
FORBIDDEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p)


def load(server):
    spec = importlib.util.spec_from_file_location("from_python", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    fst = example.library(os.path.realpath(os.path.join(os.path.dirname(server), LIBRARY)))
    fst.fst_space_add_levels.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_double), ctypes.c_size_t]
    fst.fst_space_add_choices.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    fst.fst_space_forbid.argtypes = [ctypes.c_void_p, FORBIDDEN, ctypes.c_void_p]
    fst.fst_best_so_far.argtypes = [ctypes.c_void_p, ctypes.POINTER(example.Estimate)]
    return example, fst


class Clock:
    """Stands before the trial server's answers, and remembers the virtual time in them."""

    def __init__(self, stream):
        self.stream, self.now, self.close = stream, 0.0, stream.close

    def readline(self):
        line = self.stream.readline()
        self.now = float(line.split()[-1]) if line else self.now
        return line


class Library:
    def __init__(self, seed):
        self.seed, self.search_ = seed, None

    def make_space(self, box):
        space = ctypes.c_void_p(self.fst.fst_space_new())
        for size, is_category in zip(box.sizes, box.is_category):
            levels = (ctypes.c_double * size)(*range(size))
            added = (self.fst.fst_space_add_choices(space, b"factor", size) if is_category
                     else self.fst.fst_space_add_levels(space, b"factor", levels, size))
            assert added == 0
        return space

    def begin(self, trials, box):
        space = self.make_space(box)
        width = len(box.sizes)
        refuse = FORBIDDEN(lambda values, _: tuple(int(values[i]) for i in range(width)) not in box.places)
        self.fst.fst_space_forbid(space, refuse, None)
        options = self.example.Options(size=ctypes.sizeof(self.example.Options), scale=0, tolerance=0.03, confidence=0.95, budget=trials.seconds,
                                       run_cost=trials.run_seconds, seed=self.seed, prefer_best=1)
        self.search_ = self.fst.fst_search_new(space, ctypes.byref(options))
        self.fst.fst_space_free(space)
        assert self.search_ is not None

    def row(self, values):
        return self.box.places[tuple(int(values[i]) for i in range(len(self.box.sizes)))]

    def search(self, trials):
        from box import Box
        self.example, self.fst = load(trials.server.args[0])
        self.box, clock = Box(trials.points), Clock(trials.server.stdout)
        trials.server.stdout = clock
        self.begin(trials, self.box)
        run, before = self.example.Run(), 0.0
        while self.fst.fst_ask(self.search_, clock.now, ctypes.byref(run)) == 1:
            log_bps = trials.run(self.row(run.values))
            assert self.fst.fst_tell(self.search_, ctypes.byref(run), math.exp(log_bps), clock.now - before) == 0
            before = clock.now
        self.answer(trials)

    def answer(self, trials):
        """The choice is made; the rest of the time changes nothing."""
        answer = self.example.Answer()
        if self.fst.fst_answer(self.search_, ctypes.byref(answer)) == 0:
            index, value = self.row(answer.recommended.values), answer.recommended.value
            trials.pick = lambda _: (index, value)
        while True:
            trials.run(trials.index[-1])

    def pick(self, trials):
        del trials
        estimate = self.example.Estimate()
        assert self.fst.fst_best_so_far(self.search_, ctypes.byref(estimate)) == 0
        return self.row(estimate.values), estimate.value


def libfstune(seed):
    library = Library(seed)
    return library.search, library.pick
