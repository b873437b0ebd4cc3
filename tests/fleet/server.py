"""A private server of PostgreSQL's in a temporary directory, with the tables of configs/fleet.sql: reached by a unix socket and, with TLS
alone, on loopback under the name of its certificate, fleet.example.org. And a network to it that can be cut."""

import os
import pathlib
import shutil
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def programs():
    """The newest server's folder of programs; None where there is none, or where it cannot be run as postgres."""
    found = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin/postgres'), key=lambda p: int(p.parts[4]))
    if not found or os.geteuid() != 0 or shutil.which('runuser') is None:
        return None
    return found[-1].parent


class Server:
    def __init__(self, binaries, port, disk_bytes=0):
        """disk_bytes: all that it writes is on a disk of this size, in memory; OSError where that cannot be mounted."""
        # fstune refuses histories below a directory of another user, so the server has one of its own.
        self.files = pathlib.Path(tempfile.mkdtemp(prefix='fstune-fleet-'))
        self.files.chmod(0o755)
        self.folder = self.files / 'server'
        self.folder.mkdir()
        self.binaries, self.data, self.port, self.is_mounted = binaries, self.folder / 'data', port, False
        if disk_bytes > 0:
            self.mount(disk_bytes)
        shutil.chown(self.folder, 'postgres')
        self.as_postgres('initdb', '-D', self.data, '--no-sync', '-A', 'trust', *(['--wal-segsize=1'] if disk_bytes > 0 else []))
        (self.data / 'postgresql.auto.conf').write_text(
            f"listen_addresses = '127.0.0.1'\nunix_socket_directories = '{self.folder}'\nport = {self.port}\nmax_connections = 150\n"
            f"ssl = on\nssl_cert_file = '{self.folder}/server.crt'\nssl_key_file = '{self.folder}/server.key'\n")
        (self.data / 'pg_hba.conf').write_text('local all all trust\nhostssl all all 127.0.0.1/32 trust\n')
        self.make_certificate()
        self.start()
        self.sql('CREATE DATABASE fleet', database='postgres')
        self.sql_file(ROOT / 'configs/fleet.sql')

    def mount(self, size_bytes):
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size_bytes}', 'fstune-fleet', self.folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.close()
            raise OSError(done.stderr.strip())
        self.is_mounted = True

    def make_certificate(self):
        self.as_postgres('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=fleet.example.org', '-addext',
                         'subjectAltName=DNS:fleet.example.org', '-keyout', self.folder / 'server.key', '-out', self.folder / 'server.crt')

    def as_postgres(self, name, *words):
        done = subprocess.run(['runuser', '-u', 'postgres', '--', name, *map(str, words)], capture_output=True,
                              text=True, cwd=self.folder, check=False, env=os.environ | {'PATH': f'{self.binaries}:{os.environ["PATH"]}'})
        if done.returncode != 0:
            raise RuntimeError(f'{name}: {done.stderr.strip()[-500:]}')
        return done.stdout

    def start(self):
        """A session that is just ending may still hold the memory of a server that was killed."""
        for left in range(20, -1, -1):
            try:
                self.as_postgres('pg_ctl', '-D', self.data, '-w', '-l', self.folder / 'log', 'start')
                return
            except RuntimeError:
                if left == 0:
                    raise
                time.sleep(0.3)

    def restart(self):
        """Whatever has become of it."""
        try:
            self.as_postgres('pg_ctl', '-D', self.data, '-m', 'immediate', '-w', 'stop')
        except RuntimeError:
            pass
        self.start()

    def kill(self):
        """All of its processes at once, as a loss of power would."""
        postmaster = int((self.data / 'postmaster.pid').read_text().split()[0])
        children = pathlib.Path(f'/proc/{postmaster}/task/{postmaster}/children').read_text().split()
        for pid in [postmaster, *map(int, children)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # One that nobody waits for is as gone as it gets.
        state = pathlib.Path(f'/proc/{postmaster}/stat')
        while state.exists() and state.read_text().split(') ')[1][0] != 'Z':
            time.sleep(0.05)
        for lock in (self.data / 'postmaster.pid', self.folder / f'.s.PGSQL.{self.port}.lock', self.folder / f'.s.PGSQL.{self.port}'):
            lock.unlink(missing_ok=True)

    def psql(self, words, database, role):
        command = [str(self.binaries / 'psql'), '-h', str(self.folder), '-p', str(self.port), '-U', role, '-d', database, '-qAtX', '-v', 'ON_ERROR_STOP=1', *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def sql(self, text, database='fleet', role='postgres'):
        done = self.psql(['-c', text], database, role)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def sql_file(self, path, database='fleet'):
        done = self.psql(['-f', str(path)], database, 'postgres')
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())

    def number(self, text):
        return int(self.sql('SET search_path = fstune; ' + text))

    def address(self, role):
        return f'postgresql://{role}@/fleet?host={self.folder}&port={self.port}'

    def far_address(self, role, port, more=''):
        """As from another machine: TCP, TLS, and the certificate's name."""
        return f'postgresql://{role}@fleet.example.org:{port}/fleet?hostaddr=127.0.0.1&sslrootcert={self.folder}/server.crt{more}'

    def close(self):
        try:
            self.as_postgres('pg_ctl', '-D', self.data, '-m', 'immediate', '-w', 'stop')
        except RuntimeError:
            pass
        # A process that is just ending may still be there.
        for _ in range(50 if self.is_mounted else 0):
            if subprocess.run(['umount', self.folder], stderr=subprocess.DEVNULL, check=False).returncode == 0:
                break
            time.sleep(0.1)
        shutil.rmtree(self.files, ignore_errors=True)


class Network:
    """Loopback to a port, which ends after so many bytes to the server, or from it, of its first connection: it is cut (both sides
    learn of it), or it stalls (nobody does, and whether further connections get through is told by `others`)."""

    def __init__(self, port, towards=None, back=None, stalls=False, others=True):
        self.port_behind, self.limits, self.stalls, self.others = port, (towards, back), stalls, others
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port, self.ended, self.sockets, self.n = self.listener.getsockname()[1], False, [], 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.n += 1
            self.sockets.append(client)
            if self.ended and not self.others:
                continue
            server = socket.create_connection(('127.0.0.1', self.port_behind))
            self.sockets.append(server)
            threading.Thread(target=self.carry, args=(client, server, self.limits if self.n == 1 else (None, None)), daemon=True).start()

    def carry(self, client, server, limits):
        left = {client: limits[0], server: limits[1]}
        try:
            while True:
                for near in select.select([client, server], [], [])[0]:
                    part = near.recv(65536)
                    if left[near] is not None:
                        part, left[near] = part[:left[near]], left[near] - len(part)
                    (server if near is client else client).sendall(part)
                    if left[near] is not None and left[near] <= 0:
                        self.ended = True
                        return None if self.stalls else self.cut(client, server)
                    if not part:
                        return self.cut(client, server)
        except (OSError, ValueError):
            # Closed meanwhile, by the other side or by close.
            return None

    @staticmethod
    def cut(*ends):
        for end in ends:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            end.close()

    def close(self):
        self.listener.close()
        for end in self.sockets:
            end.close()
