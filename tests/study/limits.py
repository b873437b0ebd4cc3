#!/usr/bin/env python3
"""Searches on a device whose limits are known: claims and bytes in flight against the limit.

usage (as root): limits.py [--fstune FILE] [--repetitions N] [--budget D] [--at-once N] [--patterns LIST] [--out FILE.csv]

A loop device with direct I/O over a file in memory is faster than any of the limits, which a control group of version 1 sets (blkio.throttle,
bytes and requests per second). Prints for each limit and pattern how near the claims are to the limit (a claim within 2 % of it is right),
what the recommended settings have in flight, and when the searches ended."""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FSTUNE = os.path.join(HERE, '..', '..', 'build', 'release', 'fstune')
GROUPS = '/sys/fs/cgroup/blkio'
LIMITS = ((200 << 20, 3000), (600 << 20, 12000), (50 << 20, 500))
PATTERNS = ('randread', 'randwrite', 'read', 'write')
IMAGE_BYTES = 2 << 30
RIGHT = 0.02

Place = collections.namedtuple('Place', 'folder device')


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def made_place(memory):
    """ext4 on a loop device of its own."""
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        image, mount = os.path.join(folder, 'image'), os.path.join(folder, 'mount')
        os.mkdir(mount)
        with open(image, 'wb') as file:
            file.truncate(IMAGE_BYTES)
        device = run('losetup', '--find', '--show', '--direct-io=on', image)
        try:
            run('mkfs.ext4', '-q', device)
            run('mount', device, mount)
            try:
                yield Place(mount, device)
            finally:
                run('umount', mount)
        finally:
            run('losetup', '-d', device)


@contextlib.contextmanager
def made_group(name, device, limit):
    """A control group whose members may move so many bytes and requests a second on the device."""
    group = os.path.join(GROUPS, name)
    number = os.stat(device).st_rdev
    os.makedirs(group, exist_ok=True)
    try:
        for key, value in zip(('bps', 'iops'), limit):
            for way in ('read', 'write'):
                with open(os.path.join(group, f'blkio.throttle.{way}_{key}_device'), 'w', encoding='ascii') as file:
                    file.write(f'{os.major(number)}:{os.minor(number)} {value}')
        yield group
    finally:
        os.rmdir(group)


def search(place, group, pattern, options):
    def enter():
        with open(os.path.join(group, 'cgroup.procs'), 'w', encoding='ascii') as file:
            file.write(str(os.getpid()))
    done = subprocess.run([options.fstune, 'recommend', '--pattern', pattern, '--path', place.folder, '--budget', options.budget, '--file-size', '512m',
                           '--json', '--quiet', '--no-lock'], preexec_fn=enter, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3, 5):
        raise SystemExit(f'fstune: exit code {done.returncode}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def look(place, limit, pattern, repetition, options):
    with made_group(f'limits-{os.getpid()}-{os.path.basename(place.device)}', place.device, limit) as group:
        answer = search(place, group, pattern, options)
    setting = answer['recommendation']
    if setting is None:
        return None
    # What the requests of this size may move: a limit of requests binds small ones, but what the kernel merges counts once.
    claim = answer['throughput']['mean'] / limit[0]
    in_flight = setting['request_size'] * setting['queue_depth'] * setting['threads']
    figures = {'claim': claim, 'in_flight': in_flight, 'seconds': answer['search']['seconds'], 'runs': answer['search']['runs'],
               'conclusive': answer['conclusive'], 'bound': answer['shortfall_bound']['share'] if answer['shortfall_bound'] else None}
    text = f"{setting['request_size'] >> 10}k x {setting['queue_depth']} {'direct' if setting['direct'] else 'buffered'} {setting['api']}"
    if options.out:
        with open(options.out, 'a', encoding='ascii') as file:
            print(*limit, pattern, repetition, *figures.values(), text, sep=',', file=file)
    return figures | {'text': text}


def row(limit, pattern, found):
    known = [each for each in found if each]
    if not known:
        return f'| {limit[0] >> 20} MiB/s, {limit[1]} | {pattern} | nothing recommended |'
    errors = [abs(each['claim'] - 1) for each in known]
    return (f"| {limit[0] >> 20} MiB/s, {limit[1]} | {pattern} | {sum(error <= RIGHT for error in errors)} of {len(found)} "
            f"| {' '.join(format(each['claim'], '.3f') for each in known)} "
            f"| {' '.join(str(each['in_flight'] >> 10) for each in known)} | {' '.join(format(each['seconds'], '.0f') for each in known)} "
            f"| {sum(each['conclusive'] for each in known)} of {len(found)} | {'; '.join(sorted({each['text'] for each in known}))} |"), errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--fstune', default=FSTUNE)
    parser.add_argument('--repetitions', type=int, default=5)
    parser.add_argument('--budget', default='30s')
    parser.add_argument('--at-once', type=int, default=2, help='searches at a time, each on a device of its own')
    parser.add_argument('--memory', default='/dev/shm', help='a folder in memory for the images')
    parser.add_argument('--patterns', default=','.join(PATTERNS))
    parser.add_argument('--out', help='a CSV with a row for each search')
    options = parser.parse_args()
    if os.geteuid() != 0 or not os.path.isdir(GROUPS):
        raise SystemExit('limits.py: needs root and control groups of version 1 at ' + GROUPS)
    print('| limit | pattern | claims within 2 % | claim / limit | KiB in flight | ended after s | conclusive | settings |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- |')
    all_errors, patterns = [], options.patterns.split(',')
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        places = [stack.enter_context(made_place(options.memory)) for _ in range(options.at_once)]
        found = collections.defaultdict(list)
        cells = [(limit, pattern, repetition) for repetition in range(options.repetitions) for limit in LIMITS for pattern in patterns]
        lanes = [cells[lane::options.at_once] for lane in range(options.at_once)]

        def lane_of(place, lane):
            return [(limit, pattern, look(place, limit, pattern, repetition, options)) for limit, pattern, repetition in lane]
        for done in pool.map(lane_of, places, lanes):
            for limit, pattern, figures in done:
                found[limit, pattern].append(figures)
    for limit in LIMITS:
        for pattern in patterns:
            text, errors = row(limit, pattern, found[limit, pattern])
            print(text)
            all_errors += errors
    print(f'\n{sum(error <= RIGHT for error in all_errors)} of {len(all_errors)} claims within 2 %, '
          f'median error {100 * statistics.median(all_errors):.2f} %')


if __name__ == '__main__':
    sys.exit(main())
