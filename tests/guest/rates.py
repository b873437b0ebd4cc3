"""Rates in a guest: what `fstune recommend --guest-atoms` foretells on the host, beside what the guest measures itself."""
import json
import os
import pathlib
import subprocess
import tempfile

# SIZE:DEPTH:API of direct random reads. The rates of both machines wander, and the prediction knows one way of asking only.
SETTINGS = ('4k:1:psync', '4k:8:io_uring', '64k:1:psync')
MOST_APART = 3  # the host's own rates are 3 to 10 times those of the emulated guest


def fstune(*words):
    done = subprocess.run([os.environ['FSTUNE'], *map(str, words), '--json'], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f'fstune {words[0]}: exit code {done.returncode}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def predicted(folder, results):
    """{setting: {"host", "guest", "low", "high"}} in bytes a second: in the folder with the images, and in the guest by its tests before and after
    its rates, since a busy machine changes meanwhile: "guest" has both, and the interval holds both."""
    with tempfile.TemporaryDirectory(dir=folder, prefix='rates.') as place:
        host = pathlib.Path(place, 'host')
        host.write_text(json.dumps(fstune('atoms', '--path', place, '--only', 'direct_read_4k,direct_read_64k,direct_read_4k_queued')))
        turns = []
        for name in ('atoms', 'atoms_after'):
            guest = pathlib.Path(place, name)
            guest.write_bytes(results[name])
            turns.append({setting: predicted_of(place, setting, '--host-atoms', host, '--guest-atoms', guest) for setting in SETTINGS})
        return {setting: both([turn[setting] for turn in turns]) for setting in SETTINGS}


def both(turns):
    return {'host': turns[0]['host'], 'guest': sorted(turn['guest'] for turn in turns), 'low': min(turn['low'] for turn in turns),
            'high': max(turn['high'] for turn in turns)}


def predicted_of(place, setting, *atoms):
    size, depth, api = setting.split(':')
    answer = fstune('recommend', '--path', place, '--pattern', 'randread', '--request-size', size, '--queue-depth', depth, '--direct', 1,
                    '--api', api, '--file-size', '128m', '--budget', '4s', *atoms, '--quiet')
    inside = answer['guest']['recommended']['throughput_bps']
    low, high = (inside['mean'] if inside[end] is None else inside[end] for end in ('ci_low', 'ci_high'))
    return {'host': answer['throughput']['mean'], 'guest': inside['mean'], 'low': low, 'high': high}


def measured(results, setting):
    return json.loads(results[f'rate_{setting.replace(":", "_")}'])['throughput']


def complaint(foretold, found):
    """Whether what was measured is more than MOST_APART times from what was foretold, and not in the interval of that."""
    low, high = foretold['guest']
    is_near = low / MOST_APART <= found['mean'] <= high * MOST_APART
    return not is_near and not foretold['low'] <= found['mean'] <= foretold['high']


def words(foretold, found):
    low, high = foretold['guest']
    return (f'{foretold["host"] / 1e6:.1f} MB/s here, {low / 1e6:.2f} and {high / 1e6:.2f} foretold ({foretold["low"] / 1e6:.2f} to '
            f'{foretold["high"] / 1e6:.2f}), {found["mean"] / 1e6:.2f} found')
