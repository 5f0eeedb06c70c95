"""A token goes round a ring of processors, and each adds its number to it. A hop takes o + L + o."""

from collections.abc import Generator
from typing import Any

from loggp import Call, Machine, Proc, Time


def program(p: Proc) -> Generator[Call[Any], Any, tuple[int, Time]]:
    after = (p.id + 1) % p.P
    if p.id == 0:
        yield p.send(after, "token", 0)
        total = yield p.recv("token")
        return total, p.now
    total = yield p.recv("token")
    had = p.now
    yield p.send(after, "token", total + p.id)
    return total + p.id, had


if __name__ == "__main__":
    machine = Machine(P=8, L=6, o=2, g=4)
    run = machine.run(program, formula=lambda machine: machine.P * (machine.L + 2 * machine.o))
    for id, (total, had) in enumerate(run.results):
        print(f"processor {id} has the token at {had:>5}, with the sum {total:2}")
    print(f"{machine.P} hops take {run.time}")
    assert run.results[0][0] == 28 and run.time == run.formula
