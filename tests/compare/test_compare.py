"""Unit tests of the comparison's own arithmetic; run by tests/compare/smoke."""
import csv
import io
import os
import shutil
import tempfile
import types
import unittest

import cells
import driver
import report
import runs
import stats
import surfaces


class Statistics(unittest.TestCase):
    def test_wilson_of_half_is_the_textbook_interval(self):
        low, high = stats.wilson(50, 100)
        self.assertAlmostEqual(low, 0.4038, 4)
        self.assertAlmostEqual(high, 0.5962, 4)

    def test_wilson_of_all_stays_below_one_half_width(self):
        low, high = stats.wilson(10, 10)
        self.assertAlmostEqual(low, 0.7225, 4)
        self.assertAlmostEqual(high, 1.0, 12)

    def test_wilson_of_nothing_is_everything(self):
        self.assertEqual(stats.wilson(0, 0), (0.0, 1.0))

    def test_mcnemar_counts_discordant_pairs_alone(self):
        # Lost 5, won none: (1/2)^5; the pairs that agree do not matter.
        self.assertAlmostEqual(stats.mcnemar_worse([False] * 5 + [True] * 9, [True] * 14), 1 / 32)
        # Lost 3, won 1 of 4: (4 + 1) / 16.
        self.assertAlmostEqual(stats.mcnemar_worse([False, False, False, True], [True, True, True, False]), 5 / 16)

    def test_mcnemar_of_the_better_is_near_one(self):
        self.assertEqual(stats.mcnemar_worse([True] * 6, [False] * 6), 1.0)
        self.assertEqual(stats.mcnemar_worse([True, False], [True, False]), 1.0)

    def test_holm_follows_the_textbook(self):
        for found, wanted in zip(stats.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02], strict=True):
            self.assertAlmostEqual(found, wanted)

    def test_time_to_a_share_is_straight_in_log_time(self):
        self.assertAlmostEqual(stats.seconds_to_reach(0.75, (10, 40), (0.5, 1.0)), 20.0)
        self.assertEqual(stats.seconds_to_reach(0.5, (10, 40), (0.5, 1.0)), 10.0)
        self.assertIsNone(stats.seconds_to_reach(0.9, (10, 40), (0.5, 0.8)))


class CachedResults(unittest.TestCase):
    """What peers see of fstune is all that their results depend on."""

    def server(self, folder, name, rate):
        """A stand-in with four points; each trial answers with the rate."""
        path = os.path.join(folder, name)
        with open(path, 'w', encoding='ascii') as script:
            script.write(f'#!/bin/sh\nfor i in 0 1 2 3; do echo $i 4096 $i 1 pool 1 {rate if name == "truth" else 5}; done\n'
                         f'[ "$1" = --truth ] || while read -r index seconds; do echo "$index {rate}"; done\n')
        os.chmod(path, 0o755)
        return path

    def test_key_follows_the_answers_of_the_server_and_nothing_else_of_fstune(self):
        with tempfile.TemporaryDirectory() as folder:
            hashes = [driver.answers_hash(self.server(folder, name, rate), 'conf', 'read')
                      for name, rate in (('one', 7), ('same', 7), ('trials', 8), ('truth', 7))]
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual(len(set(hashes)), 3)

    def test_fstune_itself_is_known_by_its_program(self):
        tools = driver.Tools('program', '/nowhere/server', driver.PEER, '', '')
        self.assertEqual(tools.world_hash('fstune-gp', 'conf', 'read'), '-')

    def test_every_peer_has_its_sources_and_a_change_in_one_leaves_the_others(self):
        peers = [method for method in runs.METHODS if not runs.is_fstune(method)]
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, 'peers')
            shutil.copytree(os.path.dirname(driver.PEER), copy)
            tools = driver.Tools('program', 'server', os.path.join(copy, 'peer'), '', '')
            before = {method: tools.source_hash(method) for method in peers}
            with open(os.path.join(copy, 'gaussian_process.py'), 'a', encoding='utf-8') as source:
                source.write('# changed\n')
            changed = [method for method in peers if tools.source_hash(method) != before[method]]
        self.assertEqual(changed, ['gp-ei', 'gp-ei-1s'])


class Surfaces(unittest.TestCase):
    def test_every_family_has_positive_rates_and_its_variants_differ(self):
        for name in surfaces.FAMILIES:
            tables = [surfaces.made_table(name, variant, 'write') for variant in range(cells.N_VARIANTS)]
            self.assertEqual(len(set(tables)), 1 if name == 'flat' else cells.N_VARIANTS, name)
            rates = [float(row['throughput_bps']) for row in csv.DictReader(io.StringIO(tables[0]))]
            self.assertGreaterEqual(min(rates), surfaces.FLOOR_BPS)

    def test_needle_is_one_point(self):
        rates = sorted(float(row['throughput_bps']) for row in csv.DictReader(io.StringIO(surfaces.made_table('needle', 3, 'write'))))
        self.assertLess(rates[-2], 0.95 * rates[-1])

    def test_spaces_have_the_sizes_of_their_names(self):
        for name, shape in surfaces.SPACES.items():
            n_points = sum(1 for _ in surfaces.grid(**shape))
            self.assertAlmostEqual(n_points / int(name.rpartition('-')[2]), 1, delta=0.05)

    def test_hash_tells_noise_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            hashes = {surfaces.write(folder, 'one', 'table', {'run_cv': cv})[1] for cv in (0.1, 0.1, 0.2)}
        self.assertEqual(len(hashes), 2)


class Picks(unittest.TestCase):
    surface = types.SimpleNamespace(conf='x.conf', truth=[1.0, 2.0])

    def check(self, index, seconds=10):
        runs.check_picks(self.surface, (10,), [{'seconds': seconds, 'index': index}])

    def test_index_outside_the_space_is_a_failure(self):
        for index in (-1, 2):
            self.assertRaises(runs.Failure, self.check, index)
        self.check(1)
        self.check(None)

    def test_peer_with_usual_runs_is_the_same_peer(self):
        self.assertEqual(runs.peer_of('gp-ei'), ('gp-ei', 0.1))
        self.assertEqual(runs.peer_of('gp-ei-1s'), ('gp-ei', 1.0))

    def test_missing_mark_is_a_failure(self):
        self.assertRaises(runs.Failure, self.check, 1, 20)


class Results(unittest.TestCase):
    def test_store_leaves_out_a_line_cut_short(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'results.jsonl')
            driver.Store(path).add({'key': 'whole'})
            with open(path, 'a', encoding='utf-8') as lines:
                lines.write('{"key": "cut')
            store = driver.Store(path)
            self.assertEqual(list(store.by_key), ['whole'])
            store.add({'key': 'after'})
            self.assertEqual(list(driver.Store(path).by_key), ['whole', 'after'])

    def test_peers_are_judged_by_the_length_of_their_runs(self):
        cell = cells.Cell('recorded/x-write', 'x', (('recorded-x', None, 'write'),), {}, marks=(20, 60))
        ratios = {'fstune': 0.96, 'tpe': 1.0, 'tpe-1s': 0.9}
        results = [(cell, {'method': method, 'seed': 1, 'cpu': 0.1, 'picks': [{'seconds': mark, 'ratio': ratio, 'index': 0} for mark in (20, 60)]})
                   for method, ratio in ratios.items()]
        table = report.Table([cell], list(ratios), results)
        verdicts = {seconds: [(figures, met) for _, figures, met in report.must_beat_peers(table, seconds, '')] for seconds in (0.1, 1.0)}
        self.assertEqual([len(found) for found in verdicts.values()], [1, 1])
        self.assertIn('(tpe)', verdicts[0.1][0][0])
        self.assertIn('(tpe-1s)', verdicts[1.0][0][0])
        self.assertTrue(verdicts[0.1][0][1] and verdicts[1.0][0][1])

    def test_a_program_that_is_missing_or_fails_says_nothing(self):
        self.assertEqual([report.output_of(command) for command in (['/nonexistent/program'], ['false'], ['echo', 'x'])], ['', '', 'x'])

    def test_loss_in_every_seed_is_significant_and_a_tie_is_not(self):
        for lost in (True, False):
            cell = cells.Cell('noise/x', 'x', (('recorded-x', None, 'write'),), {}, marks=(60,))
            ratios = {'fstune': 0.8 if lost else 1.0, 'random': 1.0}
            results = [(cell, {'method': method, 'seed': seed, 'cpu': 0.1, 'picks': [{'seconds': 60, 'ratio': ratio, 'index': 0}]})
                       for method, ratio in ratios.items() for seed in range(8)]
            self.assertEqual(report.write_tests(report.Table([cell], list(ratios), results))[1], not lost)


if __name__ == '__main__':
    unittest.main()
