"""Simulated devices whose rate is known, for rate_estimators.py. Needs numpy."""
import collections
import heapq
import math

import numpy as np

Trace = collections.namedtuple('Trace', 'slot submit complete')  # in order of completion; a request is one unit of bytes


def lognormals(rng, cv):
    """Draws of mean 1, made in blocks."""
    sigma = math.sqrt(math.log1p(cv * cv))
    while True:
        yield from np.exp(rng.normal(-sigma * sigma / 2, sigma, 512)).tolist()


class Device:
    """Independent latencies, times what extra draws for a slot. Of most devices the completion of a request is known when it is submitted."""
    followers_matter = False

    def __init__(self, rng, n, latency, cv, extra=None):
        self.rng, self.n, self.latency, self.extra = rng, n, latency, extra
        self.draws, self.flying = lognormals(rng, cv), []
        self.prepare()

    def prepare(self):
        pass

    def rate(self):
        """The truth: requests per second in the long run."""
        return self.n / self.latency

    def submit(self, now, slot):
        heapq.heappush(self.flying, (self.completion(now, slot), slot, now))

    def next(self):
        return heapq.heappop(self.flying)

    def completion(self, now, slot):
        latency = self.latency * next(self.draws)
        return now + (latency * self.extra(self.rng, slot) if self.extra else latency)


def two_classes(rng, slot):
    """A tenth of the requests takes 20 times as long."""
    return (20 if rng.random() < 0.1 else 1) / 2.9


def unlike_slots(rng, slot):
    """Half of the slots are three times as slow as the others, for ever."""
    return (1 + slot % 2 * 2) / 1.5


class Correlated(Device):
    """Log-latencies are AR(1), 0.8 from one turnover to the next, cv 0.5, in as many states as extra says."""

    def prepare(self):
        self.states, self.rho, self.sigma = self.rng.normal(size=self.extra).tolist(), 0.8 ** (self.extra / self.n), math.sqrt(math.log(1.25))

    def completion(self, now, slot):
        state = self.states[slot % self.extra]
        self.states[slot % self.extra] = self.rho * state + math.sqrt(1 - self.rho ** 2) * self.rng.normal()
        return now + self.latency * next(self.draws) * math.exp(self.sigma * state - self.sigma ** 2 / 2)


class Servers(Device):
    """Parallel servers, as many as extra says, behind one first-in first-out queue."""

    def prepare(self):
        self.free = [0.0] * self.extra

    def completion(self, now, slot):
        done = max(now, self.free[0]) + self.latency * self.extra / self.n * next(self.draws)
        heapq.heapreplace(self.free, done)
        return done


class Sharing(Device):
    """One server that works on all requests at once. They finish in order of the work that each of them must have had by then."""
    followers_matter = True

    def prepare(self):
        self.now = self.done = 0.0

    def submit(self, now, slot):
        heapq.heappush(self.flying, (self.done + self.latency / self.n * next(self.draws), slot, now))

    def next(self):
        self.now += (self.flying[0][0] - self.done) * len(self.flying)
        self.done, slot, submit = heapq.heappop(self.flying)
        return self.now, slot, submit


class Bucket(Device):
    """A limit that lets through at once what it saved, up to extra seconds' worth, before a device that is 20 times as fast."""

    def prepare(self):
        self.paid_until = 0.0

    def completion(self, now, slot):
        self.paid_until = max(self.paid_until, now) + self.latency / self.n
        return max(now, self.paid_until - self.extra) + self.latency / 20 * next(self.draws)


class Slices(Device):
    """A limit that releases every 100 ms what may pass in 100 ms. Runs start with a slice, or (extra) anywhere in one that nobody has used."""

    def prepare(self):
        self.phase, self.passed = self.extra * 0.1 * self.rng.random(), 0

    def completion(self, now, slot):
        released = self.passed // (0.1 * self.rate()) * 0.1 - self.phase
        self.passed += 1
        return max(now, released) + self.latency / 20 * next(self.draws)


class Stalls(Device):
    """Nothing moves for 30 ms of every second."""

    def prepare(self):
        self.phase = self.rng.random()

    def rate(self):
        return 0.97 * self.n / self.latency

    def completion(self, now, slot):
        whole, part = divmod(now + self.phase, 1)
        whole, part = divmod(whole * 0.97 + max(part - 0.03, 0) + self.latency * next(self.draws), 0.97)
        return whole + 0.03 + part - self.phase


class Turns(Device):
    """Threads of depth 1 that always need a processor and get one of two in turns of 4 ms."""
    followers_matter = True

    def prepare(self):
        self.queues, self.clocks, self.moved = ([], []), [0.0, 0.0], (0, 1)
        self.left, self.seats = (self.rng.random(2) * 0.004).tolist(), self.rng.permutation(self.n).tolist()

    def submit(self, now, slot):
        queue = self.queues[self.seats[slot] % 2]
        queue.insert(0 if now > 0 else self.rng.integers(len(queue) + 1), [self.latency * 2 / self.n * next(self.draws), slot, now])

    def run(self, cpu):
        """Moves a processor on to its next completion."""
        queue = self.queues[cpu]
        while queue and queue[0][0] > self.left[cpu]:
            queue[0][0] -= self.left[cpu]
            self.clocks[cpu] += self.left[cpu]
            self.left[cpu] = 0.004
            queue.append(queue.pop(0))
        if queue:
            heapq.heappush(self.flying, (self.clocks[cpu] + queue[0][0], cpu))

    def next(self):
        for cpu in self.moved:
            self.run(cpu)
        now, cpu = heapq.heappop(self.flying)
        work, slot, submit = self.queues[cpu].pop(0)
        self.clocks[cpu], self.left[cpu], self.moved = now, self.left[cpu] - work, (cpu,)
        return now, slot, submit


DEVICES = {  # class, slots, cv, extra
    'constant latency': (Device, 64, 0), 'independent, cv 0.1': (Device, 64, 0.1), 'independent, cv 0.5': (Device, 64, 0.5),
    'independent, cv 1': (Device, 64, 1), 'independent, cv 2': (Device, 64, 2), 'independent, cv 1, 4 slots': (Device, 4, 1),
    'two classes': (Device, 64, 0.1, two_classes), 'unlike slots': (Device, 64, 0.1, unlike_slots), 'AR(1), each slot': (Correlated, 64, 0.1, 64),
    'AR(1), all slots': (Correlated, 64, 0.1, 1), 'one server, cv 0.1': (Servers, 64, 0.1, 1), 'one server, cv 1': (Servers, 64, 1, 1),
    'eight servers, cv 0.5': (Servers, 64, 0.5, 8), 'processor sharing, cv 1': (Sharing, 64, 1), 'bucket, no credit': (Bucket, 64, 0.1, 0),
    'bucket, 20 ms': (Bucket, 64, 0.1, 0.02), 'bucket, 100 ms': (Bucket, 64, 0.1, 0.1), 'slices of 100 ms': (Slices, 64, 0.1, 0),
    'slices, any phase': (Slices, 64, 0.1, 1), 'stalls': (Stalls, 64, 0.5), 'turns of 4 ms, 16 threads': (Turns, 16, 0.1)}


def play(name, seed, latency, stop):
    """The truth, and a run from an empty queue to an empty queue that sends nothing after `stop`."""
    kind, n, *how = DEVICES[name]
    device, done, left = kind(np.random.default_rng(seed), n, latency, *how), [], n
    for slot in range(n):
        device.submit(0.0, slot)
    while left > 0:
        done.append(device.next())
        if done[-1][0] <= stop:
            device.submit(*done[-1][:2])
        else:
            left -= 1
    complete, slot, submit = (np.array(column) for column in zip(*done))
    return device.rate(), Trace(slot, submit, complete)
