"""Guests whose init sends a frame for each step of theirs: how they are made and booted, and what a step came to."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import image
import initramfs
import machine

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = {machine.QEMU: 'qemu-system-x86', 'cpio': 'cpio', 'mke2fs': 'e2fsprogs', 'strip': 'binutils', 'setpriv': 'util-linux'}
APPLETS = ('sh mount umount stty echo base64 sha256sum cut cat insmod sleep mkdir ls grep ip kill mke2fs poweroff [').split()
DISKS = ('vda', 'vdb', 'vdc')


class Step:
    """What a step of the guest came to."""

    def __init__(self, frame):
        code, out, err = (frame.decode().split('\n') + ['', ''])[:3]
        self.code, self.out, self.err = int(code), base64.b64decode(out).decode(), base64.b64decode(err).decode().strip()

    def names(self):
        return self.out.split()

    def document(self):
        return json.loads(self.out)

    def system(self):
        return self.document()['system']

    def items(self):
        """doctor's: {name: all that it found}"""
        found = {}
        for item in self.document()['checks']:
            found.setdefault(item['name'], []).append(item['found'])
        return found

    def __str__(self):
        return f'exit code {self.code}, {self.err or self.out[:400]}'


def prepare(folder, programs, modules, applets, init, tools=None, plugins=()):
    """Kernel and initramfs; None, and why it was skipped, where something is missing."""
    if os.uname().machine != 'x86_64':
        return None, 'the guest is an amd64 one'
    missing = [package for tool, package in (TOOLS | (tools or {})).items() if not shutil.which(tool)]
    if missing:
        return None, f'missing packages: {" ".join(missing)}'
    folder.mkdir(parents=True, exist_ok=True)
    fetched = subprocess.run([HERE / 'fetch', folder / 'debian'], stdout=subprocess.PIPE, text=True, check=False)
    if fetched.returncode != 0:
        return None, fetched.stdout.strip()
    debian, target = folder / 'debian', folder / init
    initramfs.build(debian / 'kernel', debian / 'busybox/bin/busybox', programs, target, modules, applets, init, plugins)
    return (next(debian.glob('kernel/boot/vmlinuz-*')), target), ''


def make_disks(work):
    """Three that hold the same ext4."""
    pathlib.Path(work, 'digest').write_text(image.make(f'{work}/vda.img', size=384 << 20), encoding='ascii')
    for name in DISKS[1:]:
        shutil.copy(f'{work}/vda.img', f'{work}/{name}.img')


def digest_of(work):
    """Of the file that the disks bring along."""
    return pathlib.Path(work, 'digest').read_text(encoding='ascii')


def guest(work, kernel, disk, scene, extra=(), commands=False):
    """Whatever stands in `scene`, NAME=VALUE too, is for the guest's init."""
    lines = ' '.join(f'-drive file={name}.img,if=virtio,format=raw' for name in DISKS)
    return machine.Machine(work, lines, ['-m', '768', '-kernel', str(kernel), '-initrd', str(disk), '-append',
                                         f'{machine.KERNEL_WORDS} scene={scene}', *extra], commands=commands)


def run(started, stop_after=None):
    """{step: Step}, seconds."""
    seconds = started.run(int(os.environ.get('GUEST_TIMEOUT', '300')), stop_after)
    return {name: Step(frame) for name, frame in started.results().items()}, seconds['off']


def boot(work, kernel, disk, scene, extra=(), stop_after=None):
    """stop_after: the power fails when that step was sent."""
    with guest(work, kernel, disk, scene, extra) as started:
        started.connect()
        return run(started, stop_after)


def boot_afresh(folder, kernel, disk, scene, extra=()):
    with tempfile.TemporaryDirectory(dir=folder, prefix='boot.') as work:
        make_disks(work)
        return boot(work, kernel, disk, scene, extra)
