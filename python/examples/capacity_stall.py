"""A hot spot: all processors send to processor 0 at once, but only ceil(L/g) messages may be in transit to it, so the
other senders stall. A reduction computes the same sum without stalls."""

from collections.abc import Generator
from operator import add
from typing import Any

from loggp import US, Call, Machine, Proc


def hot_spot(p: Proc) -> Generator[Call[Any], Any, int | None]:
    if p.id > 0:
        yield p.send(0, "number", p.id)
        return None
    total = 0
    for _ in range(1, p.P):
        total += yield p.recv("number")
    return total


def reduction(p: Proc) -> Generator[Call[Any], Any, int | None]:
    return (yield from p.reduce(0, p.id, add, words=1))


if __name__ == "__main__":
    machine = Machine(P=8, L=6, o=2, g=4)
    hot, tree = machine.run(hot_spot), machine.run(reduction)
    for name, run in ("the hot spot", hot), ("the reduction", tree):
        print(f"{name} takes {run.time}, with {run.stalls} stalls")
    assert hot.results[0] == tree.results[0] == 28
    assert (hot.time, hot.stalls, tree.time, tree.stalls) == (34 * US, 5, 26 * US, 0)
    assert [account.stall / machine.L for account in hot.processors[1:]] == [0, 0, 1, 1, 2, 2, 3]
