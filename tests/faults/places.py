"""Places to measure in, made for a test and taken away after it: file systems on loop devices, tmpfs, overlayfs, FUSE, and loop devices themselves.
Needs root. Standard library only."""
import contextlib
import hashlib
import os
import subprocess

SYSTEM_BYTES = 640 << 20
DEVICE_BYTES = 160 << 20
GUARD_BYTES = 1 << 20  # of the image before and behind a device
KEPT_BYTES = 4 << 20   # of a user's file beside ours


def call(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout.strip()


def digest(path, start=0, size=None):
    """Of a file, or of so many of its bytes."""
    found = hashlib.sha256()
    with open(path, 'rb') as file:
        file.seek(start)
        left = size if size is not None else 1 << 62
        while left > 0:
            block = file.read(min(left, 1 << 20))
            if not block:
                break
            found.update(block)
            left -= len(block)
    return found.hexdigest()


class Place:
    """options: that name it to fstune. outside: what fstune must not change, as functions that give a digest."""

    def __init__(self, name, options, folders=(), devices=(), outside=()):
        self.name, self.options, self.folders, self.devices, self.outside = name, list(options), list(folders), list(devices), list(outside)
        self.before = self.state()

    def state(self):
        return [sorted(os.listdir(folder)) for folder in self.folders] + [look() for look in self.outside]

    def write_options(self):
        """What a pattern that writes needs, too."""
        sizes = [call('blockdev', '--getsize64', device) for device in self.devices]
        return ['--overwrite'] + [word for size in sizes for word in ('--destroy-device', size)] if self.devices else []


class Places(contextlib.ExitStack):
    """All that this machine can make, below a folder; `missing` says what it cannot, and why. only: part of a place's name."""

    def __init__(self, folder, faultfs=None, only=''):
        super().__init__()
        self.folder, self.faultfs, self.only, self.made, self.missing = folder, faultfs, only, [], {}

    def __enter__(self):
        super().__enter__()
        makers = {'ext4': self.system, 'xfs': self.system, 'btrfs': self.system, 'tmpfs': self.memory, 'overlayfs': self.overlay, 'FUSE': self.fuse,
                  'loop, 512-byte sectors': self.device, 'loop, 4,096-byte sectors': self.device, 'two file systems': self.two_systems,
                  'two loop devices': self.two_devices}
        for name, make in makers.items():
            if self.only not in name:
                continue
            try:
                self.made.append(make(name))
            except (subprocess.CalledProcessError, OSError) as error:
                self.missing[name] = (getattr(error, 'stderr', '') or str(error)).strip().splitlines()[-1]
        return self

    def path(self, *words):
        return os.path.join(self.folder, '-'.join(words).replace(' ', '').replace(',', '-'))

    def image(self, name, size):
        path = self.path(name, 'image')
        with open(path, 'wb') as file:
            file.truncate(size)
        self.callback(os.unlink, path)
        return path

    def directory(self, name):
        path = self.path(name)
        os.mkdir(path)
        self.callback(os.rmdir, path)
        return path

    def loop(self, *options):
        try:
            device = call('losetup', '-f', '--show', '--direct-io=on', *options)
        except subprocess.CalledProcessError:  # not below this folder
            device = call('losetup', '-f', '--show', *options)
        self.callback(call, 'losetup', '-d', device)
        return device

    def mount(self, name, *options):
        folder = self.directory(name)
        call('mount', *options, folder)
        self.callback(call, 'umount', folder)
        return folder

    def kept(self, folder):
        """A file of a user's beside ours."""
        path = os.path.join(folder, 'kept')
        with open(path, 'wb') as file:
            file.write(os.urandom(KEPT_BYTES))
            os.fsync(file.fileno())
        self.callback(os.unlink, path)
        return lambda: digest(path)

    def formatted(self, name, kind):
        device = self.loop(self.image(name, SYSTEM_BYTES))
        call(f'mkfs.{kind}', '-q', *(['-F'] if kind == 'ext4' else ['-f']), device)
        return self.mount(name, device)

    def in_folder(self, name, folder):
        kept = self.kept(folder)
        return Place(name, ['--path', folder], folders=[folder], outside=[kept])

    def system(self, name):
        return self.in_folder(name, self.formatted(name, name))

    def memory(self, name):
        return self.in_folder(name, self.mount(name, '-t', 'tmpfs', '-o', f'size={SYSTEM_BYTES}', 'none'))

    def overlay(self, name):
        base = self.formatted('overlaybase', 'ext4')
        for part in ('lower', 'upper', 'work'):
            os.mkdir(os.path.join(base, part))
        layers = ','.join(f'{word}dir={base}/{part}' for word, part in (('lower', 'lower'), ('upper', 'upper'), ('work', 'work')))
        return self.in_folder(name, self.mount(name, '-t', 'overlay', '-o', layers, 'none'))

    def fuse(self, name):
        if not self.faultfs or not os.access(self.faultfs, os.X_OK):
            raise OSError('no FUSE file system is built (build/release/faultfs)')
        folder = self.directory(name)
        process = subprocess.Popen([self.faultfs, '-f', folder], stdin=subprocess.DEVNULL)
        self.callback(process.wait)
        self.callback(call, 'umount', folder)
        for _ in range(100):
            if os.path.ismount(folder):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        return self.in_folder(name, folder)

    def guarded(self, name, sector):
        """A device, and what its image holds before and behind it."""
        image = self.image(name, GUARD_BYTES * 2 + DEVICE_BYTES)
        # Written, since holes are read without I/O.
        with open(image, 'r+b') as file:
            for _ in range((2 * GUARD_BYTES + DEVICE_BYTES) >> 20):
                file.write(os.urandom(1 << 20))
            os.fsync(file.fileno())
        device = self.loop('--offset', str(GUARD_BYTES), '--sizelimit', str(DEVICE_BYTES), '--sector-size', sector, image)
        return device, [lambda start=start: digest(image, start, GUARD_BYTES) for start in (0, GUARD_BYTES + DEVICE_BYTES)]

    def device(self, name):
        device, outside = self.guarded(name, '4096' if '4,096' in name else '512')
        return Place(name, ['--existing', device], devices=[device], outside=outside)

    def two_systems(self, name):
        folders = [self.formatted(name + kind, kind) for kind in ('ext4', 'xfs')]
        return Place(name, [word for folder in folders for word in ('--path', folder)], folders=folders, outside=[self.kept(folder) for folder in folders])

    def two_devices(self, name):
        pairs = [self.guarded(name + sector, sector) for sector in ('512', '4096')]
        return Place(name, [word for device, _ in pairs for word in ('--existing', device)], devices=[device for device, _ in pairs],
                     outside=[look for _, looks in pairs for look in looks])
