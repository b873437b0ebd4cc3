"""Was the rate of a device flat while a command ran? Asked of the kernel's counters; fstune tells only how long its runs took. Standard library only."""
import os
import threading
import time

SAMPLE_SECONDS = 0.02
JOINED = 3  # samples in a rate: 60 ms
MARGIN_SECONDS = 0.015
PARTS = 8
LEAST_RATES = 3 * PARTS
SECTOR = 512


def counters_of(path):
    """The file with the counters of the device below the path; None where there is none (tmpfs) or the file system does not name it (btrfs)."""
    number = os.stat(path).st_dev
    counters = f'/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat'
    return counters if os.path.exists(counters) else None


class Oracle(threading.Thread):
    """Samples the counters from start() to end()."""

    def __init__(self, counters):
        super().__init__(daemon=True)
        self.counters, self.samples, self.over = counters, [], threading.Event()

    def run(self):
        fd = os.open(self.counters, os.O_RDONLY)
        while not self.over.wait(SAMPLE_SECONDS):
            fields = [int(field) for field in os.pread(fd, 4096, 0).split()]
            self.samples.append((time.monotonic(), SECTOR * fields[2], SECTOR * fields[6]))
        os.close(fd)

    def end(self):
        self.over.set()
        self.join()

    def last_move(self, column, before):
        """When the device last moved something one way."""
        for earlier, later in zip(self.samples[-2::-1], self.samples[:0:-1]):
            if later[0] <= before and later[column] > earlier[column]:
                return later[0]
        return self.samples[0][0]

    def rates(self, writes, runs):
        """Inside the runs (their seconds and warmup_seconds), which are found from the last one back: between two of them nothing moves."""
        column, found = (2 if writes else 1), []
        end = self.last_move(column, self.samples[-1][0])
        for run in reversed(runs):
            start = end - run['seconds']
            inside = [sample for sample in self.samples if start + MARGIN_SECONDS <= sample[0] <= end - MARGIN_SECONDS]
            steps = zip(inside[::JOINED], inside[JOINED::JOINED])
            found = [(after[column] - before[column]) / (after[0] - before[0]) for before, after in steps] + found
            end = self.last_move(column, start - run['warmup_seconds'] - MARGIN_SECONDS)
        return found

    def range_of_parts(self, writes, runs):
        """How far the means of eighths of the time lie apart, relative to the mean of all; None where that was too short to tell."""
        rates = self.rates(writes, runs) if len(self.samples) > 1 else []
        if len(rates) < LEAST_RATES or sum(rates) == 0:
            return None
        size = len(rates) / PARTS
        parts = [rates[int(i * size):int((i + 1) * size)] for i in range(PARTS)]
        means = [sum(part) / len(part) for part in parts]
        return (max(means) - min(means)) / (sum(rates) / len(rates))
