"""Clients that write numbered blocks to a served disk, and what each block may hold after a power cut."""
import math
import random
import struct
import threading
import time

import nbd

BLOCK, SECTOR, DEPTH = 4096, 512, 12
SECTORS = BLOCK // SECTOR
NO_BYTES = bytes(SECTOR)


def sector_of(place, stamp):
    """A sector says in each of its parts where it belongs and which write made it; stamp 0 is a range of zeroes."""
    return struct.pack('<QQ', place, stamp) * (SECTOR // 16) if stamp > 0 else NO_BYTES


def block_of(block, stamp):
    return b''.join(sector_of(block * SECTORS + i, stamp) for i in range(SECTORS))


class Request:
    """kind: write, zero, read or flush. Times are ns; answered_ns is the first moment at which the client knew of the answer,
    infinite where none came."""

    def __init__(self, kind, blocks=range(0), stamp=0, durable=False):
        self.kind, self.blocks, self.stamp, self.durable = kind, blocks, stamp, durable
        self.sent_ns, self.answered_ns, self.cookie, self.buffer = 0, math.inf, None, None


class Client(threading.Thread):
    """Keeps several requests under way in blocks of its own, of which no two meet, so that the order of a block's writes is known.
    Its number makes its stamps different from those of the others."""

    def __init__(self, handle, blocks, number, seconds, seed):
        super().__init__(daemon=True)
        self.handle, self.blocks, self.random = handle, blocks, random.Random(seed)
        self.end, self.stamp, self.fault = time.monotonic() + seconds, (number + 1) << 32, None
        self.busy, self.under_way, self.requests, self.flushes = set(), [], [], 1
        self.newest = dict.fromkeys(blocks, 0)
        self.start()

    def place(self):
        """Blocks that no request is at; None where chance found none."""
        most = self.random.choices((1, 4, 64), (80, 15, 5))[0]
        n_blocks = self.random.randint(1, most)
        first = self.random.randrange(self.blocks.start, self.blocks.stop - n_blocks)
        blocks = range(first, first + n_blocks)
        return blocks if self.busy.isdisjoint(blocks) else None

    def draw(self):
        """Much is under way at a cut where flushes are rare, and little where they are not."""
        if self.random.random() < 0.01:
            self.flushes = self.random.choice((0.2, 1, 10))
        kind = self.random.choices(('write', 'flush', 'read', 'zero'), (78, self.flushes, 16, 4))[0]
        blocks = range(0) if kind == 'flush' else self.place()
        if blocks is None:
            return None
        self.stamp += kind == 'write'
        return Request(kind, blocks, self.stamp if kind == 'write' else 0, kind in ('write', 'zero') and self.random.random() < self.flushes / 100)

    def send(self, request):
        offset, size = request.blocks.start * BLOCK, len(request.blocks) * BLOCK
        flags = nbd.CMD_FLAG_FUA if request.durable else 0
        if request.kind == 'write':
            request.buffer = nbd.Buffer.from_bytearray(bytearray(b''.join(block_of(block, request.stamp) for block in request.blocks)))
        elif request.kind == 'read':
            request.buffer = nbd.Buffer(size)
        request.sent_ns = time.monotonic_ns()
        if request.kind == 'write':
            request.cookie = self.handle.aio_pwrite(request.buffer, offset, flags=flags)
        elif request.kind == 'read':
            request.cookie = self.handle.aio_pread(request.buffer, offset)
        elif request.kind == 'zero':
            request.cookie = self.handle.aio_zero(size, offset, flags=flags | self.random.choice((0, nbd.CMD_FLAG_NO_HOLE)))
        else:
            request.cookie = self.handle.aio_flush()

    def begin(self):
        request = self.draw()
        if request is None:
            return
        self.send(request)
        self.busy.update(request.blocks)
        self.under_way.append(request)
        if request.kind != 'read':
            self.requests.append(request)

    def end_answered(self):
        """Notes what was answered; what is read must be what was written last."""
        answered = [request for request in self.under_way if self.handle.aio_command_completed(request.cookie)]
        now_ns = time.monotonic_ns()
        for request in answered:
            request.answered_ns = now_ns
            self.under_way.remove(request)
            self.busy.difference_update(request.blocks)
            if request.kind == 'read':
                wanted = b''.join(block_of(block, self.newest[block]) for block in request.blocks)
                if request.buffer.to_bytearray() != wanted:
                    self.fault = f'blocks {request.blocks} were read as they had been before their last write'
            elif request.kind != 'flush':
                self.newest.update(dict.fromkeys(request.blocks, request.stamp))
            request.buffer = None

    def run(self):
        """The connection is closed in any case, because nbdkit waits for that when it ends."""
        try:
            while self.under_way or time.monotonic() < self.end:
                while len(self.under_way) < DEPTH and time.monotonic() < self.end:
                    self.begin()
                self.handle.poll(100)
                self.end_answered()
            self.handle.shutdown()
        except nbd.Error as error:
            self.fault = str(error)
        finally:
            self.handle = None

    def stop(self):
        self.end = 0
        self.join()


class Promises:
    """What the disk promised to clients, by their requests. Before the first request all blocks are zeroes, and durable."""

    def __init__(self, requests, n_blocks):
        self.flushes = [request for request in requests if request.kind == 'flush']
        self.answers_ns = [request.answered_ns for request in requests if (request.kind == 'flush' or request.durable) and request.answered_ns < math.inf]
        self.versions = [[Request('zero', durable=True)] for _ in range(n_blocks)]
        for versions in self.versions:
            versions[0].answered_ns = 0
        for request in sorted((request for request in requests if request.kind != 'flush'), key=lambda request: request.sent_ns):
            for block in request.blocks:
                self.versions[block].append(request)

    def allowed(self, cut_ns):
        """For each block: the stamps that it may hold after a cut, from the last durable one to what was sent, and how many of them were promised."""
        flushed_ns = max((flush.sent_ns for flush in self.flushes if flush.answered_ns < cut_ns), default=0)
        for versions in self.versions:
            stamps = set()
            for version in reversed(versions):
                if version.sent_ns >= cut_ns:
                    continue
                stamps.add(version.stamp)
                if version.answered_ns < flushed_ns or (version.durable and version.answered_ns < cut_ns):
                    break
            yield stamps, version is not versions[0]

    def check(self, data, cut_ns):
        """Number of blocks for which something was promised; what is wrong with the image's bytes, as texts."""
        n_promised, faults = 0, []
        for block, (stamps, is_promised) in enumerate(self.allowed(cut_ns)):
            n_promised += is_promised
            for place in range(block * SECTORS, (block + 1) * SECTORS):
                sector = data[place * SECTOR:(place + 1) * SECTOR]
                stamp = struct.unpack_from('<Q', sector, 8)[0]
                if stamp not in stamps or sector != sector_of(place, stamp):
                    what = f'version {stamp:x}' if sector == sector_of(place, stamp) else f'garbage {sector[:16].hex()}'
                    faults.append(f'block {block} holds {what} where {sorted(f"{stamp:x}" for stamp in stamps)} were allowed')
                    break
        return n_promised, faults
