"""A guest that is told what to do, a command at a time; its init is init_shell."""
import os
import pathlib

import machine
import steps

GIB = 1 << 30


class Shell:
    """A booted guest in the directory `work`, with three empty disks of that many bytes. Use it in a with statement: leaving that ends it."""

    def __init__(self, work, kernel, disk, disk_bytes=GIB, extra=()):
        self.work = pathlib.Path(work)
        for name in steps.DISKS:
            with open(self.work / f'{name}.img', 'wb') as file:
                file.truncate(disk_bytes)
        os.mkfifo(self.work / 'talk.in')
        os.symlink('/dev/null', self.work / 'talk.out')
        # Both ends at once, because opening one waits for the other.
        self.commands = os.open(self.work / 'talk.in', os.O_RDWR | os.O_CLOEXEC)
        self.guest = steps.guest(work, kernel, disk, 'shell', extra, commands=True)

    def __enter__(self):
        self.guest.connect()
        steps.run(self.guest, 'ready')
        return self

    def __exit__(self, *_):
        self.guest.__exit__()
        os.close(self.commands)

    def run(self, command):
        """Its Step, once it has ended."""
        os.truncate(self.work / 'results', 0)
        os.write(self.commands, command.encode() + b'\n')
        return steps.run(self.guest, 'ended')[0]['ended']
