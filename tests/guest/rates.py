"""Rates in a guest: what `fstune recommend --guest-atoms` foretells on the host, beside what the guest measures itself."""
import json
import os
import subprocess

# SIZE:DEPTH:API of direct random reads. The rates of both machines wander, and the prediction knows one way of asking only.
SETTINGS = ('4k:1:psync', '4k:8:io_uring', '64k:1:psync')
MOST_APART = 3  # the host's own rates are 3 to 10 times those of the emulated guest


def fstune(*words):
    done = subprocess.run([os.environ['FSTUNE'], *map(str, words), '--json'], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f'fstune {words[0]}: exit code {done.returncode}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def predicted(folder, guest_atoms, setting):
    """{"host", "guest", "low", "high"} in bytes a second: of the setting in the folder with the images, and in the guest."""
    size, depth, api = setting.split(':')
    host, guest = folder / 'host_atoms.json', folder / 'guest_atoms.json'
    guest.write_bytes(guest_atoms)
    if not host.exists():
        host.write_text(json.dumps(fstune('atoms', '--path', folder, '--only', 'direct_read_4k,direct_read_64k,direct_read_4k_queued')))
    answer = fstune('recommend', '--path', folder, '--pattern', 'randread', '--request-size', size, '--queue-depth', depth, '--direct', 1,
                    '--api', api, '--file-size', '128m', '--budget', '4s', '--host-atoms', host, '--guest-atoms', guest, '--quiet')
    inside = answer['guest']['recommended']['throughput_bps']
    return {'host': answer['throughput']['mean'], 'guest': inside['mean'], 'low': inside['ci_low'], 'high': inside['ci_high']}


def measured(results, setting):
    return json.loads(results[f'rate_{setting.replace(":", "_")}'])['throughput']


def complaint(foretold, found):
    """Neither nearer than MOST_APART nor within both intervals: the prediction is of another machine."""
    apart = max(foretold['guest'] / found['mean'], found['mean'] / foretold['guest'])
    return apart > MOST_APART and not foretold['low'] <= found['mean'] <= foretold['high']


def words(foretold, found):
    return (f'{foretold["host"] / 1e6:.1f} MB/s here, {foretold["guest"] / 1e6:.2f} foretold ({foretold["low"] / 1e6:.2f} to {foretold["high"] / 1e6:.2f}), '
            f'{found["mean"] / 1e6:.2f} found')
