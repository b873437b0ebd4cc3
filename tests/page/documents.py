"""Results made to order for the checks of the page."""
import json
import random

HOSTILE = ['</script><script>document.title="broken"</script>', '<img src="http://127.0.0.1:9/x" onerror="document.title=\'broken\'">', '<!--<script>',
           '"><svg onload=document.title="broken">', "' onfocus='document.title=1' autofocus='", '{{script}}', '&lt;b&gt;', '\u202egnp.exe \u2028 \U0001f600', ']]>', '\x01\x1b[31m']
FACTORS = ('request_size', 'queue_depth', 'direct', 'api', 'threads', 'sync')


def settings():
    """All legal settings of a space that is larger than any search."""
    return [dict(zip(FACTORS, (size, depth, direct, api, threads, sync)))
            for sync in ('end', 'each') for threads in (1, 2, 4, 8, 16, 32) for api in ('psync', 'pool', 'libaio', 'io_uring') for direct in (0, 1)
            for size in (1 << k for k in range(9, 23)) for depth in (1, 2, 4, 8, 16, 32, 64)
            if (api != 'psync' or depth == 1) and (size >= 4096 or not direct) and (api != 'libaio' or direct or depth == 1)]


def row(setting, chance):
    """Figures of a smooth response, with scatter; few replays have no interval."""
    mean = 1e6 + 1e9 * min(1, setting['request_size'] * setting['queue_depth'] / 3e5) ** 0.7 * chance.uniform(0.8, 1.2)
    replays = chance.choice([1, 3, 5, 8])
    latency = setting['request_size'] * setting['queue_depth'] * setting['threads'] / mean * 1e9
    low, high = (mean * 0.95123, mean * 1.05456) if replays >= 3 else (None, None)
    return setting | {'mean': mean, 'ci_low': low, 'ci_high': high, 'replays': replays, 'achieved_depth': setting['queue_depth'] * 0.987,
                      'latency_ns': {'mean': latency, 'p99': latency * 3 if replays > 1 else None}, 'warnings': [], 'disqualified_by': []}


def answer(n, when='2024-02-03T04:05:06Z', scale=1.0):
    """An answer of `recommend` with n points."""
    chance = random.Random(n)
    rows = sorted((row(setting, chance) for setting in chance.sample(settings(), n)), key=lambda each: -each['mean'])
    for each in rows:
        each['mean'] *= scale
    chosen = rows[min(3, n - 1)]
    chosen |= {'replays': 7, 'ci_low': chosen['mean'] * 0.97, 'ci_high': chosen['mean'] * 1.03}
    rate = {'unit': 'bytes/s', 'mean': chosen['mean'], 'ci_low': chosen['mean'] * 0.97, 'ci_high': chosen['mean'] * 1.03, 'replays': 7, 'confidence': 0.95}
    return {
        'schema': 'fstune/recommendation/1', 'version': '0.1.0', 'interrupted': False, 'pattern': {'name': 'randwrite'},
        'recommendation': {key: chosen[key] for key in FACTORS}, 'throughput': rate, 'iops': {'mean': 18463.0}, 'latency_ns': chosen['latency_ns'],
        'probability_within_tolerance': 0.97, 'conclusive': True, 'best': rows[0], 'baseline': rows[-1] | {'is_default': True, 'speedup': {'mean': 2.9, 'ci_low': 2.7, 'ci_high': 3.1}},
        'equivalent': rows[1:n // 50 + 1], 'undecided': rows[n // 50 + 1:n // 20 + 1], 'importance': {'words': ['request size decides (78 % of the differences)']},
        'search': {'method_asked': 'auto', 'space_points': n, 'seconds': 59.2, 'seed': 7, 'run_seconds': 0.5}, 'points': rows,
        'dropped': [{'what': 'psync at depth above 1', 'why': 'it has one request in flight'}],
        'warnings': [{'code': 'run_repeated', 'text': 'runs that something disturbed were repeated', 'disqualifying': False}],
        'system': {'simulated': False, 'hostname': 'store1', 'kernel': '6.1.0', 'path': '/var/lib/vms', 'measured_at': when, 'file_system': 'ext4', 'device': 'nvme0n1',
                   'test_file_bytes': 1 << 30, 'cache': 'cold'},
    }


def hostile():
    """An answer in which every text that a file or a user can set is an attack."""
    text = ' '.join(HOSTILE)
    document = answer(20)
    document['system'] |= {key: text for key in ('hostname', 'kernel', 'path', 'measured_at', 'file_system', 'device')} | {each: each for each in HOSTILE}
    document |= {'version': text, 'warnings': [{'code': each, 'text': each} for each in HOSTILE], 'dropped': [{'what': each, 'why': each} for each in HOSTILE],
                 'importance': {'words': HOSTILE}, 'sustained': {'text': text}, 'fio_job': text}
    document['search']['method_asked'] = text
    document['objective'] = {'name': text}
    return document


def profile(phases=3, text=None):
    """A document of `fstune profile`: reads in sequence, then a database, then a log, or the first of them alone; text: in the place of every text."""
    n, last = 20, 20 * phases
    kinds = {'seq_read': [n] * last, 'rand_read': [0] * last, 'seq_write': [0] * last, 'rand_write': [0] * last}
    for i in range(n, last):
        kinds['seq_read'][i] = 0
        for kind, count in (('rand_read', 70), ('rand_write', 30)) if i < 2 * n else (('seq_write', 40),):
            kinds[kind][i] = count
    total = sum(map(sum, kinds.values()))
    shares = {kind: sum(counts) / total for kind, counts in kinds.items()} | {'margin': 0.013}
    words = {'name': text or 'seq-read=20,rand-read=55,rand-write=25'}
    sizes = {'n': 1000, 'p50': 8192, 'p99': 131072, 'modes': [{'bytes': 8192, 'share': 0.6}, {'bytes': 131072, 'share': 0.4}], 'histogram': [0] * 13 + [600, 0, 0, 0, 400]}
    return {
        'schema': 'fstune/profile/1', 'version': '0.1.0', 'source': text or 'preload', 'command': [text or 'postgres', '-D', text or '/srv/a b'], 'exit_status': 3, 'seconds': 0.2 * last, 'paused_s': 1,
        'events': total, 'events_lost': 12, 'overhead_share': 0.004, 'processes': 2, 'threads': 5, 'requests': {'read': 1000, 'write': 400, 'flush': 9}, 'bytes': {'read': 10**9, 'write': 10**8},
        'enough': True, 'pattern': words, 'shares': shares, 'request_size': {'read': sizes, 'write': sizes}, 'alignment_bytes': 4096, 'queue_depth': {'mean': 3.2, 'p50': 2, 'max': 256},
        'direct_share': 0.1, 'async_share': 0.2, 'sync': {'kind': 'every', 'requests_between_p50': 4, 'requests_between_mean': 4.9, 'flushed_share': 0.99}, 'footprint_bytes': 4.2e8,
        'working_set_bytes': 5e7, 'caches': [{'bytes': 4096 * 3**i, 'served_share': 1 - 0.7**i} for i in range(9)], 'reused_share': 0.8,
        'skew': {'zipf_theta': 0.9, 'error': 0.1, 'share_of_hottest': [0.2, 0.5, 0.7]}, 'rate': {'mean_bps': 9.1e7, 'busy_share': 0.6, 'read_s': 3.2, 'write_s': 1.1, 'flush_s': 0.4},
        'streams': [{'file': text or f'/srv/db/base/16384/a_table_with_a_name_that_goes_on_for_long_{i}.dat', 'direction': text or 'read', 'requests': 100, 'bytes': 10**8, 'request_size': 8192,
                     'sequential_share': 0.5, 'strided_share': 0.4, 'random_share': 0.1, 'stride_bytes': -65536, 'direct': False, 'handles': 1} for i in range(16)],
        'phases': [{'start_s': 4 * i, 'end_s': 4 * i + 4, 'requests': 2000, 'flushes': 1, 'bytes': 10**8, 'pattern': text or 'randrw:70', 'shares': [0, 0, 0.7, 0.3]} for i in range(phases)],
        'marks': [{'name': text or 'load', 'count': 2, 'first_s': 0.1, 'last_s': 3, 'seconds': 4, 'requests': {'read': 9, 'write': 8, 'flush': 1}, 'bytes': {'read': 999, 'write': 888},
                   'shares': [1, 0, 0, 0]}],
        'marks_lost': 2, 'over_time': {'interval_s': 0.2, 'bytes': [10**7] * last, 'flushes': [0] * last} | kinds,
        'unseen': {'seen_share': 0.9, 'maps': 2, 'mapped_bytes': 1 << 24, 'rings': 1, 'requests': 0, 'refused_lines': 1},
        'hardware': [{'event': text or 'PAPI_TOT_CYC', 'count': 12345678901, 'per_request': 1.3e6, 'per_second': 1e9, 'kernel': False, 'running_share': 0.5}],
        'fixed': {'threads': text or '1'}, 'free': [text or 'queue_depth'], 'current': {'threads': text or '1'}, 'options': ['--pattern', text or 'randrw:70', '--threads', '1'],
    }


def nothing():
    """A document of a program that read and wrote nothing."""
    sizes = {'n': 0, 'p50': 0, 'p99': 0, 'modes': [], 'histogram': []}
    return profile(1) | {
        'seconds': 0, 'paused_s': 0, 'events': 0, 'events_lost': 0, 'pattern': {'name': None}, 'shares': {}, 'request_size': {'read': sizes, 'write': sizes}, 'caches': [], 'streams': [], 'phases': [],
        'marks': [], 'hardware': None, 'requests': {'read': 0, 'write': 0, 'flush': 0}, 'bytes': {'read': 0, 'write': 0}, 'unseen': {'seen_share': None},
        'over_time': {kind: [0] for kind in ('bytes', 'seq_read', 'rand_read', 'seq_write', 'rand_write', 'flushes')} | {'interval_s': 0.004}, 'options': []}


def write(path, document):
    with open(path, 'w', encoding='utf-8') as out:
        json.dump(document, out)
    return path
