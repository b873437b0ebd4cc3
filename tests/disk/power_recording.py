"""A served image on a file system whose device is recorded, under a load, while its settings change."""
import contextlib
import os
import random
import subprocess
import tempfile
import threading
import time

from disk import Disk, Switcher
from power_client import BLOCK, Client
from power_log import Log

MIB = 1 << 20
DEVICE_BYTES, IMAGE_BYTES = 64 * MIB, 8 * MIB
FLUSH_US = 1000
N_CLIENTS = 2
PINNED_SHARE = 1 / 3  # of the time of a load
EVICT_SECONDS, LOOK_SECONDS = 0.02, 0.006
MAKERS = {'ext4': (['mkfs.ext4', '-q', '-F', '-E', 'nodiscard,lazy_itable_init=0,lazy_journal_init=0'],),
          'xfs': (['mkfs.xfs', '-q', '-f', '-K', '--unsupported'], ['mkfs.xfs', '-q', '-f', '-K'])}


class Missing(Exception):
    """What this machine lacks."""


def call(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout.strip()


def unmount(folder):
    """Also where somebody interrupted the mount, and nobody knows whether it was made. The kernel may keep a file of a killed process for a moment."""
    end = time.monotonic() + 5
    while os.path.ismount(folder) and time.monotonic() < end:
        if subprocess.run(['umount', folder], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return
        time.sleep(0.02)


@contextlib.contextmanager
def memory_folder(parent):
    """Devices and logs are big and short-lived, so no disk needs to see them. A log that is still mapped keeps its memory for so long."""
    with tempfile.TemporaryDirectory(prefix='fstune-power-', dir=parent) as folder:
        call('mount', '-t', 'tmpfs', '-o', 'mode=700', 'power', folder)
        try:
            yield folder
        finally:
            call('umount', '-l', folder)


def make_system(system, device):
    """Small file systems of xfs need an option that older programs do not know."""
    for command in MAKERS[system]:
        result = subprocess.run([*command, device], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode == 0:
            return
    raise Missing(f'{command[0]}: {result.stderr.strip()}')


def make_image(path, kind):
    with open(path, 'wb') as file:
        file.truncate(IMAGE_BYTES)
        if kind == 'full':
            file.write(bytes(IMAGE_BYTES))
        os.fsync(file.fileno())
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def end_process(process):
    """It ends by itself once it is unmounted; where that came before its mount, it has to be told."""
    for seconds, end in ((2, None), (5, process.terminate), (5, process.kill)):
        if end is not None:
            end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


def wait_for_mount(folder, process):
    end = time.monotonic() + 5
    while not os.path.ismount(folder):
        if process.poll() is not None or time.monotonic() > end:
            raise Missing('a file system of FUSE cannot be mounted here')
        time.sleep(0.01)


def free_devices(file):
    for device in call('losetup', '--noheadings', '--output', 'NAME', '--associated', file).splitlines():
        call('losetup', '--detach', device)


def make_device(file):
    try:
        return call('losetup', '--find', '--show', '--direct-io=on', file)
    except subprocess.CalledProcessError as error:
        raise Missing(f'no loop device: {error.stderr.strip()}') from error


@contextlib.contextmanager
def recorded_system(recorder, system, folder):
    """A mounted file system whose device is recorded to the file `log` in the folder, which is whole afterwards."""
    below, mounted = os.path.join(folder, 'below'), os.path.join(folder, 'mounted')
    os.makedirs(below)
    os.makedirs(mounted)
    with contextlib.ExitStack() as undo:
        # In a session of its own, Ctrl-C does not end it before what lies over it.
        process = subprocess.Popen([recorder, '-f', '-o', f'log={folder}/log,size={DEVICE_BYTES},flush_us={FLUSH_US}', below],
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        undo.callback(end_process, process)
        undo.callback(subprocess.run, ['umount', '-l', below], stderr=subprocess.DEVNULL, check=False)
        wait_for_mount(below, process)
        undo.callback(free_devices, os.path.join(below, 'disk'))
        device = make_device(os.path.join(below, 'disk'))
        make_system(system, device)
        undo.callback(unmount, mounted)
        call('mount', device, mounted)
        yield mounted
    if process.returncode != 0:
        raise OSError('the recorder failed, and its log may not be whole')


class Looper(threading.Thread):
    """Takes a step again and again, until it is stopped."""

    def __init__(self, pause_seconds, seed):
        super().__init__(daemon=True)
        self.random, self.pause_seconds, self.is_over = random.Random(seed), pause_seconds, threading.Event()
        self.start()

    def run(self):
        while not self.is_over.wait(self.random.random() * self.pause_seconds):
            self.step()

    def stop(self):
        self.is_over.set()
        self.join()


class Evictor(Looper):
    """Has the kernel write out cached pages without a flush, as it does when memory is short."""

    def __init__(self, image, seed):
        self.file = os.open(image, os.O_RDONLY)
        super().__init__(EVICT_SECONDS, seed)

    def step(self):
        os.posix_fadvise(self.file, self.random.randrange(0, IMAGE_BYTES, BLOCK), IMAGE_BYTES // 4, os.POSIX_FADV_DONTNEED)

    def stop(self):
        super().stop()
        os.close(self.file)


class Watcher(Looper):
    """Notes when it was changed between cached and direct, and when another setting than the first was tried, as ranges of ns."""

    def __init__(self, disk):
        self.disk, self.seen_ns, self.n_changes, self.n_trials, self.changing, self.trying = disk, time.monotonic_ns(), 0, 0, [], []
        super().__init__(LOOK_SECONDS, 0)

    def step(self):
        status = dict(line.split(': ', 1) for line in self.disk.ask('status').splitlines())
        seen = (self.seen_ns, time.monotonic_ns())
        n_changes = int(status['phases'].split(': ')[1])
        n_ended, n_dropped = status['trials'].split(',')[:2]
        if n_changes > self.n_changes:
            self.changing.append(seen)
        if status['state'] == 'tuning' and status['setting'] != 'cached':
            self.trying.append(seen)
        self.n_changes, self.n_trials, self.seen_ns = n_changes, int(n_ended) + int(n_dropped.split()[0]), seen[1]


class Recording:
    """One load on one kind of place: the log of the device, and the requests of the clients."""

    def __init__(self, options, place, seed, environment=None):
        self.place, self.seed, self.folder = place, seed, tempfile.mkdtemp(prefix='recording-', dir=options.dir)
        with recorded_system(options.recorder, place[0], self.folder) as mounted:
            image = os.path.join(mounted, 'image')
            make_image(image, place[1])
            disk = Disk(options.plugin, image, 'regret=50%', folder=self.folder, environment=environment)
            try:
                self.load(disk, options.seconds)
                said = disk.stop()
            except BaseException:
                disk.kill()
                raise
        self.faults += [said] if said else []
        self.log = Log(os.path.join(self.folder, 'log'))
        os.unlink(os.path.join(self.folder, 'log'))

    def load(self, disk, seconds):
        """At first the settings are pinned one after the other, then the plugin makes its trials."""
        per_client = IMAGE_BYTES // BLOCK // N_CLIENTS
        self.begin_ns = time.monotonic_ns()
        clients, others = [], []
        try:
            for i in range(N_CLIENTS):
                clients.append(Client(disk.connect(), range(i * per_client, (i + 1) * per_client), i, seconds, self.seed * N_CLIENTS + i))
            others.append(Switcher(disk, self.seed))
            others.append(Evictor(disk.image, self.seed))
            others.append(Watcher(disk))
            time.sleep(seconds * PINNED_SHARE)
            others[0].stop()
            disk.ask('unpin')
            for client in clients:
                client.join()
        finally:
            for thread in others + clients:
                thread.stop()
        self.end_ns = time.monotonic_ns()
        self.watched = others[2]
        self.faults = [client.fault for client in clients if client.fault is not None]
        self.requests = [request for client in clients for request in client.requests]

    def __str__(self):
        return (f'recorded {self.place[0]}, {self.place[1]} image: {len(self.requests)} writes and flushes, {len(self.log.records)} of the device, '
                f'{self.watched.n_changes} changes, {self.watched.n_trials} trials')
