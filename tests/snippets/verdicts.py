"""The lines of a check: "ok WHAT", "skip WHAT: reason", "FAIL WHAT: details"; leave() ends it with the exit code."""
import os
import re
import shutil
import subprocess
import sys

failures = []


def judge(holds, what, details=''):
    if holds:
        print(f'ok {what}', flush=True)
    else:
        text = ' '.join(str(details).split())[-600:]
        print(f'FAIL {what}: {text}', flush=True)
        failures.append(what)
    return bool(holds)


def skip(what, reason):
    print(f'skip {what}: {reason}', flush=True)


def judge_list(what, wrong):
    """wrong: a list of what is wrong; empty where all is well."""
    return judge(not wrong, what, '; '.join(map(str, wrong)))


def judge_wrong(what, wrong):
    """A snippet that is wrong on purpose: all is well only where that was seen."""
    return judge(bool(wrong), f'a wrong snippet is seen: {what}', 'it passed as right')


def leave():
    sys.exit(1 if failures else 0)


def find(*names):
    """The path of the first of these programs that is there, else None."""
    for name in names:
        path = shutil.which(name, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
        if path:
            return path
    return None


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=120, **options)


def settings(text, comment='#'):
    """KEY = VALUE lines outside comments, as a dict; a repeated key fails."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r'\s*([A-Za-z_]+) ?= ?(.*)', line)
        if match and not line.startswith(comment):
            assert match[1] not in found, f'{match[1]} is set twice'
            found[match[1]] = match[2]
    return found
