"""Places for the writes of cawl_validation, and a guard that undoes everything. Standard library only."""
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

MIB = 1 << 20
VM = '/proc/sys/vm/'
LIMITS = ('dirty_background_bytes', 'dirty_background_ratio', 'dirty_bytes', 'dirty_ratio')
THROTTLE = '/sys/fs/cgroup/blkio/blkio.throttle.{}_bps_device'
MAKE = {'xfs': ['mkfs.xfs', '-q', '-f'], 'ext4': ['mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=0,lazy_journal_init=0']}


held = []  # open files with locks, kept until the end


class Skip(Exception):
    """Why something cannot be done on this machine."""


class Guard:
    """A process that outlives this one, whatever ends it, and then runs the commands it was told, the last one first."""

    def __init__(self):
        # What this process has not yet written must not be written by the guard too.
        read_fd, self.fd = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.fd)
            os.setsid()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
                signal.signal(number, signal.SIG_IGN)
            with os.fdopen(read_fd) as lines:
                commands = lines.read().splitlines()
            for command in reversed(commands):
                subprocess.run(['/bin/sh', '-c', command], stdin=subprocess.DEVNULL, check=False)
            os._exit(0)
        os.close(read_fd)

    def add(self, command):
        """To be told before the deed: what was not done is undone without harm."""
        os.write(self.fd, (command + '\n').encode())

    def end(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skip(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def require_root(*programs):
    if os.geteuid() != 0:
        raise Skip('only root can')
    for program in programs:
        if shutil.which(program, path=os.environ.get('PATH', '') + ':/sbin:/usr/sbin') is None:
            raise Skip(f'{program} is not installed')


def file_system_of(path):
    """Type of the file system that holds the path."""
    best, kind = '', 'unknown'
    real = os.path.realpath(path)
    with open('/proc/self/mountinfo', encoding='utf-8', errors='replace') as lines:
        for line in lines:
            left, _, right = line.partition(' - ')
            point = re.sub(r'\\([0-7]{3})', lambda match: chr(int(match.group(1), 8)), left.split()[4])
            if (real + '/').startswith(point.rstrip('/') + '/') and len(point) >= len(best):
                best, kind = point, right.split()[0]
    return kind


def write_image(path, size):
    """Every block written: a hole would be filled during the measurement."""
    with open(path, 'wb') as image:
        block = os.urandom(16 * MIB)
        for _ in range(size // len(block)):
            image.write(block)
        image.flush()
        os.fsync(image.fileno())


def mount_loop(guard, base, size, kind='xfs'):
    """A new file system on a loop device without a second page cache. Returns its directory and the device's name."""
    require_root('losetup', MAKE[kind][0], 'mount')
    folder = os.path.join(base, f'fstune-{kind}-{os.getpid()}')
    image, point = os.path.join(folder, 'image'), os.path.join(folder, kind)
    guard.add(f"rmdir {shlex.quote(folder)}")
    os.mkdir(folder)
    guard.add(f"rmdir {shlex.quote(point)}")
    os.mkdir(point)
    guard.add(f"rm -f {shlex.quote(image)}")
    write_image(image, size)
    # losetup -j finds it by the image: its number is known only after the deed.
    guard.add(f"losetup -j {shlex.quote(image)} -O NAME -n | while read -r name; do losetup -d \"$name\"; done")
    device = output_of('losetup', '--direct-io=on', '--show', '-f', image)
    output_of(*MAKE[kind], device)
    # A child of a killed study may still hold it for a while.
    mounted = shlex.quote(point)
    guard.add(f'for i in $(seq 120); do mountpoint -q {mounted} || break; umount {mounted} && break; sleep 1; done')
    output_of('mount', '-o', 'nodiscard', device, point)
    return point, os.path.basename(device)


def throttle(guard, device, rate_bps, way='write'):
    """Slows a device to a known rate. Writeback is charged to the root group of version 1, whose limits count too."""
    limits = THROTTLE.format(way)
    if not os.path.exists(limits):
        raise Skip('there is no blkio controller of cgroup version 1, which could slow a device')
    with open(f'/sys/block/{device}/dev', encoding='ascii') as file:
        number = file.read().strip()
    guard.add(f"echo '{number} 0' >{limits}")
    with open(limits, 'w', encoding='ascii') as file:
        file.write(f'{number} {rate_bps}')


def set_limits(guard, background, hard):
    """Dirty memory of the whole machine, for whoever holds this lock, which `calibrate --set-dirty-limits` takes too."""
    require_root()
    held.append(open(VM + 'dirty_bytes', encoding='ascii'))
    try:
        fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise Skip('somebody else has set the limits of dirty memory') from error
    for name in LIMITS:
        with open(VM + name, encoding='ascii') as file:
            value = file.read().strip()
        if value != '0':
            guard.add(f'echo {value} >{VM}{name}')
    with open(VM + 'dirty_background_bytes', 'w', encoding='ascii') as file:
        file.write(str(background))
    with open(VM + 'dirty_bytes', 'w', encoding='ascii') as file:
        file.write(str(hard))


def settle_limits(folder, hard, seconds):
    """Linux lets the limit at which writers wait come down slowly (1/32 of the way in 200 ms), and only while somebody writes so much that it counts."""
    block, end = os.urandom(MIB), time.monotonic() + seconds
    fd = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    while time.monotonic() < end:
        for i in range(2 * hard // MIB):
            os.pwrite(fd, block, i * MIB)
            if time.monotonic() >= end:
                break
    # xfs gives the blocks of a removed file back later.
    os.ftruncate(fd, 0)
    os.fsync(fd)
    os.close(fd)
    os.sync()
    time.sleep(2)
