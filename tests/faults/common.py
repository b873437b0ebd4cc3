"""What the scripts of this folder share: running fstune under a time limit and judging how it ended. Standard library only."""
import os
import signal
import subprocess
import time

# What the shell shows for a program that a signal killed; fstune itself ends with the same numbers.
BY_SIGNAL = {number: 128 + number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL)}


def find_program(wish):
    program = os.path.abspath(wish or os.environ.get('FSTUNE', 'build/release/fstune'))
    if not os.access(program, os.X_OK):
        raise SystemExit(f'{program}: is not built; run make')
    return program


def shell_code(returncode):
    return 128 - returncode if returncode < 0 else returncode


class Outcome:
    """How a run ended: exit code as the shell shows it, lines on stderr, stdout, seconds; hung where it had to be killed."""

    def __init__(self, code, out, err, seconds, hung):
        self.code, self.out, self.seconds, self.hung = code, out, seconds, hung
        # A sanitizer's report or the plan line are no error lines; only the latter is expected.
        self.lines = [line for line in err.splitlines() if line and not line.startswith('plan: ')]

    def faults(self, allowed, quiet_codes=(0, 3)):
        """What is wrong with it, as a list of texts: the code, the number of lines, the form of the line."""
        if self.hung:
            return ['hung']
        found = [] if self.code in allowed else [f'exit code {self.code}']
        if self.code in (1, 2) and len(self.lines) != 1:
            found.append(f'{len(self.lines)} lines on stderr')
        found += [f'not a clear line: {line}' for line in self.lines if not line.startswith('fstune: ')]
        if self.code in quiet_codes and self.lines:
            found.append(f'a line on stderr although it succeeded: {self.lines[0]}')
        return found


def run(command, limit, **options):
    """Runs it; kills it at the limit (seconds)."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors='replace', **options)
    hung = False
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        hung = True
        process.kill()
        out, err = process.communicate()
    return Outcome(shell_code(process.returncode), out, err, time.monotonic() - start, hung)


def print_table(title, counts):
    """counts: {row: (cases, passed, text)}"""
    print(title)
    for row, (cases, passed, text) in counts.items():
        print(f'  {row:<44} {cases:>5} cases  {passed:>5} as expected  {text}')
