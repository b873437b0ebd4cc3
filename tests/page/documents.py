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


def write(path, document):
    with open(path, 'w', encoding='utf-8') as out:
        json.dump(document, out)
    return path
