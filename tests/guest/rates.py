"""Rates in a guest: what `fstune recommend --guest-atoms` foretells on the host, beside what the guest measures itself."""
import json
import math
import os
import pathlib
import subprocess
import tempfile

# SIZE:DEPTH:API of direct random reads. The rates of both machines wander, and the prediction knows one way of asking only.
SETTINGS = ('4k:1:psync', '4k:8:io_uring', '64k:1:psync')


def fstune(*words):
    done = subprocess.run([os.environ['FSTUNE'], *map(str, words), '--json'], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f'fstune {words[0]}: exit code {done.returncode}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def predicted(folder, guest_atoms):
    """{setting: {"host", "guest", "low", "high"}} in bytes a second: in the folder with the images, and in the guest."""
    with tempfile.TemporaryDirectory(dir=folder, prefix='rates.') as place:
        host, guest = pathlib.Path(place, 'host'), pathlib.Path(place, 'guest')
        guest.write_bytes(guest_atoms)
        host.write_text(json.dumps(fstune('atoms', '--path', place, '--only', 'direct_read_4k,direct_read_64k,direct_read_4k_queued')))
        return {setting: predicted_of(place, setting, '--host-atoms', host, '--guest-atoms', guest) for setting in SETTINGS}


def predicted_of(place, setting, *atoms):
    size, depth, api = setting.split(':')
    answer = fstune('recommend', '--path', place, '--pattern', 'randread', '--request-size', size, '--queue-depth', depth, '--direct', 1,
                    '--api', api, '--file-size', '128m', '--budget', '4s', *atoms, '--quiet')
    inside = answer['guest']['recommended']['throughput_bps']
    return {'host': answer['throughput']['mean'], 'guest': inside['mean'], 'low': inside['ci_low'], 'high': inside['ci_high']}


def measured(results, setting):
    return json.loads(results[f'rate_{setting.replace(":", "_")}'])['throughput']


def complaint(foretold, found):
    """Whether the prediction is worth nothing: the host's own rate, 3 to 25 times the guest's, would have been nearer. How near it is on a
    quiet machine is for docs/impact.md; beside other work both machines' rates change from one second to the next."""
    def apart(rate):
        return abs(math.log(rate / found['mean']))
    return apart(foretold['guest']) >= apart(foretold['host']) and not foretold['low'] <= found['mean'] <= foretold['high']


def words(foretold, found):
    return (f'{foretold["host"] / 1e6:.1f} MB/s here, {foretold["guest"] / 1e6:.2f} foretold ({foretold["low"] / 1e6:.2f} to {foretold["high"] / 1e6:.2f}), '
            f'{found["mean"] / 1e6:.2f} found')
