"""Phases of an emulated guest (QEMU with TCG) on a served disk, which begins with an ext4 of files: it boots and reads them all, or it copies them and waits for
the disk. Standard library only."""
import os
import pathlib
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'guest'))
import image  # noqa: E402 pylint: disable=wrong-import-position
import shell  # noqa: E402 pylint: disable=wrong-import-position
import steps  # noqa: E402 pylint: disable=wrong-import-position

MODULES = ('virtio_pci', 'virtio_blk', 'ext4', 'crc32c_generic')
APPLETS = (*steps.APPLETS, 'find', 'cp', 'rm', 'sync')
FILES_FROM = ('/usr/lib/python3.11', '/usr/share/perl', '/usr/lib/git-core')
SYSTEM_BYTES = 384 << 20  # of the ext4: the files, and room for a copy
MOUNTED = 'wait_for /dev/vdd; mount -t ext4 /dev/vdd /mnt && '
UNMOUNT = '; code=$?; umount /mnt && [ $code = 0 ]'
PHASES = {'guest-boot': MOUNTED + 'find /mnt/files -type f -exec cat {} + >/dev/null' + UNMOUNT,
          'guest-copy': MOUNTED + 'rm -rf /mnt/copy && cp -r /mnt/files /mnt/copy && sync && rm -r /mnt/copy' + UNMOUNT}


def make_system(path):
    """An ext4 of SYSTEM_BYTES in the file; the bytes of its files."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as root:
        for name in FILES_FROM:
            if os.path.isdir(name):
                shutil.copytree(name, f'{root}/files{name}', symlinks=True)
        image.of_folder(path, root, SYSTEM_BYTES)
        return sum(file.stat().st_size for file in pathlib.Path(root).rglob('*') if file.is_file() and not file.is_symlink())


class Guests:
    """The kernel that all boots share, and a place for each."""

    def __init__(self, n_bytes):
        os.environ['PATH'] += ':/usr/sbin:/sbin'
        self.n_bytes = n_bytes
        self.made, why = steps.prepare(HERE.parents[1] / 'build/guest', [], MODULES, APPLETS, 'init_shell')
        if self.made is None:
            raise SystemExit(f'phases of a guest: {why}')

    def run(self, phase, disk):
        """Bytes of the files a second, from power on until the guest is done with them."""
        extra = ('-drive', f'file=nbd:unix:{disk.socket},if=virtio,format=raw,cache=writeback')
        with tempfile.TemporaryDirectory(dir='/dev/shm') as work:
            begun = time.monotonic()
            with shell.Shell(work, *self.made, disk_bytes=1 << 20, extra=extra) as guest:
                step = guest.run(PHASES[phase])
            seconds = time.monotonic() - begun
        if step.code != 0:
            raise SystemExit(f'{phase}: the guest failed: {step}')
        return {'bps': self.n_bytes / seconds}
