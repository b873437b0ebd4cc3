"""The few statistics that the comparison needs; standard library only."""
import math

Z_95 = 1.959963984540054


def wilson(hits, n, z=Z_95):
    """Wilson's interval of a share (Wilson 1927, with the centre at (p + z^2/2n) / (1 + z^2/n)); n = 0: (0, 1)."""
    if n == 0:
        return 0.0, 1.0
    share, scale = hits / n, 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)


def binomial_tail(hits, n):
    """P(X >= hits) for X binomial(n, 1/2)."""
    return sum(math.comb(n, k) for k in range(hits, n + 1)) / 2**n


def mcnemar_worse(ours, theirs):
    """One-sided exact McNemar test on paired hits: p of `ours hits less often than theirs`. Without discordant pairs: 1."""
    lost = sum(1 for a, b in zip(ours, theirs, strict=True) if b and not a)
    won = sum(1 for a, b in zip(ours, theirs, strict=True) if a and not b)
    return binomial_tail(lost, lost + won)


def holm(p_values):
    """Adjusted p-values of Holm (1979), in the order given."""
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def seconds_to_reach(target, marks, shares):
    """Virtual seconds at which a share first reaches the target, straight between marks in log time; None: not within the marks.
    At the first mark already: that mark, which is then an upper limit."""
    for i, share in enumerate(shares):
        if share < target:
            continue
        if i == 0:
            return float(marks[0])
        part = (target - shares[i - 1]) / (share - shares[i - 1])
        return math.exp(math.log(marks[i - 1]) + part * math.log(marks[i] / marks[i - 1]))
    return None
