"""Disk images: an ext4 that brings a file along, and what a guest has left in it. Needs e2fsprogs and qemu-img, no mount."""
import hashlib
import os
import pathlib
import subprocess
import tempfile

SIZE = 256 << 20


def make(path, form='raw', size=SIZE):
    """A disk with ext4 on it that holds the file "from_host"; returns that file's checksum."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as root:
        contents = os.urandom(1 << 20)
        pathlib.Path(root, 'from_host').write_bytes(contents)
        of_folder(path, root, size)
    convert(path, 'raw', form)
    return hashlib.sha256(contents).hexdigest()


def of_folder(path, root, size):
    """A disk with ext4 on it that holds what stands in a folder."""
    with open(path, 'wb') as file:
        file.truncate(size)
    subprocess.run(['mke2fs', '-q', '-F', '-t', 'ext4', '-d', root, path], check=True)


def is_clean(path):
    """Whether e2fsck has nothing to say of an ext4 that nobody uses; it changes nothing."""
    return subprocess.run(['e2fsck', '-f', '-n', path], capture_output=True, check=False).returncode == 0


def convert(path, old, new):
    if old != new:
        subprocess.run(['qemu-img', 'convert', '-f', old, '-O', new, path, f'{path}.new'], check=True)
        os.rename(f'{path}.new', path)


def sum_inside(path, form, name):
    """The checksum of a file of the ext4 in an image that nobody uses any more."""
    convert(path, form, 'raw')
    done = subprocess.run(['debugfs', '-R', f'cat /{name}', path], capture_output=True, check=True)
    return hashlib.sha256(done.stdout).hexdigest()
