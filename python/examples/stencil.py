"""Heat spreads along a rod. Each processor has a piece of it, and in every step sends its neighbours the temperatures
at its ends."""

from collections.abc import Generator
from typing import Any

from loggp import NS, Call, Machine, Proc

P, CELLS, STEPS = 8, 64, 100
CELL = 100 * NS  # the cost of a new temperature


def step(left: float, rod: list[float], right: float) -> list[float]:
    """Returns the temperatures after a step, given those beyond both ends."""
    around = [left, *rod, right]
    return [at + 0.25 * (before - 2.0 * at + after) for before, at, after in zip(around, around[1:], around[2:])]


ROD = [0.0] * (P * CELLS)
ROD[P * CELLS // 2] = 1000.0


def program(p: Proc) -> Generator[Call[Any], Any, list[float]]:
    last, piece = p.P - 1, ROD[p.id * CELLS :][:CELLS]
    for _ in range(STEPS):
        if p.id > 0:
            yield p.send(p.id - 1, "leftward", piece[0])
        if p.id < last:
            yield p.send(p.id + 1, "rightward", piece[-1])
        # Both ends of the rod stay cold.
        right = (yield p.recv("leftward", source=p.id + 1)) if p.id < last else 0.0
        left = (yield p.recv("rightward", source=p.id - 1)) if p.id > 0 else 0.0
        piece = step(left, piece, right)
        yield p.work(CELLS, "cell")
    return piece


if __name__ == "__main__":
    machine = Machine(P=P, L=6, o=2, g=4, rates={"cell": CELL})
    one = machine.o + machine.L + machine.g + machine.o + CELLS * CELL  # two messages arrive a gap apart
    run = machine.run(program, formula=STEPS * one)
    alone = ROD
    for _ in range(STEPS):
        alone = step(0.0, alone, 0.0)
    assert sum(run.results, []) == alone  # to the last bit
    print(f"{STEPS} steps of {len(ROD)} cells on {P} processors take {run.time}, {one} each")
    assert run.time == run.formula
