"""A QEMU that is started paused with some disk's options, looked at, and ended."""
import os
import re
import shutil
import subprocess
import threading

PROGRAM = 'qemu-system-x86_64'
BASE = ['-S', '-nodefaults', '-display', 'none', '-machine', 'q35,accel=tcg', '-m', '64', '-monitor', 'stdio']
PROMPT = b'(qemu) '
O_DIRECT = 0o40000
SECONDS = 60


def is_there():
    return shutil.which(PROGRAM) is not None


def can_direct(folder):
    """Whether a file there can be opened past the page cache."""
    path = os.path.join(folder, 'probe.img')
    with open(path, 'wb') as file:
        file.truncate(1 << 20)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_DIRECT))
        return True
    except OSError:
        return False


def can_io_uring(folder):
    """Whether this host lets QEMU have io_uring; the folder is one that can_direct was asked about."""
    return look(['-blockdev', 'driver=file,node-name=probe,filename=probe.img,aio=io_uring'], 'probe.img', folder).code == 0


class Seen:
    """code, stderr; of a QEMU that started: flags of every descriptor of the image, `info block`, `info qtree`."""

    def __init__(self):
        self.code, self.stderr, self.flags, self.block, self.qtree = None, '', [], '', ''


def flags_of(pid, image):
    """Open flags of each descriptor of the process that is this file."""
    found, real = [], os.path.realpath(image)
    for fd in os.listdir(f'/proc/{pid}/fd'):
        try:
            if os.readlink(f'/proc/{pid}/fd/{fd}') != real:
                continue
            with open(f'/proc/{pid}/fdinfo/{fd}', encoding='ascii') as lines:
                found += [int(line.split()[1], 8) for line in lines if line.startswith('flags:')]
        except FileNotFoundError:
            pass
    return found


def answer_of(process, command=None):
    """What the monitor prints up to its next prompt; less where it ended."""
    text = b''
    if command is not None:
        process.stdin.write(command.encode() + b'\n')
        process.stdin.flush()
    while not text.endswith(PROMPT):
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece:
            break
        text += piece
    return text.decode(errors='replace')


def look(arguments, image, folder=None):
    seen = Seen()
    process = subprocess.Popen([PROGRAM, *BASE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    guard = threading.Timer(SECONDS, process.kill)
    guard.start()
    try:
        if answer_of(process).endswith(PROMPT.decode()):
            seen.flags = flags_of(process.pid, os.path.join(folder or '.', image))
            seen.block, seen.qtree = answer_of(process, 'info block'), answer_of(process, 'info qtree')
        _, errors = process.communicate(b'quit\n')
    except BrokenPipeError:
        errors = process.stderr.read()
        process.wait()
    finally:
        guard.cancel()
    seen.code, seen.stderr = process.returncode, errors.decode(errors='replace')
    return seen


def properties(seen, name):
    """Values of a property in `info qtree`, of whatever device has it."""
    return re.findall(rf'^\s*{re.escape(name)} = "?(\w+)', seen.qtree, re.MULTILINE)


def faults(seen, direct, writethrough, expected=None):
    """What is not as it was asked for. expected: values of devices' properties."""
    if seen.code != 0 or seen.stderr.strip():
        return [f'exit code {seen.code}, stderr "{seen.stderr.strip()}"']
    wrong = []
    if not seen.flags:
        wrong.append('no descriptor of the image')
    if any(bool(flags & O_DIRECT) != bool(direct) for flags in seen.flags):
        wrong.append(f'O_DIRECT is not {bool(direct)} on every descriptor: flags {[oct(flags) for flags in seen.flags]}')
    modes = re.findall(r'Cache mode:\s+(.*)', seen.block)
    mode = ('writethrough' if writethrough else 'writeback') + (', direct' if direct else '')
    if [each.strip() for each in modes] != [mode]:
        wrong.append(f'cache mode {modes} instead of {mode}')
    for name, value in (expected or {}).items():
        if str(value) not in properties(seen, name):
            wrong.append(f'{name} is {properties(seen, name)} instead of {value}')
    return wrong
