#!/usr/bin/env python3
"""Tests of flat_oracle.py and of false_alarms where there is nothing to watch. Standard library only."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import flat_oracle

NO_DEVICE = '/proc'  # as a tmpfs, and everywhere
ANSWER = '{"warnings": [{"code": "memory_backed"}], "sustained": null, "runs": [{"seconds": 1, "warmup_seconds": 0, "throughput": 1}]}'


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class WithoutDevice(unittest.TestCase):
    def setUp(self):
        self.study, self.said = load('false_alarms'), io.StringIO()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = os.path.join(folder.name, 'fstune')
        with open(program, 'w', encoding='ascii') as out:
            out.write(f"#!/bin/sh\necho '{ANSWER}'\n")
        os.chmod(program, 0o755)
        self.arguments = argparse.Namespace(fstune=program, first_seed=1, duration='50ms', file_size='1m', runs=3, flat=0.05, log=None)

    def test_no_device_has_no_counters(self):
        self.assertIsNone(flat_oracle.counters_of(NO_DEVICE))

    def test_a_run_without_a_device_is_told_in_one_line_and_goes_on(self):
        with contextlib.redirect_stderr(self.said):
            found = [self.study.watched(self.arguments, NO_DEVICE, i) for i in range(2)]
        for document, codes, spread in found:
            self.assertEqual(document['runs'][0]['seconds'], 1)
            self.assertEqual(codes, {'memory_backed'})
            self.assertIsNone(spread)
        self.assertEqual(self.said.getvalue().count('\n'), 1)
        self.assertIn('no block device', self.said.getvalue())

    def test_runs_that_nobody_watched_are_not_flat_and_say_nothing_about_the_trace(self):
        with contextlib.redirect_stderr(self.said), contextlib.redirect_stdout(self.said):
            found = self.study.measured(self.arguments, 'here', NO_DEVICE)
            self.assertEqual(found, ((3, []), (0, [])))
            self.assertEqual(self.study.sum_up([found]), ['no flat runs'])


class Counters(unittest.TestCase):
    def test_a_run_that_was_over_before_a_sample_is_too_short_to_tell(self):
        oracle = flat_oracle.Oracle('/dev/null')
        self.assertIsNone(oracle.range_of_parts(True, [{'seconds': 1, 'warmup_seconds': 0}]))


if __name__ == '__main__':
    unittest.main()
