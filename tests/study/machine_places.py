"""Makes the machines of the study `machines`, one at a time, and takes them away again, whatever ends the study. Needs root.
Standard library only."""
import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import time

import cawl_places
import machine_guest
from cawl_places import Guard, Skip, output_of
from machine_list import MIB, is_emulated, limit_of, settings_of

IMAGE_BYTES = 1024 * MIB
MEMORY = '/dev/shm'
GROUPS = '/sys/fs/cgroup/{}'
# No discards: holes in an image would be filled while something is measured.
MAKE = {'ext2': ['mkfs.ext2', '-q', '-F', '-E', 'nodiscard'],
        'ext4': ['mkfs.ext4', '-q', '-F', '-E', 'nodiscard,lazy_itable_init=0,lazy_journal_init=0'],
        'xfs': ['mkfs.xfs', '-q', '-f', '-K'], 'btrfs': ['mkfs.btrfs', '-q', '-f', '-K']}
FAULTFS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../build/release/faultfs')
PATIENCE_S = 20
PR_SET_PDEATHSIG = 1


class Host:
    """A machine that stands: folder is the place to measure; groups are control groups that a program has to enter."""

    def __init__(self, folder, groups):
        self.folder, self.groups = folder, groups

    def enter(self):
        """For the child that is about to be the program: it ends with the study, so that what it measures can be taken away."""
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        for group in self.groups:
            write(os.path.join(group, 'cgroup.procs'), os.getpid())

    def run(self, command, seconds):
        """Exit code, output, errors."""
        done = subprocess.run(command, preexec_fn=self.enter, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=seconds)
        return done.returncode, done.stdout, done.stderr


def write(path, value):
    with open(path, 'w', encoding='ascii') as file:
        file.write(str(value))


def read(path):
    with open(path, encoding='ascii') as file:
        return file.read().strip()


def patient(command):
    """A program that was killed may hold what is to be taken away for a while."""
    return f'for i in $(seq 60); do {command} && break; sleep 1; done 2>/dev/null'


def ended(pid_file, left):
    """Ends a server, and awaits it, because a mount of FUSE goes with it; a zombie has ended. Then removes what it left."""
    pid_file, left = shlex.quote(pid_file), shlex.quote(left)
    return (f'pid=$(cat {pid_file} 2>/dev/null) && kill $pid && while grep -qs "^State:.[^Z]" /proc/$pid/status; do sleep 0.1; done; '
            f'rm -f {pid_file} {left}')


class Workshop:
    """A folder on the disk and one in memory, with an image in each that all machines use in turn."""

    def __init__(self, guard, directory):
        self.folders = {place: os.path.join(base, f'fstune-machines-{os.getpid()}') for place, base in
                        (('disk', os.path.realpath(directory)), ('memory', MEMORY))}
        self.guard, self.images = guard, {}
        for folder in self.folders.values():
            guard.add(f'rmdir {shlex.quote(folder)}')
            os.mkdir(folder)
        self.guest = machine_guest.Guest(guard, self.folders['memory'])

    def image(self, place):
        """Written once: its blocks stay where they are, whatever file system stood in it."""
        if place not in self.images:
            path = os.path.join(self.folders[place], 'image')
            if shutil.disk_usage(self.folders[place]).free < 2 * IMAGE_BYTES:
                raise Skip(f'too little room in {self.folders[place]}')
            self.guard.add(f'rm -f {shlex.quote(path)}')
            cawl_places.write_image(path, IMAGE_BYTES)
            self.images[place] = path
        return self.images[place]


class Builder:
    """Of one machine. What is done is undone by the guard, the last thing first."""

    def __init__(self, guard, workshop, machine):
        self.guard, self.workshop, self.machine = guard, workshop, machine

    def folder(self, name):
        path = os.path.join(self.workshop.folders['disk'], name)
        self.guard.add(f'rmdir {shlex.quote(path)}')
        os.mkdir(path)
        return path

    def tree(self, base):
        """A folder whose contents go with it."""
        path = os.path.join(base, f'fstune-{os.getpid()}')
        self.guard.add(f'rm -rf --one-file-system {shlex.quote(path)}')
        os.mkdir(path)
        return path

    def mount(self, name, *words):
        folder = self.folder(name)
        path = shlex.quote(folder)
        self.guard.add(patient(f'{{ ! mountpoint -q {path} || umount {path}; }}'))
        output_of('mount', *words, folder)
        return folder

    def loop(self, image, direct):
        """losetup -j finds it by the image: its number is known only after the deed."""
        self.guard.add(patient(f'losetup -j {shlex.quote(image)} -O NAME -n | while read -r name; do losetup -d "$name"; done; '
                               f'[ -z "$(losetup -j {shlex.quote(image)})" ]'))
        sector = settings_of(self.machine.queue).get('sector', '512')
        return output_of('losetup', '--find', '--show', f'--direct-io={"on" if direct else "off"}', '--sector-size', sector, image)

    def zram(self):
        number = read('/sys/class/zram-control/hot_add')
        self.guard.add(patient(f'echo {number} >/sys/class/zram-control/hot_remove'))
        write(f'/sys/block/zram{number}/disksize', IMAGE_BYTES)
        return f'/dev/zram{number}'

    def remote(self):
        """Both programs have a session of their own: what interrupts the study must not take the disk away from below a file system."""
        folder = self.workshop.folders['disk']
        socket, image, server, client = (os.path.join(folder, name) for name in ('socket', 'remote', 'server', 'client'))
        self.guard.add(ended(server, socket))
        filters = ['--filter=rate', '--filter=delay'] if 'rate' in self.machine.server else ['--filter=delay']
        start(['nbdkit', '-U', socket, '-P', server, *filters, 'memory', str(IMAGE_BYTES), *self.machine.server.split()])
        wait_until(lambda: os.path.exists(socket), 'nbdkit did not start')
        self.guard.add(ended(client, image))
        write(image, '')
        start(['nbdfuse', '-P', client, image, f'nbd+unix:///?socket={socket}'])
        wait_until(lambda: os.path.getsize(image) == IMAGE_BYTES and os.path.exists(client), 'nbdfuse did not start')
        return self.loop(image, direct=True)

    def device(self):
        kind, _, cached = self.machine.backing.partition('-')
        if kind == 'zram':
            return self.zram()
        if kind == 'remote':
            return self.remote()
        return self.loop(self.workshop.image(kind), direct=cached == '')

    def set_queue(self, device):
        for key, value in settings_of(self.machine.queue).items():
            path = f'/sys/block/{os.path.basename(device)}/queue/{key}'
            if key == 'sector':
                continue
            old = read(path)
            # The chosen one of several stands in brackets. A loop device keeps these for its next user.
            self.guard.add(f"echo {old.partition('[')[2].partition(']')[0] or old} >{path}")
            try:
                write(path, value)
            except OSError as error:
                raise Skip(f'{path}: {value}: {error.strerror}') from error

    def system(self, kind):
        """A folder with this file system."""
        if kind == 'here':
            return self.tree(self.workshop.folders['disk'])
        if kind == 'tmpfs':
            return self.mount('system', '-t', kind, '-o', f'size={IMAGE_BYTES}', 'none')
        if kind == 'ramfs':
            return self.mount('system', '-t', kind, 'none')
        if kind == 'fuse':
            return self.fuse()
        device = self.device()
        self.set_queue(device)
        cawl_places.require_root(MAKE[kind][0])
        output_of(*MAKE[kind], *self.machine.make.split(), device)
        return self.mount('system', '-t', kind, *(['-o', self.machine.mount] if self.machine.mount else []), device)

    def overlay(self, base):
        tree = self.tree(base)
        for part in ('lower', 'upper', 'work'):
            os.mkdir(os.path.join(tree, part))
        return self.mount('overlay', '-t', 'overlay', '-o', ','.join(f'{part}dir={tree}/{part}' for part in ('lower', 'upper', 'work')), 'none')

    def fuse(self):
        if not os.access(FAULTFS, os.X_OK):
            raise Skip('no FUSE file system is built (build/release/faultfs)')
        folder = self.folder('system')
        self.guard.add(patient(f'{{ ! mountpoint -q {shlex.quote(folder)} || umount {shlex.quote(folder)}; }}'))
        start([FAULTFS, '-f', *(['-o', self.machine.mount] if self.machine.mount else []), folder])
        wait_until(lambda: os.path.ismount(folder), 'the FUSE file system did not start')
        return folder

    def group(self, controller):
        base = GROUPS.format(controller)
        if not os.path.isdir(base):
            raise Skip(f'there is no controller {controller} of cgroup version 1')
        path = os.path.join(base, f'fstune-machines-{os.getpid()}')
        self.guard.add(patient(f'{{ [ ! -d {path} ] || rmdir {path}; }}'))
        os.mkdir(path)
        return path

    def limits(self, folder):
        group, number = self.group('blkio'), device_number(folder)
        for way in ('read', 'write'):
            limit = limit_of(self.machine, way)
            for key, value in (('bps', limit.bps), ('iops', limit.iops)):
                if value is not None:
                    write(os.path.join(group, f'blkio.throttle.{way}_{key}_device'), f'{number} {value}')
        return group

    def room(self):
        group = self.group('memory')
        write(os.path.join(group, 'memory.limit_in_bytes'), self.machine.memory * MIB)
        return group

    def build(self):
        over, _, below = self.machine.system.partition('-')
        base = self.system(below or over)
        groups = [self.limits(base)] if self.machine.limit else []
        groups += [self.room()] if self.machine.memory else []
        return Host(self.overlay(base) if below else base, groups)


def start(words):
    """A server of this machine, which the guard ends."""
    if shutil.which(words[0]) is None:
        raise Skip(f'{words[0]} is not installed')
    # pylint: disable-next=consider-using-with
    subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def wait_until(ready, failure):
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        if time.monotonic() > deadline:
            raise Skip(failure)
        time.sleep(0.05)


def device_number(folder):
    """Of the whole disk below a file system: limits are not kept for parts of it. A btrfs has a number of its own instead of its device's."""
    source = output_of('findmnt', '-n', '-o', 'SOURCE', '--target', folder)
    device = os.stat(source).st_rdev
    path = os.path.realpath(f'/sys/dev/block/{os.major(device)}:{os.minor(device)}')
    return read(os.path.join(os.path.dirname(path) if os.path.exists(os.path.join(path, 'partition')) else path, 'dev'))


@contextlib.contextmanager
def made(workshop, machine):
    """The machine as a Host; Skip says what cannot be made here."""
    if is_emulated(machine):
        with machine_guest.made(workshop.guest, machine) as host:
            yield host
        return
    guard = Guard()
    try:
        yield Builder(guard, workshop, machine).build()
    except OSError as error:
        raise Skip(str(error)) from error
    finally:
        guard.end()


@contextlib.contextmanager
def opened(directory):
    """A Workshop for as long as the study lasts."""
    cawl_places.require_root('losetup', 'mount')
    guard = Guard()
    try:
        workshop = Workshop(guard, directory)
        try:
            yield workshop
        finally:
            workshop.guest.close()
    finally:
        guard.end()
