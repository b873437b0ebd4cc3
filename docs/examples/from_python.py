#!/usr/bin/env python3
"""libfstune from Python through ctypes: the level and the size of chunks with which zlib saves most bytes per second.

usage: from_python.py [libfstune.so.0]
"""
import ctypes
import sys
import time
import zlib

MAX_FACTORS = 8


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("scale", ctypes.c_int), ("tolerance", ctypes.c_double), ("confidence", ctypes.c_double),
                ("budget", ctypes.c_double), ("run_cost", ctypes.c_double), ("seed", ctypes.c_uint64), ("prefer_best", ctypes.c_int),
                ("price", ctypes.c_void_p), ("context", ctypes.c_void_p), ("baseline", ctypes.POINTER(ctypes.c_double)),
                ("limits", ctypes.c_void_p), ("n_limits", ctypes.c_size_t), ("growth", ctypes.c_double)]


class Run(ctypes.Structure):
    _fields_ = [("setting", ctypes.c_size_t), ("values", ctypes.c_double * MAX_FACTORS), ("confirming", ctypes.c_int)]


class Estimate(ctypes.Structure):
    _fields_ = [("setting", ctypes.c_size_t), ("values", ctypes.c_double * MAX_FACTORS), ("value", ctypes.c_double),
                ("std_error", ctypes.c_double), ("n", ctypes.c_size_t), ("n_confirming", ctypes.c_size_t), ("equivalent", ctypes.c_int),
                ("kept", ctypes.c_double)]


class Answer(ctypes.Structure):
    _fields_ = [("recommended", Estimate), ("best", Estimate), ("shortfall", ctypes.c_double), ("conclusive", ctypes.c_int)]


def library(name):
    fst = ctypes.CDLL(name)
    fst.fst_space_new.restype = ctypes.c_void_p
    fst.fst_search_new.restype = ctypes.c_void_p
    fst.fst_search_new.argtypes = [ctypes.c_void_p, ctypes.POINTER(Options)]
    fst.fst_space_add_reals.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double, ctypes.c_double, ctypes.c_size_t, ctypes.c_int]
    fst.fst_space_add_sizes.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    fst.fst_ask.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(Run)]
    fst.fst_tell.argtypes = [ctypes.c_void_p, ctypes.POINTER(Run), ctypes.c_double, ctypes.c_double]
    fst.fst_answer.argtypes = [ctypes.c_void_p, ctypes.POINTER(Answer)]
    fst.fst_space_free.argtypes = fst.fst_search_free.argtypes = [ctypes.c_void_p]
    return fst


def measure(level, chunk, data):
    """Bytes saved per second."""
    start = time.monotonic()
    packer, packed = zlib.compressobj(level), 0
    for at in range(0, len(data), chunk):
        packed += len(packer.compress(data[at:at + chunk]))
    packed += len(packer.flush())
    seconds = time.monotonic() - start
    return (len(data) - packed) / seconds, seconds


def main():
    fst = library(sys.argv[1] if len(sys.argv) > 1 else "libfstune.so.0")
    data = b"".join(b"line %d of some text that can be packed\n" % (i * i) for i in range(4000))
    space = fst.fst_space_new()
    assert fst.fst_space_add_reals(space, b"level", 1, 9, 9, 0) == 0
    assert fst.fst_space_add_sizes(space, b"chunk", 256, 65536) == 0
    options = Options(size=ctypes.sizeof(Options), scale=0, tolerance=0.1, confidence=0.95, budget=3, run_cost=0.01, seed=1)
    search = fst.fst_search_new(space, ctypes.byref(options))
    fst.fst_space_free(space)
    assert search is not None
    run, answer, start = Run(), Answer(), time.monotonic()
    while fst.fst_ask(search, time.monotonic() - start, ctypes.byref(run)) == 1:
        saved, seconds = measure(int(run.values[0]), int(run.values[1]), data)
        assert fst.fst_tell(search, ctypes.byref(run), saved, seconds) == 0
    assert fst.fst_answer(search, ctypes.byref(answer)) == 0
    best = answer.recommended
    print(f"level {best.values[0]:.0f} in chunks of {best.values[1]:.0f} bytes saves {best.value / 1e6:.1f} MB/s")
    fst.fst_search_free(search)


if __name__ == "__main__":
    main()
