"""A private server of PostgreSQL's in a temporary directory, with the tables of configs/fleet.sql: reached by a unix socket and, with TLS
alone, on loopback under the name of its certificate, fleet.example.org."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def programs():
    """The newest server's folder of programs; None where there is none, or where it cannot be run as postgres."""
    found = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin/postgres'), key=lambda p: int(p.parts[4]))
    if not found or os.geteuid() != 0 or shutil.which('runuser') is None:
        return None
    return found[-1].parent


class Server:
    def __init__(self, binaries):
        # fstune refuses histories below a directory of another user, so the server has one of its own.
        self.files = pathlib.Path(tempfile.mkdtemp(prefix='fstune-fleet-'))
        self.files.chmod(0o755)
        self.folder = self.files / 'server'
        self.folder.mkdir()
        self.binaries, self.data = binaries, self.folder / 'data'
        shutil.chown(self.folder, 'postgres')
        self.as_postgres('initdb', '-D', self.data, '--no-sync', '-A', 'trust')
        self.port = 20000 + os.getpid() % 20000
        (self.data / 'postgresql.auto.conf').write_text(
            f"listen_addresses = '127.0.0.1'\nunix_socket_directories = '{self.folder}'\nport = {self.port}\nmax_connections = 150\n"
            f"ssl = on\nssl_cert_file = '{self.folder}/server.crt'\nssl_key_file = '{self.folder}/server.key'\n")
        (self.data / 'pg_hba.conf').write_text('local all all trust\nhostssl all all 127.0.0.1/32 trust\n')
        self.make_certificate()
        self.start()
        self.sql('CREATE DATABASE fleet', database='postgres')
        self.sql_file(ROOT / 'configs/fleet.sql')

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

    def close(self):
        try:
            self.as_postgres('pg_ctl', '-D', self.data, '-m', 'immediate', '-w', 'stop')
        except RuntimeError:
            pass
        shutil.rmtree(self.files, ignore_errors=True)
