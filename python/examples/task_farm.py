"""A master hands out tasks of different lengths: a worker that finishes one gets the next. A task is a number, and its
result the number of steps of Collatz's rule from there to 1."""

from collections.abc import Generator
from typing import Any

from loggp import US, Call, Machine, Proc

TASKS, STEP = 200, 2 * US


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def program(p: Proc) -> Generator[Call[Any], Any, list[tuple[int, int]]]:
    results: list[tuple[int, int]] = []
    if p.id == 0:
        tasks = iter(range(1, TASKS + 1))
        for worker in range(1, p.P):
            yield p.send(worker, "task", next(tasks, None), words=1)
        while len(results) < TASKS:
            worker, result = yield p.recv_with_sender("result")
            results.append(result)
            yield p.send(worker, "task", next(tasks, None), words=1)
        return results
    while (n := (yield p.recv("task", source=0))) is not None:
        steps = collatz(n)  # the work is not known beforehand
        results.append((n, steps))
        yield p.work(steps, "step")
        yield p.send(0, "result", (n, steps))
    return results


if __name__ == "__main__":
    run = Machine(P=8, L=6, o=2, g=4, rates={"step": STEP}).run(program)
    print(f"{TASKS} tasks take {run.time}; the master is idle {run.processors[0].idle / run.time:.0%} of it")
    assert sorted(run.results[0]) == [(n, collatz(n)) for n in range(1, TASKS + 1)]
    assert run.time == 3252 * US  # in every run
