"""What tests/disk/recorder recorded, and the devices that a power cut at some moment may leave."""
import bisect
import collections
import itertools
import mmap
import os
import struct

SECTOR = 512
HEADER = struct.Struct('<5Q')
WRITE, ZEROES, FLUSH = range(3)
NEVER_WRITTEN = b'\xa5'

Record = collections.namedtuple('Record', 'what begin_ns end_ns offset n_bytes data_at')


class Log:
    """The records, in the order in which they had ended."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.records, at = [], 0
        while at < len(self.bytes):
            numbers = HEADER.unpack_from(self.bytes, at)
            at += HEADER.size
            self.records.append(Record(*numbers, at))
            at += numbers[4] if numbers[0] == WRITE else 0

    def data(self, record):
        return self.bytes[record.data_at:record.data_at + record.n_bytes] if record.what == WRITE else bytes(record.n_bytes)

    def without_flushes(self, share, after_ns, chance):
        """The records of a disk that takes a share of the flushes for none."""
        return [record for record in self.records if record.what != FLUSH or record.begin_ns < after_ns or chance.random() >= share]


class Cuts:
    """The durable content at moments that only grow later, and devices made of it and of a part of what was not durable yet.

    Durable is what had ended before a flush began that had ended before the cut. Of all else that had begun before the cut chance takes some, whole
    or sector by sector, in the order in which it was written."""

    def __init__(self, log, records, size, chance):
        self.log, self.chance, self.durable = log, chance, bytearray(NEVER_WRITTEN * size)
        self.changes = [record for record in records if record.what != FLUSH]
        self.ends = [record.end_ns for record in self.changes]
        self.longest_ns = max(record.end_ns - record.begin_ns for record in self.changes)
        flushes = [record for record in records if record.what == FLUSH]
        self.flush_ends = [record.end_ns for record in flushes]
        self.flush_begins = list(itertools.accumulate((record.begin_ns for record in flushes), max))
        self.n_durable = 0

    def advance(self, cut_ns):
        n_flushes = bisect.bisect_left(self.flush_ends, cut_ns)
        flushed_ns = self.flush_begins[n_flushes - 1] if n_flushes > 0 else 0
        end = bisect.bisect_left(self.ends, flushed_ns)
        for record in self.changes[self.n_durable:end]:
            self.durable[record.offset:record.offset + record.n_bytes] = self.log.data(record)
        self.n_durable = max(self.n_durable, end)

    def kept(self, record, share):
        """The ranges of a record that reached the disk."""
        if self.chance.random() >= share:
            return []
        if self.chance.random() >= 0.2:
            return [(0, record.n_bytes)]
        return [(at, min(SECTOR, record.n_bytes - at)) for at in range(0, record.n_bytes, SECTOR) if self.chance.random() < 0.5]

    def make(self, cut_ns, path):
        """Writes the device; number of changes that were not durable."""
        self.advance(cut_ns)
        last = bisect.bisect_left(self.ends, cut_ns + self.longest_ns + 1)
        volatile = [record for record in self.changes[self.n_durable:last] if record.begin_ns < cut_ns]
        share = self.chance.choice((0, 0, 0.1, 0.5, 0.9, 1))
        with open(path, 'r+b' if os.path.exists(path) else 'w+b') as file:
            file.write(self.durable)
            for record in volatile:
                data = self.log.data(record)
                for at, n_bytes in self.kept(record, share):
                    file.seek(record.offset + at)
                    file.write(data[at:at + n_bytes])
        return len(volatile)
