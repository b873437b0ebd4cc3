"""Surfaces of the comparison: recorded tables under other noise, families with a known optimum, spaces of three sizes.

A surface is a folder-relative pair NAME.conf + NAME.csv (interfaces of `fstune --simulate`), written below the output folder. What is
written depends on nothing but the arguments, so that its hash can name cached results."""
import csv
import hashlib
import math
import os
import random

HEADER = 'pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n'
# Added to every rate of the families: a run has at least 64 requests, and at points without any rate it would take minutes.
FLOOR_BPS = 2e8
# fstune drops points with more bytes in flight than a quarter of its file of 1 GiB.
MOST_IN_FLIGHT = 256 << 20
API_GAIN = {'psync': 1.0, 'pool': 0.97, 'libaio': 1.02, 'io_uring': 1.05}


def recorded_patterns(conf_folder, name):
    """Patterns that a recorded table has, in the table's order."""
    with open(os.path.join(conf_folder, f'recorded-{name}.csv'), encoding='ascii') as table:
        return list(dict.fromkeys(row['pattern'] for row in csv.DictReader(table)))


def grid(sizes, depths, apis, threads=(1,)):
    """All points that fstune accepts: psync has one request in flight, buffered libaio only depth 1."""
    for n_threads in threads:
        for size in sizes:
            for depth in depths:
                for direct in (0, 1):
                    for api in apis:
                        deep = depth > 1 and (api == 'psync' or (api == 'libaio' and not direct))
                        if not deep and size * depth * n_threads <= MOST_IN_FLIGHT:
                            yield size, depth, direct, api, n_threads


FAMILY_GRID = {'sizes': [2**k for k in range(12, 23)], 'depths': [2**k for k in range(7)], 'apis': ('psync', 'pool', 'io_uring')}

SPACES = {
    'space-100': {'sizes': [2**k for k in range(12, 22)], 'depths': (1, 2, 4, 8, 16), 'apis': ('io_uring',)},
    'space-2000': {'sizes': [2**k for k in range(12, 23)], 'depths': [2**k for k in range(7)],
                   'apis': ('psync', 'pool', 'libaio', 'io_uring'), 'threads': (1, 2, 4, 8, 16)},
    'space-20000': {'sizes': [round(2**(k / 4) / 512) * 512 for k in range(48, 89)], 'depths': (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64),
                    'apis': ('psync', 'pool', 'libaio', 'io_uring'), 'threads': (1, 2, 3, 4, 6, 8, 12, 16)},
}


def bell(size, depth, at_size, at_depth, width_size, width_depth):
    return 2**-(((size - at_size) / width_size)**2 + ((depth - at_depth) / width_depth)**2)


def smooth(chance):
    at_size, at_depth, best = chance.uniform(14, 20), chance.uniform(1, 5), chance.choice((0, 1))
    return lambda s, d, direct, api, t: 2e9 * API_GAIN[api] * (1.0 if direct == best else 0.7) * bell(s, d, at_size, at_depth, 5, 4)


def ridge(chance):
    at_sum, at_size, best = chance.uniform(17, 23), chance.uniform(14, 20), chance.choice((0, 1))
    return lambda s, d, direct, api, t: 2e9 * API_GAIN[api] * (1.0 if direct == best else 0.7) * bell(s, s + d, at_size, at_sum, 9, 1.8)


def two_modes(chance):
    """The higher mode is narrow and in the far corner of the wide one."""
    low = chance.uniform(13, 15), chance.uniform(4, 5.5)
    far = chance.uniform(19, 21), chance.uniform(0, 1.5)
    high, wide = chance.choice(((low, far), (far, low)))
    best = chance.choice((0, 1))
    return lambda s, d, direct, api, t: API_GAIN[api] * (
        2e8 + 1.8e9 * (1.0 if direct == best else 0.6) * max(bell(s, d, *high, 1.6, 1.6), 0.85 * bell(s, d, *wide, 3.5, 2.5)))


def plateau(chance):
    """Latency plus bandwidth under a ceiling that many points reach."""
    latency, top = chance.uniform(4e-5, 9e-5), chance.uniform(1.3e9, 1.7e9)
    return lambda s, d, direct, api, t: min(top if direct else 0.75 * top, API_GAIN[api] * 2**(min(d, 4) + s) / (latency + 2**s / 8e8))


def cliff(chance):
    """More in flight is better until a limit; beyond it the rate drops to a third."""
    limit, slope = chance.choice((18, 19, 20, 21, 22)) + 0.5, chance.uniform(0.2, 0.3)
    return lambda s, d, direct, api, t: 2e9 * API_GAIN[api] * (1.0 if direct else 0.8) * 2**(slope * (min(s + d, limit) - limit)) / (
        3.0 if s + d > limit else 1.0)


def crossing(chance):
    """Buffered wins with little in flight, direct with much; which side holds the best differs."""
    cross, lead = chance.uniform(17, 22), chance.choice((0.85, 1.2))
    return lambda s, d, direct, api, t: 1.5e9 * API_GAIN[api] * (
        lead / (1 + 2**(1.2 * (cross - s - d))) if direct else 1 / (1 + 2**(0.5 * (cross - 4 - s - d))) - 0.02 * max(0, s + d - cross))


def needle(chance):
    """One point that nothing announces, on a surface that is nearly flat."""
    at = chance.choice([point for point in grid(**FAMILY_GRID)])
    slope = chance.uniform(-0.01, 0.01)
    return lambda s, d, direct, api, t: 1e9 * (1.6 if (2**s, 2**d, direct, api, t) == at else 2**(slope * (s - 17)))


def flat(_chance):
    return lambda s, d, direct, api, t: 1e9


def machine(chance):
    """A made-up file system for the spaces: latency, overlap up to a limit, bandwidth, locks between threads, and a roughness of 4 %
    that belongs to the point."""
    latency, overlap, top = chance.uniform(5e-5, 1.2e-4), chance.uniform(8, 40), chance.uniform(1.5e9, 2.5e9)
    crowd, salt = chance.uniform(6, 10), chance.random()

    def rate(s, d, direct, api, t):
        size, in_flight = 2**s, 2**d * t
        slots = overlap if direct else 3.0
        busy = in_flight / (1 + (in_flight / slots)**2)**0.5
        linear = API_GAIN[api] * busy * size / (latency * (1.0 if direct else 0.35) + size / 9e8)
        ceiling = (top if direct else 0.7 * top) / (1 + (t / crowd)**3) * 2**-max(0.0, 0.15 * (s + d - 23))
        rough = random.Random(f'{salt} {round(2**s)} {round(2**d)} {direct} {api} {t}').uniform(-0.04, 0.04)
        return (1 + rough) * (linear**-3 + ceiling**-3)**(-1 / 3)
    return rate


FAMILIES = {'smooth': smooth, 'ridge': ridge, 'two-modes': two_modes, 'plateau': plateau, 'cliff': cliff, 'crossing': crossing,
            'needle': needle, 'flat': flat}


def made_table(name, variant, pattern):
    """CSV of a family or a space; the variant moves its optimum."""
    shape = FAMILIES.get(name, machine)(random.Random(f'{name} {variant}'))
    floor = FLOOR_BPS if name in FAMILIES else 0.0
    rows = (f'{pattern},{size},{depth},{direct},{api},{threads},{floor + shape(math.log2(size), math.log2(depth), direct, api, threads):.0f}\n'
            for size, depth, direct, api, threads in grid(**SPACES.get(name, FAMILY_GRID)))
    return HEADER + ''.join(rows)


def recorded_table(conf_folder, name, pattern):
    with open(os.path.join(conf_folder, f'recorded-{name}.csv'), encoding='ascii') as table:
        return HEADER + ''.join(line for line in table if line.startswith(pattern + ','))


def describe(name, noise, trace):
    body = ''.join(f'  {key} = {float(value)!r};\n' for key, value in sorted(noise.items()))
    return f'name = "{name}";\npoints = "{name}.csv";\n' + (f'trace = "{name}.trace.csv";\n' if trace else '') + f'noise = {{\n{body}}};\n'


def write_if_new(path, text):
    """Another process may be reading the file: the same content is left alone, a new one is put in place at once."""
    if os.path.exists(path):
        with open(path, encoding='ascii') as old:
            if old.read() == text:
                return
    with open(path + '.new', 'w', encoding='ascii') as new:
        new.write(text)
    os.replace(path + '.new', path)


def write(folder, name, table, noise, trace=()):
    """Writes the surface and returns (path of its conf, hash of all its content). trace: pairs of seconds and factor."""
    os.makedirs(folder, exist_ok=True)
    files = {'conf': describe(name, noise, trace), 'csv': table}
    if trace:
        files['trace.csv'] = 'seconds,factor\n' + ''.join(f'{seconds:g},{factor:g}\n' for seconds, factor in trace)
    digest = hashlib.sha256()
    for ending, text in files.items():
        write_if_new(os.path.join(folder, f'{name}.{ending}'), text)
        digest.update(text.encode('ascii') + b'\0')
    return os.path.join(folder, name + '.conf'), digest.hexdigest()[:24]
