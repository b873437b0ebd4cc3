"""QEMU with the lines of a snippet: started paused, let run to the guest's end, asked what it did."""
import base64
import hashlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import time

QEMU = 'qemu-system-x86_64'
# What a kernel is started with. Its check of the timer fails, and it stops there, where the host gives QEMU no processor for some milliseconds.
KERNEL_WORDS = 'console=ttyS0 quiet panic=-1 no_timer_check'
# The second serial port of a guest that reads commands there, too: from the FIFO talk.in. What it says goes to talk.out, and, appended, to `results`.
TALKS = ['-chardev', 'pipe,id=talk,path=talk,logfile=results,logappend=on', '-serial', 'chardev:talk']
CALLS = 'io_uring_enter,io_submit,pread64,pwrite64,preadv,pwritev,fdatasync,fsync'


def without_comments(snippet):
    return '\n'.join(line for line in snippet.splitlines() if not line.startswith('#'))


def arguments(snippet):
    """The lines as a shell hands them to QEMU, without the comments."""
    return shlex.split(without_comments(snippet))


def option(snippet, pattern):
    """The first group of a regular expression in the snippet, None where it does not match."""
    found = re.search(pattern, without_comments(snippet))
    return found.group(1) if found else None


def frames(text):
    """{name: bytes} of what came through the serial port; ValueError where a frame is damaged."""
    found = {}
    for name, body, digest in re.findall(r'^BEGIN (\w+)\r?\n(.*?)^END \1 (\w*)', text, re.S | re.M):
        try:
            data = base64.b64decode(body)
        except ValueError as error:
            raise ValueError(f'frame {name}: {error}') from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise ValueError(f'frame {name}: the checksum is wrong')
        found[name] = data
    return found


class Machine:
    """A paused QEMU in the directory `work`; commands: see TALKS. Use it in a with statement: leaving that kills it."""

    alive = set()

    def __init__(self, work, lines, extra=(), strace=False, commands=False):
        self.work = work
        command = [QEMU, '-S', '-nodefaults', '-no-user-config', '-display', 'none', '-machine', 'q35,accel=tcg', '-m', '256', '-smp', '1',
                   '-action', 'reboot=shutdown,shutdown=pause', '-qmp', 'unix:qmp,server=on,wait=off',
                   '-serial', 'file:console', *(TALKS if commands else ['-serial', 'file:results']), *arguments(lines), *extra]
        if strace:  # -D: strace is the one beside, QEMU stays our child; --seccomp-bpf: other calls stay fast
            command = ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-e', f'trace={CALLS}', '-o', 'calls', *command]
        with open(f'{work}/stderr', 'wb') as errors:  # setpriv: QEMU does not outlive the test, however that ends
            self.process = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', *command], cwd=work, stdin=subprocess.DEVNULL,
                                            stdout=errors, stderr=errors)
        self.qmp = None
        Machine.alive.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.qmp:
            self.qmp.close()
        self.process.kill()
        self.process.wait()
        Machine.alive.discard(self)

    @classmethod
    def kill_all(cls):
        """Whoever waits for one of them then gets a RuntimeError."""
        for guest in list(cls.alive):
            guest.process.kill()

    def said(self):
        with open(f'{self.work}/stderr', encoding='utf-8', errors='replace') as file:
            return file.read().strip()

    def try_connect(self):
        """By way of the directory's descriptor: a socket's path may only have some hundred characters."""
        folder, connection = os.open(self.work, os.O_PATH), socket.socket(socket.AF_UNIX)
        try:
            connection.connect(f'/proc/self/fd/{folder}/qmp')
            return connection
        except OSError:
            connection.close()
            return None
        finally:
            os.close(folder)

    def connect(self, seconds=30):
        """Waits until QEMU answers; RuntimeError with its own words where it ends instead."""
        end = time.monotonic() + seconds
        while (connection := self.try_connect()) is None:
            if self.process.poll() is not None:
                raise RuntimeError(f'QEMU ended with {self.process.returncode}: {self.said()}')
            if time.monotonic() > end:
                raise RuntimeError(f'QEMU does not answer within {seconds} s: {self.said()}')
            time.sleep(0.05)
        connection.settimeout(seconds)
        self.qmp, self.lines = connection, connection.makefile('r', encoding='utf-8')
        self.lines.readline()
        self.ask('qmp_capabilities')

    def ask(self, command, **values):
        try:
            self.qmp.sendall((json.dumps({'execute': command, 'arguments': values}) + '\n').encode())
        except OSError as error:
            raise RuntimeError(f'QEMU is gone: {self.said()}') from error
        while True:
            line = self.lines.readline()
            if not line:
                raise RuntimeError(f'QEMU is gone: {self.said()}')
            answer = json.loads(line)
            if 'return' in answer:
                return answer['return']
            if 'error' in answer:
                raise RuntimeError(f'{command}: {answer["error"]["desc"]}')

    def run(self, seconds, stop_after=None, stop_when=lambda: False):
        """Lets the guest run until it turns itself off, has sent that frame, or something is so. Returns {frame: seconds until it was there} and, as "off", the end."""
        start, seen = time.monotonic(), {}
        self.ask('cont')
        while True:
            status = self.ask('query-status')['status']
            now = time.monotonic() - start
            for name in re.findall(r'^END (\w+) \w{64}', self.results_text(), re.M):
                seen.setdefault(name, now)
            if status == 'shutdown' or stop_after in seen or stop_when():
                return seen | {'off': now}
            if now > seconds or status not in ('running', 'prelaunch'):
                raise RuntimeError(f'the guest is not done after {now:.0f} s ({status}); its console ends: {self.console_end()}')
            time.sleep(0.1)

    def console_end(self):
        with open(f'{self.work}/console', encoding='utf-8', errors='replace') as file:
            return ' | '.join(file.read().split('\n')[-4:])

    def results_text(self):
        with open(f'{self.work}/results', encoding='ascii', errors='replace') as file:
            return file.read()

    def results(self):
        return frames(self.results_text())

    def descriptors(self, image):
        """The numbers of QEMU's descriptors of the image."""
        folder = f'/proc/{self.process.pid}/fd'
        return [number for number in os.listdir(folder) if os.readlink(f'{folder}/{number}') == os.path.realpath(image)]

    def open_flags(self, image):
        flags = []
        for number in self.descriptors(image):
            with open(f'/proc/{self.process.pid}/fdinfo/{number}', encoding='ascii') as file:
                flags.append(int(re.search(r'^flags:\s*(\d+)', file.read(), re.M).group(1), 8))
        return flags

    def io_counters(self):
        with open(f'/proc/{self.process.pid}/io', encoding='ascii') as file:
            return {name: int(value) for name, value in (line.split(': ') for line in file)}

    def disks(self):
        """[{node, qdev, stats}] of the disks that the guest sees."""
        return [{'node': disk.get('node-name', ''), 'qdev': disk['qdev'], 'stats': disk['stats']}
                for disk in self.ask('query-blockstats') if disk.get('qdev')]

    def queue_entries(self, qdev):
        """What QEMU itself says that a queue of the disk, or of its controller, holds; None where there is no such thing."""
        for path, name in ((qdev, 'queue-size'), ('/machine/peripheral/fst-s0', 'virtqueue_size')):
            try:
                return self.ask('qom-get', path=path, property=name)
            except RuntimeError:
                continue
        return None

    def stop(self):
        """Ends QEMU in order, and waits for the strace beside it to write its file to the end."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    def calls(self, descriptors):
        """{call: times} from strace, after stop(); of reads, writes and flushes, those of the descriptors."""
        counts = dict.fromkeys(CALLS.split(','), 0)
        with open(f'{self.work}/calls', encoding='utf-8', errors='replace') as file:
            for line in file:
                found = re.match(r'\d+ +(\w+)\((\d+)', line)
                if found and found.group(1) in counts and (found.group(1).startswith('io_') or found.group(2) in descriptors):
                    counts[found.group(1)] += 1
        return counts
