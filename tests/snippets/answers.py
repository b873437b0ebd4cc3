"""Answers of `fstune recommend --json` made to order, for the checks of snippets."""
import json
import os
import subprocess

STANDARD = {'request_size': 65536, 'queue_depth': 8, 'direct': 1, 'api': 'io_uring', 'threads': 1, 'sync': 'end'}


def answer(pattern='randwrite', system=None, **setting):
    """The document as a dict: the standard setting with what is given changed."""
    rate = {'unit': 'bytes/s', 'mean': 1.21e9, 'ci_low': 1.18e9, 'ci_high': 1.24e9, 'std': 2e7, 'replays': 7, 'confidence': 0.95}
    return {
        'schema': 'fstune/recommendation/1', 'version': '0.1.0', 'interrupted': False, 'pattern': {'name': pattern},
        'recommendation': STANDARD | setting, 'throughput': rate, 'iops': {'mean': 18463.0}, 'latency_ns': {'mean': 430000, 'p99': 1200000},
        'probability_within_tolerance': 0.97, 'conclusive': True, 'baseline': {'is_default': True, 'speedup': {'mean': 2.9, 'ci_low': 2.7, 'ci_high': 3.1}},
        'system': {'simulated': False, 'hostname': 'store1', 'kernel': '6.1.0', 'path': '/var/lib/vms', 'measured_at': '2024-02-03T04:05:06Z',
                   'file_system': 'ext4', 'device': 'nvme0n1'} | (system or {}),
    }


def emit(form, document, *options):
    """(exit code, snippet, what stands on stderr) of fstune emit."""
    done = subprocess.run([os.environ['FSTUNE'], 'emit', form, *options], input=json.dumps(document), text=True, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr
