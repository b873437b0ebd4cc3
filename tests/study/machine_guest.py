"""Machines of the study `machines` that the kernel of this computer cannot make: in a guest of tests/guest, whose processor QEMU emulates.

The guest's clock counts instructions, 4 ns each, and what it waits for comes at once (-icount). Its disks are two of null_blk in its memory, which answer
after a time by that clock. So the figures are those of a slow processor, and a busy host has hardly any part in them.
Standard library only."""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

from cawl_places import Skip
from machine_list import settings_of

HERE = pathlib.Path(__file__).resolve().parent
BUILT = HERE.parents[1] / 'build'
sys.path.append(str(HERE.parent / 'guest'))
import shell  # noqa: E402 pylint: disable=wrong-import-position
import steps  # noqa: E402 pylint: disable=wrong-import-position

MODULES = ('virtio_pci', 'virtio_blk', 'ext4', 'xfs', 'crc32c_generic', 'nfsd', 'nfsv3', 'nfsv4', 'sch_netem', 'null_blk', 'dm_delay', 'dm_snapshot',
           'dm_thin_pool', 'dm_crypt', 'xts', 'ecb', 'aes_generic', 'raid0', 'raid1')
APPLETS = (*(name for name in steps.APPLETS if name != 'mke2fs'), 'hostname', 'date', 'rmmod')
TOOLS = {'/sbin/mke2fs': 'e2fsprogs', '/sbin/mkfs.xfs': 'xfsprogs', '/sbin/lvm': 'lvm2', '/sbin/tc': 'iproute2'}
EXTRA = ('-m', '2048', '-icount', 'shift=2,sleep=off')
FLASH_US = 80
SECONDS = '900'  # for a command of the guest, which a busy host stretches
KEY = '00' * 32  # of dm-crypt

# By their paths: busybox has an mke2fs of its own.
MAKE = {'ext4': '/bin/mke2fs -q -F -t ext4 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0', 'xfs': '/bin/mkfs.xfs -q -f -K'}
MAPPED = '/dev/$(dm create mapped $(cat /sys/block/nullb0/size) {})'
GROUP = 'volumes vgcreate group /dev/nullb0 /dev/nullb1 >/tmp/log; '
EXPORTS = {'sync': 9218, 'async': 9234}  # see serve_nfs

# kind: (what makes the store of the machine, its device, what takes it away), in the shell of the guest
STORES = {
    'null': (':', '/dev/nullb0', ':'),
    'delay': (':', MAPPED.format('delay "/dev/nullb0 0 {delay}"'), 'dm remove mapped'),
    'crypt': (':', MAPPED.format(f'crypt "aes-xts-plain64 {KEY} 0 /dev/nullb0 0"'), 'dm remove mapped'),
    'md': ('array md127 {level} nullb0 nullb1', '/dev/md127', 'echo clear >/sys/block/md127/md/array_state'),
    'linear': (GROUP + 'volumes lvcreate -L 1g -n volume group >>/tmp/log', '/dev/group/volume', 'volumes vgremove -f group'),
    'stripes': (GROUP + 'volumes lvcreate -L 1g -i 2 -n volume group >>/tmp/log', '/dev/group/volume', 'volumes vgremove -f group'),
    'thin': (GROUP + 'volumes lvcreate --type thin-pool -L 1g -n pool group >>/tmp/log; volumes lvcreate -V 1g --thin -n volume group/pool >>/tmp/log',
             '/dev/group/volume', 'volumes vgremove -f group'),
    # A snapshot is there, and what is written to its origin copies what was there before.
    'snapshot': (GROUP + 'volumes lvcreate -L 1g -n volume group >>/tmp/log; volumes lvcreate -s -L 500m -n before group/volume >>/tmp/log',
                 '/dev/group/volume', 'volumes vgremove -f group'),
}
# What the server's tables name is let go of a little later.
END_NFS = ('umount /mnt; echo 0 >/proc/fs/nfsd/threads; for cache in nfsd.fh nfsd.export auth.unix.ip; do date +%s >/proc/net/rpc/$cache/flush; done; '
           'for i in $(seq 50); do umount /export && break; sleep 0.1; done; umount /proc/fs/nfsd; kill $(pidof nfs3)')


class Host:
    """A machine that stands in the guest."""

    def __init__(self, guest):
        self.guest, self.folder = guest, '/mnt'

    def run(self, command, _seconds):
        """Of a fstune: exit code, output, errors."""
        step = self.guest.told(f'fstune {shlex.join(command[1:])}')
        return step.code, step.out, step.err


class Guest:
    """Boots when it is first told something, and again after it failed."""

    def __init__(self, guard, folder):
        self.guard, self.folder, self.shell = guard, folder, None

    def boot(self):
        os.environ['GUEST_TIMEOUT'] = SECONDS
        programs = [BUILT / 'static' / name for name in ('fstune', 'dm', 'nfs3')]
        missing = [str(path) for path in programs if not path.exists()]
        if missing:
            raise Skip(f'make {" ".join(missing)}')
        os.environ['PATH'] += ':/usr/sbin:/sbin'
        made, why = steps.prepare(BUILT / 'guest', [*programs, *TOOLS], MODULES, APPLETS, 'init_shell', TOOLS)
        if made is None:
            raise Skip(why)
        self.guard.add(f'rm -rf {shlex.quote(self.folder)}/guest.*')
        self.shell = shell.Shell(tempfile.mkdtemp(dir=self.folder, prefix='guest.'), *made, extra=EXTRA)
        self.shell.__enter__()

    def told(self, command):
        try:
            if self.shell is None:
                self.boot()
            return self.shell.run(command)
        except (RuntimeError, ValueError) as error:
            self.close()
            raise Skip(f'guest: {error}') from error

    def close(self):
        if self.shell is not None:
            self.shell.__exit__()
            shutil.rmtree(self.shell.work)
            self.shell = None


def nanoseconds(text):
    number, unit = re.fullmatch(r'(\d+)(us|ms)', text).groups()
    return int(number) * {'us': 1000, 'ms': 1000000}[unit]


def nfs(machine, words):
    """What serves and mounts it, and what ends it; in the guest, too, whose line to itself may be slow."""
    line = f'/bin/tc qdisc add dev lo root netem delay {nanoseconds(words["line"]) // 2000}us limit 10000; ' if 'line' in words else ''
    version, _, options = machine.mount.partition(',')
    mount = 'nfs3 mount 127.0.0.1 $(nfs3 handle /export) /mnt' if version == 'vers=3' else f"mount_nfs4 2 {',' + options if options else ''}"
    serve = f'{MAKE["ext4"]} /dev/nullb0 && serve_nfs {EXPORTS[words["export"]]} /dev/nullb0; '
    return serve + line + mount, END_NFS + ('; /bin/tc qdisc del dev lo root' if line else '')


def recipe(machine):
    """The commands that make it at /mnt, and those that take it away."""
    kind, words = machine.backing.partition('-')[2], settings_of(machine.server)
    if kind == 'nfs':
        make, end = nfs(machine, words)
    else:
        build, device, take = (text.format(level=words.get('level'), delay=nanoseconds(words.get('delay', '0us')) // 1000000) for text in STORES[kind])
        make = f'{build}; device={device}; {MAKE[machine.system]} $device && mount -t {machine.system} $device /mnt'
        end = f'umount /mnt; {take}'
    flash = nanoseconds(words.get('latency', f'{FLASH_US}us'))
    return (f'insmod /modules/null_blk.ko nr_devices=2 gb=1 memory_backed=1 irqmode=2 completion_nsec={flash} queue_mode=2 hw_queue_depth=64; '
            f'wait_for /dev/nullb1; {make}'), f'{end}; rmmod null_blk'


@contextlib.contextmanager
def made(guest, machine):
    """The machine as a Host. A guest in which something does not come or go as it should is not used again."""
    make, end = recipe(machine)
    try:
        step = guest.told(make)
        if step.code != 0:
            raise Skip(str(step))
        yield Host(guest)
    except BaseException:
        guest.close()
        raise
    if guest.told(end).code != 0:
        guest.close()
