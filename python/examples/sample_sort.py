"""Sample sort: samples from all processors decide the ranges of keys, and one all-to-all moves the keys."""

from bisect import bisect_left
from collections.abc import Generator
from typing import Any

from loggp import NS, Call, Machine, Proc

P = 8


def comparisons(keys: int) -> int:
    """Returns about the number of comparisons for sorting `keys` keys."""
    return keys * (max(keys, 1).bit_length() - 1)


def draw(count: int) -> list[int]:
    """Returns squares of random numbers: small keys are frequent, so that equal ranges would not be equal shares."""
    keys, seed = [], 1
    for _ in range(count):
        seed = (seed * 6_364_136_223_846_793_005 + 1) % 2**64
        keys.append((seed >> 40) ** 2)
    return keys


KEYS = draw(1000 * P)


def program(p: Proc) -> Generator[Call[Any], Any, list[int]]:
    n = len(KEYS) // p.P
    mine = sorted(KEYS[p.id * n :][:n])
    yield p.work(comparisons(n), "compare")

    # Each processor samples P keys at equal distances. Of all samples, every P-th separates two processors.
    sample = [mine[i * n // p.P] for i in range(p.P)]
    gathered = yield from p.all_gather_vector([p.P] * p.P, sample)
    samples = sorted(sum(gathered, []))
    yield p.work(comparisons(p.P * p.P), "compare")
    ends = [0] + [bisect_left(mine, samples[i * p.P]) for i in range(1, p.P)] + [n]
    parts = [mine[start:end] for start, end in zip(ends, ends[1:])]

    part = sum((yield from p.all_to_all(parts)), [])
    yield p.work(comparisons(len(part)), "compare")
    return sorted(part)


if __name__ == "__main__":
    run = Machine(P=P, L=6, o=2, g=4, G="50ns", rates={"compare": "50ns"}).run(program)
    assert sum(run.results, []) == sorted(KEYS)
    print(f"{len(KEYS)} keys are sorted in {run.time}, with {run.messages} messages")
    assert run.time == 1_176_200 * NS  # in every run
