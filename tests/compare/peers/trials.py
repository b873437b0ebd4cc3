"""Trials of a peer on a simulated surface, and what the peer would pick at every mark of virtual time."""
import json
import math
import subprocess

API_ORDER = ["psync", "pvec", "pool", "libaio", "io_uring"]


class Over(Exception):
    """The virtual time is used up. Raised through the optimiser where that owns the control flow."""


class Trials:
    """Runs trials by the trial server and keeps what they gave.

    points: (request_size, queue_depth, direct, api, threads) with the API as its place in API_ORDER
    index, log_bps: of the trials so far, in order
    pick: function of this object, (index, claimed_bps) that a user of the tool would take now
    """

    def __init__(self, arguments, pick):
        self.seconds, self.run_seconds, self.pick = arguments.seconds, arguments.run_seconds, pick
        self.marks = [mark for mark in arguments.marks if mark <= arguments.seconds]
        self.server = subprocess.Popen([arguments.server, arguments.surface, arguments.pattern, str(arguments.seed)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.points = [self._read_point(place) for place in range(self._read_size())]
        self.index, self.log_bps = [], []

    def _read_line(self):
        line = self.server.stdout.readline()
        if line == "":
            raise SystemExit("peer: the trial server ended early")
        return line.split()

    def _read_size(self):
        word, size = self._read_line()
        if word != "space":
            raise SystemExit("peer: this is no trial server")
        return int(size)

    def _read_point(self, place):
        index, size, depth, direct, api, threads = self._read_line()
        if int(index) != place:
            raise SystemExit("peer: the points of the space are out of order")
        return int(size), int(depth), int(direct), API_ORDER.index(api), int(threads)

    def run(self, index):
        """Logarithm of the throughput of one trial. Raises Over when the trial would end after the last second."""
        self.server.stdin.write(f"{index} {self.run_seconds}\n")
        bps, now = (float(word) for word in self._read_line())
        while self.marks and self.marks[0] < now:
            self._tell(self.marks.pop(0))
        if now > self.seconds:
            raise Over
        self.index.append(int(index))
        self.log_bps.append(math.log(bps))
        return self.log_bps[-1]

    def _tell(self, mark):
        pick, claimed = self.pick(self) if self.index else (None, None)
        print(json.dumps({"seconds": mark, "index": pick, "trials": len(self.index), "claimed_bps": claimed}))

    def close(self):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()


def best_observed(trials):
    best = max(range(len(trials.index)), key=trials.log_bps.__getitem__)
    return trials.index[best], math.exp(trials.log_bps[best])


def highest_mean(trials):
    values = {}
    for index, log_bps in zip(trials.index, trials.log_bps):
        values.setdefault(index, []).append(math.exp(log_bps))
    best = max(values, key=lambda index: sum(values[index]) / len(values[index]))
    return best, sum(values[best]) / len(values[best])
