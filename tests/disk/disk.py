"""A served disk image and its clients, for the checks beside this file."""
import os
import random
import socket
import subprocess
import threading
import time

import nbd

PINS = ('cached', 'direct', 'cached,out=64k', 'cached,ahead=1m', 'cached,ahead=none,pieces=64k', 'direct,pieces=64k', 'cached,ahead=4m,pieces=128k')


class Disk:
    """nbdkit with the plugin over an image; more are the plugin's parameters; nbdkit's own have no control socket. environment: what is
    added to that of nbdkit. command: what to run instead, which listens at the same place. Direct requests are tried however small the
    image is, unless kept is True."""

    def __init__(self, plugin, image, *more, folder, controlled=True, environment=None, command=None, kept=False):
        self.image, self.socket, self.control = image, os.path.join(folder, 'disk'), os.path.join(folder, 'control')
        for name in (self.socket, self.control):
            if os.path.exists(name):
                os.unlink(name)
        self.errors = open(os.path.join(folder, 'errors'), 'w+', encoding='utf-8')
        control = [f'control={self.control}', *([] if kept else ['cache=0'])] if controlled else []
        command = command or ['nbdkit', '-f', '-U', self.socket, plugin, f'file={image}', *control, *more]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=self.errors, env={**os.environ, **(environment or {})})

    @property
    def uri(self):
        return f'nbd+unix:///?socket={self.socket}'

    def connect(self):
        """A client that sends what it is told to; the first one waits until somebody listens."""
        end = time.monotonic() + 10
        while True:
            handle = nbd.NBD()
            handle.set_strict_mode(0)
            try:
                handle.connect_unix(self.socket)
                return handle
            except nbd.Error:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise
            time.sleep(0.005)

    def ask(self, command):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(self.control)
            control.sendall(command.encode())
            with control.makefile() as answer:
                return answer.read()

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.errors.close()

    def stop(self):
        """Ends it as an operator does; what it said."""
        self.process.terminate()
        self.process.wait(20)
        said = self.said()
        self.errors.close()
        return said


class Switcher(threading.Thread):
    """Pins one setting after the other until it is stopped."""

    def __init__(self, disk, seed, pause_seconds=0.01):
        super().__init__(daemon=True)
        self.disk, self.random, self.pause_seconds, self.is_over = disk, random.Random(seed), pause_seconds, False
        self.start()

    def run(self):
        while not self.is_over:
            try:
                self.disk.ask('pin ' + self.random.choice(PINS))
            except OSError:
                return
            time.sleep(self.random.random() * self.pause_seconds)

    def stop(self):
        self.is_over = True
        self.join()
