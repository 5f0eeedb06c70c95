"""Programs that mypy and pyright accept as they are; `.ci/python` runs both, and pytest runs it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import loggp
from loggp import Call, Machine, Proc


def program(p: Proc) -> Generator[Call[Any], Any, int]:
    if p.id == 0:
        for to in range(1, p.P):
            yield p.send(to, "datum", 42)
        return 0
    value = yield p.recv("datum")
    yield p.work(3.5)
    yield p.work("3.5us")
    return int(value)


def together(p: Proc) -> Generator[Call[Any], Any, tuple[int, list[str]]]:
    total: int = yield from p.all_reduce(p.id, lambda a, b: a + b)
    names: list[str] = yield from p.all_gather(f"processor {p.id}")
    request = yield from p.irecv("x", source=(p.id + 1) % p.P, with_sender=True)
    yield from p.send((p.id - 1) % p.P, "x", total)
    sender, value = yield from p.wait(request)
    assert value == total and sender != p.id
    largest, place, name = yield from p.all_max(p.id % 3, with_=names[p.id])
    edges: list[tuple[int, str]] = yield from p.exchange("edge", [(sender, name, (p.id - 1) % p.P)])
    assert (largest, place, edges) == (2, 2, [((p.id - 1) % p.P, "processor 2")])
    return total, names


def test_types() -> None:
    machine = Machine(P=4, L=6, o=2, g=4)
    run = machine.run(program, formula=lambda machine: machine.L + 2 * machine.o)
    results: list[int] = run.results
    assert results == [0, 42, 42, 42] and run.time > 20 * loggp.US
    assert machine.run(together).results[0] == (6, [f"processor {id}" for id in range(4)])
    assert machine.check(program, runs=20).has_passed

    assert run.time != 0 and sum([row.finish for row in run.processors], 0 * loggp.US) > 0
    assert list(loggp.Group([1, 0])) == [1, 0] and 1 in loggp.Group([1, 0])
    with pytest.raises(TypeError):
        assert run.time > 24  # type: ignore[operator]
    with pytest.raises(TypeError):
        assert run.time + 24  # type: ignore[operator]
    models: list[Any] = loggp.machines()["machine"]
    assert isinstance(models, list)

    schedule = loggp.Schedule(2)
    first: int = schedule.send(0, 1, 8)
    many: memoryview[int] = schedule.recv([1], 0, 8)
    assert (first, list(many)) == (0, [0])
    assert schedule.play(machine).time == 10 * loggp.US
