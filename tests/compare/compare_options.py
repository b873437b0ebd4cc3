"""Options of the comparison, which `compare` and `smoke` share."""
import argparse
import os

import driver
import runs


def parse(arguments):
    parser = argparse.ArgumentParser(description='Compares the search of fstune with other optimisers; see the head of tests/compare/compare.')
    parser.add_argument('--cells', nargs='*', default=['*'], metavar='GLOB', help='names GROUP/NAME; --list shows them')
    parser.add_argument('--methods', nargs='*', default=list(runs.METHODS), choices=list(runs.METHODS), metavar='METHOD')
    parser.add_argument('--seeds', type=int, help='seeds of every method (standard: what the stored table has)')
    parser.add_argument('--first-seed', type=int, default=1)
    parser.add_argument('--marks', type=lambda text: tuple(map(int, text.split(','))), help='virtual seconds, such as 10,20,60')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--out', default='build/compare')
    parser.add_argument('--docs', help='folder for compare.md and compare/*.svg (standard: OUT)')
    parser.add_argument('--report-only', action='store_true', help='run nothing; report what is there')
    parser.add_argument('--list', action='store_true', help='print the cells and end')
    parser.add_argument('--fstune', default='build/release/fstune')
    parser.add_argument('--server', default='build/release/tests/compare/trial_server')
    parser.add_argument('--peer', default=driver.PEER)
    parser.add_argument('--surfaces', default='configs/surfaces', help='folder of recorded-*.csv')
    options = parser.parse_args(arguments)
    options.seeds = {method: options.seeds or runs.METHODS[method] for method in options.methods}
    return options


def tools_of(options):
    return driver.Tools(options.fstune, options.server, options.peer, options.surfaces, options.out)
