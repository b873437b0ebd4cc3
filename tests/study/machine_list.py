"""The machines of the study `machines`: what each is made of. Standard library only."""
import collections
import re

MIB = 1 << 20

# system: the file system; "overlay-X" lies over an X. backing: what it stands on, see below. make, mount: options of mkfs and mount. queue: keys of
# /sys/block/DEVICE/queue, and `sector`, the size of a logical block. limit: MiB/s and requests/s that a control group lets through, as 125/3000, of
# reads and of writes apart as 400/8000+100/2000; a dash is no limit. memory: MiB for the program and its page cache, 0: all. server: how a remote
# disk answers, in the words of nbdkit's filters delay and rate, or what is special about an emulated machine's. No overlay has a limit: fstune does
# not see the device below it, so its short runs would show what the limit lets through at once.
Machine = collections.namedtuple('Machine', 'name system backing make mount queue limit memory server', defaults=('', '', '', '', 0, ''))
Limit = collections.namedtuple('Limit', 'bps iops')  # None: none

# Backing: here - the file system of the study's directory itself. disk, memory - a loop device with direct I/O over a file in the directory or in
# /dev/shm, as a virtual machine on a disk or on fast flash; disk-cached, memory-cached - the same through the page cache of the host. zram -
# compressed memory. remote - a loop device over a server of nbdkit that is mounted by FUSE, as a volume in a network, whose limits nobody can see.
# none - a file system without a device. emulated-X - X is in a guest (machine_guest.py), over null_blk in its memory, which answers
# after latency (80us where none is named): null_blk alone, dm-delay (counts ticks of 4 ms and takes one more), dm-crypt, LVM (linear, stripes, thin,
# snapshot: the origin of one), md, and NFS, served and mounted by the same guest over a line to itself, whose round trip takes `line` beside.
MACHINES = (
    Machine('plain-disk', 'here', 'here'),
    Machine('container-disk', 'overlay-here', 'here'),
    Machine('container-disk-256', 'overlay-here', 'here', memory=256),
    Machine('tenant-disk', 'here', 'here', limit='200/3000'),
    Machine('vm-ext4', 'ext4', 'disk'),
    Machine('vm-xfs', 'xfs', 'disk', mount='noatime'),
    Machine('vm-btrfs', 'btrfs', 'disk'),
    Machine('vm-ext4-journal', 'ext4', 'disk', mount='data=journal', queue='scheduler=mq-deadline'),
    Machine('vm-ext4-bfq', 'ext4', 'disk', mount='noatime', queue='scheduler=bfq'),
    Machine('vm-xfs-deadline', 'xfs', 'disk', queue='scheduler=mq-deadline sector=4096'),
    Machine('vm-ext4-192', 'ext4', 'disk', memory=192),
    Machine('vm-capped', 'xfs', 'disk', mount='noatime', limit='250/5000'),
    Machine('image-ext4', 'ext4', 'disk-cached'),
    Machine('image-xfs', 'xfs', 'disk-cached', queue='scheduler=mq-deadline'),
    Machine('image-btrfs-zstd', 'btrfs', 'disk-cached', mount='compress=zstd'),
    Machine('image-ext4-256', 'ext4', 'disk-cached', memory=256),
    Machine('image-overlay', 'overlay-ext4', 'disk-cached'),
    Machine('flash-ext4', 'ext4', 'memory'),
    Machine('flash-xfs', 'xfs', 'memory'),
    Machine('flash-btrfs', 'btrfs', 'memory'),
    Machine('flash-ext4-1k', 'ext4', 'memory', make='-b 1024'),
    Machine('flash-ext4-bare', 'ext4', 'memory', make='-O ^has_journal', mount='noatime'),
    Machine('flash-ext4-journal', 'ext4', 'memory', mount='data=journal'),
    Machine('flash-ext4-sync', 'ext4', 'memory', mount='sync'),
    Machine('flash-ext2', 'ext2', 'memory', mount='noatime', queue='scheduler=mq-deadline'),
    Machine('flash-ext4-4kn', 'ext4', 'memory', queue='scheduler=kyber sector=4096'),
    Machine('flash-xfs-4kn', 'xfs', 'memory', mount='noatime', queue='sector=4096 read_ahead_kb=4096'),
    Machine('flash-xfs-bfq', 'xfs', 'memory', queue='scheduler=bfq'),
    Machine('flash-btrfs-nocow', 'btrfs', 'memory', mount='nodatacow'),
    Machine('flash-btrfs-zstd', 'btrfs', 'memory', mount='compress-force=zstd'),
    Machine('flash-overlay', 'overlay-ext4', 'memory', queue='scheduler=mq-deadline'),
    Machine('flash-overlay-xfs', 'overlay-xfs', 'memory'),
    Machine('sata-ext4', 'ext4', 'memory', queue='scheduler=mq-deadline max_sectors_kb=128 nr_requests=32', limit='520/90000'),
    Machine('sata-xfs', 'xfs', 'memory', queue='scheduler=bfq max_sectors_kb=128 nr_requests=32', limit='500/80000'),
    Machine('no-read-ahead', 'ext4', 'memory', queue='read_ahead_kb=0'),
    Machine('flash-xfs-192', 'xfs', 'memory', memory=192),
    Machine('cached-ext4', 'ext4', 'memory-cached'),
    Machine('cached-xfs', 'xfs', 'memory-cached', queue='scheduler=mq-deadline'),
    Machine('cloud-50-ext4', 'ext4', 'memory', limit='50/500'),
    Machine('cloud-50-xfs', 'xfs', 'memory', mount='noatime', queue='scheduler=mq-deadline', limit='50/500'),
    Machine('cloud-125-ext4', 'ext4', 'memory', limit='125/3000'),
    Machine('cloud-125-xfs', 'xfs', 'memory', mount='noatime', queue='scheduler=mq-deadline', limit='125/3000'),
    Machine('cloud-125-btrfs', 'btrfs', 'memory', limit='125/3000'),
    Machine('cloud-125-256', 'ext4', 'memory', limit='125/3000', memory=256),
    Machine('cloud-200-ext4', 'ext4', 'memory', queue='scheduler=mq-deadline', limit='200/3000'),
    Machine('cloud-200-xfs', 'xfs', 'memory', queue='sector=4096', limit='200/3000'),
    Machine('cloud-600-ext4', 'ext4', 'memory', mount='noatime', limit='600/12000'),
    Machine('cloud-600-xfs', 'xfs', 'memory', limit='600/12000'),
    Machine('cloud-600-btrfs', 'btrfs', 'memory', mount='compress=zstd', limit='600/12000'),
    Machine('cloud-1000-xfs', 'xfs', 'memory', mount='noatime', queue='scheduler=kyber', limit='1000/40000'),
    Machine('uneven-ext4', 'ext4', 'memory', limit='400/8000+100/2000'),
    Machine('uneven-xfs', 'xfs', 'memory', queue='scheduler=mq-deadline', limit='250/6000+60/1500'),
    Machine('requests-1000', 'ext4', 'memory', queue='scheduler=mq-deadline', limit='-/1000'),
    Machine('requests-5000', 'xfs', 'memory', limit='-/5000'),
    Machine('bytes-80', 'ext4', 'memory', limit='80/-'),
    Machine('bytes-300', 'xfs', 'memory', queue='scheduler=mq-deadline', limit='300/-'),
    Machine('remote-1-ext4', 'ext4', 'remote', queue='scheduler=mq-deadline', server='rdelay=1ms wdelay=1ms'),
    Machine('remote-1-xfs', 'xfs', 'remote', mount='noatime', server='rdelay=1ms wdelay=1ms'),
    Machine('remote-1-btrfs', 'btrfs', 'remote', server='rdelay=1ms wdelay=1ms'),
    Machine('remote-2-container', 'overlay-ext4', 'remote', memory=256, server='rdelay=2ms wdelay=2ms'),
    Machine('remote-3-ext4', 'ext4', 'remote', server='rdelay=3ms wdelay=3ms'),
    Machine('remote-uneven-xfs', 'xfs', 'remote', queue='scheduler=mq-deadline', server='rdelay=1ms wdelay=3ms'),
    Machine('remote-gigabit-ext4', 'ext4', 'remote', mount='noatime', server='rate=1G burstiness=0.02 rdelay=1ms wdelay=1ms'),
    Machine('remote-gigabit-xfs', 'xfs', 'remote', queue='scheduler=mq-deadline', server='rate=1G burstiness=0.02 rdelay=1ms wdelay=1ms'),
    Machine('remote-2-gigabit', 'ext4', 'remote', queue='sector=4096', server='rate=2G burstiness=0.02 rdelay=2ms wdelay=2ms'),
    Machine('volume-125-ext4', 'ext4', 'remote', limit='125/3000', server='rdelay=1ms wdelay=1ms'),
    Machine('volume-250-xfs', 'xfs', 'remote', mount='noatime', queue='scheduler=mq-deadline', limit='250/4000', server='rdelay=1ms wdelay=1ms'),
    Machine('volume-60-xfs', 'xfs', 'remote', limit='60/750', server='rdelay=2ms wdelay=2ms'),
    Machine('ram-tmpfs', 'tmpfs', 'none'),
    Machine('ram-tmpfs-768', 'tmpfs', 'none', memory=768),
    Machine('ram-ramfs', 'ramfs', 'none'),
    Machine('zram-ext4', 'ext4', 'zram'),
    Machine('zram-xfs', 'xfs', 'zram'),
    Machine('fuse', 'fuse', 'none'),
    Machine('fuse-writeback', 'fuse', 'none', mount='writeback'),
    Machine('guest-null-ext4', 'ext4', 'emulated-null', server='latency=80us'),
    Machine('guest-null-xfs', 'xfs', 'emulated-null', server='latency=2ms'),
    Machine('guest-delay-8-ext4', 'ext4', 'emulated-delay', server='delay=4ms'),
    Machine('guest-delay-16-xfs', 'xfs', 'emulated-delay', server='delay=12ms'),
    Machine('guest-crypt-ext4', 'ext4', 'emulated-crypt', server='cipher=aes-xts'),
    Machine('guest-lvm-ext4', 'ext4', 'emulated-linear', server='latency=200us'),
    Machine('guest-lvm-stripes-xfs', 'xfs', 'emulated-stripes', server='latency=200us'),
    Machine('guest-lvm-thin-ext4', 'ext4', 'emulated-thin', server='latency=80us'),
    Machine('guest-lvm-snapshot-ext4', 'ext4', 'emulated-snapshot', server='latency=80us'),
    Machine('guest-mirror-xfs', 'xfs', 'emulated-md', server='level=raid1 latency=400us'),
    Machine('guest-raid0-ext4', 'ext4', 'emulated-md', server='level=raid0 latency=400us'),
    Machine('guest-nfs3-sync', 'nfs', 'emulated-nfs', mount='vers=3', server='export=sync'),
    Machine('guest-nfs4-async', 'nfs', 'emulated-nfs', mount='vers=4.2', server='export=async'),
    Machine('guest-nfs3-lan', 'nfs', 'emulated-nfs', mount='vers=3', server='export=async line=500us'),
    Machine('guest-nfs4-lan', 'nfs', 'emulated-nfs', mount='vers=4.2', server='export=sync line=500us latency=400us'),
    Machine('guest-nfs4-far', 'nfs', 'emulated-nfs', mount='vers=4.2,rsize=65536,wsize=65536', server='export=sync line=4ms'),
)


def settings_of(text):
    """{key: value} of key=value, as a queue or a server has them."""
    return dict(word.split('=', 1) for word in text.split())


def is_emulated(machine):
    return machine.backing.startswith('emulated-')


def limit_of(machine, way):
    """What may be read, or written, in a second."""
    if not machine.limit:
        return Limit(None, None)
    ways = machine.limit.split('+')
    mib, iops = re.fullmatch(r'(\d+|-)/(\d+|-)', ways[-1] if way == 'write' else ways[0]).groups()
    return Limit(None if mib == '-' else int(mib) * MIB, None if iops == '-' else int(iops))
