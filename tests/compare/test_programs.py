"""Unit tests of the comparison on live programs; run by tests/compare/smoke in the root of the source tree."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import math
import os
import random
import tempfile
import unittest
from unittest import mock

import programs_play
import programs_report
from programs_problems import COLUMNS, Factor, Failure, Problem, all_problems

HERE = os.path.dirname(os.path.abspath(__file__))
RELAY = os.path.abspath('build/release/tests/compare/relay')


def program():
    """The script, as a module."""
    loader = importlib.machinery.SourceFileLoader('programs', os.path.join(HERE, 'programs'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('programs', loader))
    loader.exec_module(module)
    return module


class Made(Problem):
    """No program: rates without noise, and a list of who was measured when."""
    name, title, unit = 'made', 'A made one', 'runs/s'
    factors = (Factor('size', 'size', (1, 2, 3, 4)), Factor('api', 'way', ('a', 'b', 'c')), Factor('threads', 'threads', (1, 2)))

    def __init__(self):
        super().__init__(False)
        self.measured, self.watch = [], lambda: None

    def rate(self, setting):
        return 10.0 * setting[0] + 'abc'.index(setting[1]) + setting[2]

    def measure(self, setting, _chance):
        self.measured.append(setting)
        self.watch()
        return self.rate(setting)


class Problems(unittest.TestCase):
    def test_points_are_the_settings_in_the_words_of_the_protocol(self):
        made = Made()
        points = list(made.points())
        self.assertEqual(len(set(points)), 24)
        for setting, point in zip(made.settings, points):
            levels = dict(zip(COLUMNS, point))
            self.assertEqual((levels['size'] + 1, 'abc'[levels['api']], levels['threads'] + 1), setting)
            self.assertEqual((levels['depth'], levels['direct']), (0, 0))

    def test_each_has_as_many_settings_as_it_says_and_no_column_twice(self):
        for is_smoke, sizes in ((False, [160, 96, 96]), (True, [8, 8, 8])):
            problems = all_problems(argparse.Namespace(smoke=is_smoke, sqlite_seconds=0.001))
            self.assertEqual([len(problem.settings) for problem in problems], sizes)
            for problem in problems:
                self.assertEqual(len({factor.column for factor in problem.factors}), len(problem.factors))
                self.assertLessEqual(max(max(point[3] for point in problem.points()), 1), len(programs_play.APIS) - 1)

    def test_all_can_be_measured(self):
        chance = random.Random(1)
        with tempfile.TemporaryDirectory() as folder:
            for problem in all_problems(argparse.Namespace(smoke=True, sqlite_seconds=0.001)):
                if not problem.missing():
                    problem.prepare(folder, folder)
                    self.assertTrue(all(problem.measure(setting, chance) > 0 for setting in problem.settings), problem.name)

    def test_sqlite_without_room_is_one_line(self):
        problem = all_problems(argparse.Namespace(smoke=True, sqlite_seconds=0.001))[0]
        problem.missing()
        problem.folder = '/nowhere'
        self.assertRaisesRegex(Failure, '^/nowhere: .*whether there is room$', problem.measure, problem.settings[0], random.Random(1))

    def test_what_does_not_compile_is_told_by_the_compilers_last_line(self):
        problem = all_problems(argparse.Namespace(smoke=True, sqlite_seconds=0.001))[2]
        with tempfile.TemporaryDirectory() as folder:
            problem.kept, problem.version, problem.text_of_source = folder, '', ''
            self.assertRaisesRegex(Failure, 'gcc -no-such-flag .*: .*no-such-flag', problem.compile, ('-no-such-flag',))
            self.assertEqual(os.listdir(folder), [])

    def test_without_a_compiler_there_is_a_reason(self):
        problem = all_problems(argparse.Namespace(smoke=True, sqlite_seconds=0.001))[2]
        with mock.patch.dict(os.environ, {'PATH': '/nowhere'}):
            self.assertEqual(problem.missing(), 'gcc is not there: install it')


class TheTruth(unittest.TestCase):
    def test_a_slow_pass_is_no_error_of_the_table(self):
        truth = programs_report.Truth([[1.0, 2.0, 3.0], [0.5, 1.5, 2.5], [0.7, 1.7, 2.7]])
        self.assertEqual(truth.best, 2)
        self.assertAlmostEqual(truth.error(0), 0)
        self.assertAlmostEqual(truth.regret(1)[0], 1 - math.exp(-1))

    def test_error_is_that_of_the_ratio(self):
        # Against its pass's mean, the first one is -2 and -1, the second 2 and 1: each mean has the error 1/2.
        truth = programs_report.Truth([[-2.0, 2.0], [-1.0, 1.0]])
        regret, error = truth.regret(0)
        self.assertAlmostEqual(regret, 1 - math.exp(-3))
        self.assertAlmostEqual(error, math.exp(-3) * math.hypot(0.5, 0.5))
        self.assertEqual(truth.regret(1), (0.0, 0.0))

    def test_every_pass_has_all_settings_in_another_order(self):
        made = Made()
        truth, chance = programs_play.Truth(made), random.Random(1)
        truth.add_pass(chance)
        truth.add_pass(chance)
        self.assertEqual(sorted(made.measured[:24]), made.settings)
        self.assertEqual(sorted(made.measured[24:]), made.settings)
        self.assertNotEqual(made.measured[:24], made.measured[24:])
        self.assertEqual([math.exp(value) for value in truth.passes[1]], [mock.ANY] * 24)
        self.assertAlmostEqual(math.exp(truth.passes[0][5]), made.rate(made.settings[5]))

    def test_quantile_is_one_of_the_values(self):
        self.assertEqual(programs_report.quantile([5, 1, 4, 2, 3, 6, 7, 8, 9, 10], 0.9), 9)
        self.assertEqual(programs_report.quantile([3], 0.9), 3)


@unittest.skipUnless(os.path.exists(RELAY), 'make compare-programs builds the relay')
class SearchesSideBySide(unittest.TestCase):
    def played(self, methods, budgets):
        made = Made()
        searches = programs_play.searches_of(methods, budgets, len(made.settings), 1)
        with programs_play.Block(made, searches, RELAY) as block:
            return made, searches, block.play(random.Random(1), lambda n: None)

    def test_all_get_their_runs_and_no_more(self):
        made, searches, picks = self.played(['random', 'libfstune', 'one-plus-one', programs_play.ONE_RUN_EACH], [5, 9])
        self.assertEqual(len(made.measured), sum(search.marks[-1] for search in searches))
        self.assertEqual([(pick['method'], pick['budget']) for pick in picks],
                         [('random', 5), ('random', 9), ('libfstune', 5), ('libfstune', 9), ('one-plus-one', 5), ('one-plus-one', 9), ('one-run-each', 24)])
        for pick in picks:
            self.assertAlmostEqual(pick['claimed'], made.rate(made.settings[pick['index']]), places=5)
        self.assertEqual(made.settings[picks[-1]['index']], (4, 'c', 2))

    def test_libfstune_says_what_it_claims_and_finds_the_best_without_noise(self):
        made, _, picks = self.played(['libfstune'], [60])
        self.assertEqual(made.settings[picks[0]['index']][0], 4)
        self.assertLessEqual(0, picks[0]['shortfall'])
        self.assertIn(picks[0]['conclusive'], (True, False))
        self.assertTrue(24 <= picks[0]['runs_used'] <= 60)

    def test_they_go_in_step(self):
        # Two searches, each of all settings in an order of its own: every two runs are the next of both, and none is told before both are made.
        made, told = Made(), []
        made.watch = lambda: told.append([session.n_told for session in block.sessions])
        searches = [programs_play.Search('random', (24,), seed) for seed in (1, 2)]
        with programs_play.Block(made, searches, RELAY) as block:
            block.play(random.Random(1), lambda n: None)
        self.assertEqual(told, [[n // 2, n // 2] for n in range(48)])
        orders = []
        for seed in (1, 2):
            orders.append(list(range(24)))
            random.Random(seed).shuffle(orders[-1])
        for n in range(24):
            self.assertEqual(sorted(made.measured[2 * n:2 * n + 2]), sorted(made.settings[order[n]] for order in orders))

    def test_one_that_fails_is_named_with_its_last_words(self):
        block = programs_play.Block(Made(), [programs_play.Search('tpe', (5,), 1)], RELAY)
        with self.assertRaisesRegex(Failure, '^tpe: it ended at once: peer: no relay$'), block:
            with mock.patch.object(programs_play.Search, 'command', lambda *_: ['sh', '-c', 'echo "peer: no relay" >&2; exit 1']):
                block.start()

    def test_one_that_dies_on_the_way_is_named(self):
        block = programs_play.Block(Made(), programs_play.searches_of(['random'], [50], 24, 1), RELAY)
        with self.assertRaisesRegex(Failure, '^random: exit -9: it said nothing$'), block:
            block.play(random.Random(1), lambda n: n == 3 and block.sessions[0].process.kill())

    def test_one_that_thinks_for_ever_is_ended(self):
        search = programs_play.Search('random', (5,), 1)
        hang = ['sh', '-c', 'exec sleep 100']
        with mock.patch.object(programs_play, 'THINK_SECONDS', 0.2), mock.patch.object(programs_play.Search, 'command', lambda *_: hang):
            with self.assertRaisesRegex(Failure, '^random: not ready after 0.2 s'), programs_play.Block(Made(), [search], RELAY) as block:
                block.start()
        self.assertIsNotNone(block.sessions[0].process.returncode)


class ThePage(unittest.TestCase):
    def document(self):
        made = Made()
        logs = [math.log(made.rate(setting)) for setting in made.settings]
        picks = [{'method': 'libfstune', 'seed': 1, 'budget': 9, 'index': 23, 'claimed': 44.0, 'shortfall': 0.01, 'conclusive': True, 'runs_used': 8},
                 {'method': 'libfstune', 'seed': 2, 'budget': 9, 'index': 0, 'claimed': 11.0, 'shortfall': 0.01, 'conclusive': False, 'runs_used': 9},
                 {'method': 'random', 'seed': 1, 'budget': 9, 'index': 22, 'claimed': 86.0}]
        entry = program().entry_of(made) | {'passes': [logs, [value + 0.1 for value in logs]], 'picks': picks}
        return json.loads(json.dumps({'facts': 'Made up.', 'skipped': {'tpe': 'python3 has no optuna'}, 'problems': [entry]}))

    def test_says_regrets_and_claims(self):
        page = programs_report.write(self.document())
        # 1 - 11/44 and 0; the other loses 1 of 44 and claims twice (e^0.05 taken off) what is true.
        self.assertIn('| libfstune | 9 | 2 | 37.5 % +- 37.5 % | 75.0 % | 50 % (9-91) |', page)
        self.assertIn('| random | 9 | 1 | 2.3 % +- - | 2.3 % | 100 % (21-100) | 0.0 % | 1.90 |', page)
        self.assertIn('| made | 9 | 2 | 2 | 50 % (9-91) | 50 % (9-91) | 1.0 % | 50 % (9-91) | 100 % (21-100) | 8 |', page)
        self.assertIn('- tpe: python3 has no optuna', page)
        self.assertIn('The best is size 4, way c, threads 2, with 46.26 runs/s', page)

    def test_the_table_may_be_wrong_by_its_errors(self):
        pick = {'regret': 0.05, 'shortfall': 0.03, 'table_error': 0.011}
        self.assertFalse(programs_report.holds(pick, 0))
        self.assertTrue(programs_report.holds(pick, 2))

    def test_nothing_measured_is_said(self):
        document = self.document()
        document['problems'][0]['picks'] = []
        self.assertIn('No results.', programs_report.write(document))

    def test_together_each_problem_counts_the_same(self):
        picks = {name: [{'method': 'random', 'budget': 9, 'regret': regret} for regret in regrets]
                 for name, regrets in (('a', [0.0, 0.0, 0.0]), ('b', [0.2]))}
        self.assertIn('| random | 9 | 10.0 % | 50 % |', programs_report.together_table(picks))


class TheProgram(unittest.TestCase):
    def run_it(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch('sys.argv', ['programs', *arguments]), mock.patch('signal.signal'):
            try:
                code = program().main()
            except SystemExit as end:
                code = end.code
        return code, err.getvalue().strip().splitlines()[-1]

    def test_wrong_input_is_one_line(self):
        for arguments, text in ((['--budgets', '6,x'], 'is no list of numbers'), (['--budgets', '0'], 'is no list of numbers'),
                                (['--seeds', '1', '--passes', '1'], 'at least two'), (['--sqlite-seconds', 'nan'], 'above 0'), (['--problems', 'x'], '--problems: x is none of')):
            code, line = self.run_it(*arguments)
            self.assertEqual(code, 2, line)
            self.assertIn(text, line)
        self.assertEqual(self.run_it('--smoke', '--server', HERE, '/nowhere'), (1, 'programs: /nowhere is not a directory'))
        self.assertEqual(self.run_it('--smoke', '--server', '/nowhere/relay'), (1, 'programs: /nowhere/relay is not there: make compare-programs'))
        self.assertEqual(self.run_it('--server', HERE, '--markdown', '/nowhere/page'), (1, 'programs: /nowhere/page: its folder is not there or cannot be written to'))
        code, line = self.run_it('--report-only', '--json', '/nowhere.json')
        self.assertEqual(code, 1)
        self.assertIn('run the comparison first', line)
        with tempfile.NamedTemporaryFile('w', suffix='.json') as other:
            other.write('{"results": []}')
            other.flush()
            self.assertEqual(self.run_it('--report-only', '--json', other.name), (1, f'programs: {other.name}: not written by this program; run the comparison first'))

    def test_what_is_missing_is_skipped_with_a_reason(self):
        lacks = program().method_lacks
        self.assertEqual(lacks('dlib', '/nowhere/relay'), 'dlib is not built: make compare-programs')
        self.assertEqual(lacks('libfstune', '/nowhere/relay'), 'libfstune.so.0 is not built: make compare-programs')
        with mock.patch('importlib.util.find_spec', lambda name: None):
            self.assertEqual(lacks('tpe', '/nowhere/relay'), 'python3 has no optuna')
            self.assertIsNone(lacks('random', '/nowhere/relay'))

    def test_folders_of_killed_ones_go_and_others_stay(self):
        module = program()
        with tempfile.TemporaryDirectory() as directory:
            for name in ('killed', 'foreign'):
                os.mkdir(os.path.join(directory, module.PREFIX + name))
            with open(os.path.join(directory, module.PREFIX + 'killed', module.LOCK), 'x', encoding='ascii'):
                pass
            with module.folder_in(directory) as first, module.folder_in(directory) as second:
                self.assertEqual(set(os.listdir(directory)), {module.PREFIX + 'foreign', os.path.basename(first), os.path.basename(second)})
            self.assertEqual(os.listdir(directory), [module.PREFIX + 'foreign'])

    def test_no_seed_is_begun_that_would_end_late(self):
        options, due = argparse.Namespace(minutes=1), program().is_time_for_another
        self.assertEqual([due(options, walls, sum(walls)) for walls in ([], [90], [20], [20, 30], [20, 10, 10])], [True, False, True, False, True])
        self.assertFalse(due(options, [20], 41))
        self.assertTrue(due(argparse.Namespace(minutes=None), [1000], 1000))


if __name__ == '__main__':
    unittest.main()
