"""The guest of vm_prediction that QEMU emulates (TCG): a Linux of Debian, whose disk has the programs of this machine.

Its disk is a copy in memory of what programs need here; what the study keeps in a directory stands in /mnt there, and comes back when it is over.
Standard library only."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'guest'))
import shell  # noqa: E402 pylint: disable=wrong-import-position
import steps  # noqa: E402 pylint: disable=wrong-import-position

MODULES = ('virtio_pci', 'virtio_blk', 'ext4', 'crc32c_generic')
APPLETS = (*steps.APPLETS, 'chroot', 'sync')
# Directories of programs and libraries, and what in them is large and needed by none of the study's programs.
COPIED = ('/etc', '/usr/bin', '/usr/sbin', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/include', '/usr/share/perl', '/usr/share/perl5', '/usr/share/git-core',
          '/usr/share/doc/gcc-12-base')
LEFT_OUT = ('*LLVM*', '*clang*', 'llvm*', 'libgcj*', 'chromium*', 'qemu*', 'modules', 'firmware', 'dri', 'debug', 'jvm', '*-data')
ROOM_BYTES = 1 << 30


def make_root(out, root):
    """A tree with the programs, with the links of /, and with `out` in its /mnt."""
    for name in ('proc', 'sys', 'dev', 'tmp', 'mnt', 'usr'):
        (root / name).mkdir()
    for name in os.listdir('/'):
        if os.path.islink(f'/{name}'):
            os.symlink(os.readlink(f'/{name}'), root / name)
    for name in COPIED:
        if os.path.isdir(name):
            shutil.copytree(name, root / name[1:], symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT), dirs_exist_ok=True)
    shutil.copytree(out, root / 'mnt', symlinks=True, dirs_exist_ok=True)
    for place in (HERE, HERE.parent / 'guest'):
        shutil.copytree(place, root / str(place)[1:])


def make_disk(out, work):
    with tempfile.TemporaryDirectory(dir=work) as root:
        make_root(out, pathlib.Path(root))
        listed = subprocess.run(['du', '-s', '--block-size=1', root], capture_output=True, text=True, check=True)
        with open(f'{work}/root.img', 'wb') as disk:
            disk.truncate(int(int(listed.stdout.split()[0]) * 1.1) + ROOM_BYTES)
        subprocess.run(['mke2fs', '-q', '-F', '-t', 'ext4', '-d', root, f'{work}/root.img'], check=True)


@contextlib.contextmanager
def mounted(disk):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(['mount', '-o', 'loop', disk, place], check=True)
        try:
            yield place
        finally:
            subprocess.run(['umount', place], check=True)


def alone(guest, cpu):
    """All threads of QEMU on one processor, at real-time priority; those that serve the emulated processor go before it."""
    pid, thread = guest.process.pid, guest.ask('query-cpus-fast')[0]['thread-id']
    for command in (['taskset', '-a', '-cp', cpu, str(pid)], ['chrt', '-a', '-f', '-p', '11', str(pid)], ['chrt', '-f', '-p', '10', str(thread)]):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def boot(out, cpu, seconds):
    """Runs /mnt/init of the guest, which is out/init, and brings back what it left in /mnt."""
    os.environ['GUEST_TIMEOUT'] = str(seconds)
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    made, why = steps.prepare(HERE.parents[1] / 'build/guest', [], MODULES, APPLETS, 'init_shell')
    if made is None:
        raise SystemExit(why)
    with tempfile.TemporaryDirectory(dir='/dev/shm') as work:
        make_disk(out, work)
        extra = ('-m', '2048', '-drive', 'file=root.img,if=virtio,format=raw')
        with shell.Shell(work, *made, disk_bytes=1 << 20, extra=extra) as guest:
            alone(guest.guest, cpu)
            step = guest.run('wait_for /dev/vdd; mount -t ext4 /dev/vdd /mnt && mount -t devtmpfs d /mnt/dev && '
                             'chroot /mnt /mnt/init; umount /mnt/tmp /mnt/sys /mnt/proc /mnt/dev; umount /mnt')
        if step.code != 0:
            raise SystemExit(f'the guest failed: {step}')
        with mounted(f'{work}/root.img') as root:
            shutil.copytree(f'{root}/mnt', out, symlinks=True, dirs_exist_ok=True)
