"""Measures a message of a Python program, in turns with the same program in SimPy: a ring of processors, of which each
sends and receives. In SimPy a message is an overhead, a latency, and an item of a store.

`pip install simpy`, and `python benches/message.py [ROUNDS]`."""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable, Generator
from statistics import median
from typing import Any

import loggp

L, OVERHEAD = 6, 2


def in_loggp(P: int, rounds: int, trace: bool) -> Callable[[], loggp.Run[None]]:
    def program(p: loggp.Proc) -> Generator[loggp.Call[Any], Any, None]:
        after = (p.id + 1) % p.P
        for i in range(rounds):
            yield p.send(after, "x", i)
            yield p.recv("x")

    machine = loggp.Machine(P=P, L=L, o=OVERHEAD, g=4)
    return lambda: machine.run(program, trace=trace)


def in_simpy(P: int, rounds: int) -> Callable[[], None]:
    import simpy  # type: ignore[import-untyped]

    def run() -> None:
        env = simpy.Environment()
        inboxes = [simpy.Store(env) for _ in range(P)]

        def arrive(inbox: Any, item: int) -> Generator[Any, Any, None]:
            yield env.timeout(L)
            yield inbox.put(item)

        def processor(id: int) -> Generator[Any, Any, None]:
            after = inboxes[(id + 1) % P]
            for i in range(rounds):
                yield env.timeout(OVERHEAD)
                env.process(arrive(after, i))
                yield inboxes[id].get()
                yield env.timeout(OVERHEAD)

        for id in range(P):
            env.process(processor(id))
        env.run()

    return run


def simpy_events(P: int, rounds: int) -> Callable[[], None]:
    """Only events: each round of each process is one timeout."""
    import simpy

    def run() -> None:
        env = simpy.Environment()

        def process() -> Generator[Any, Any, None]:
            for _ in range(rounds):
                yield env.timeout(1)

        for _ in range(P):
            env.process(process())
        env.run()

    return run


def microseconds(run: Callable[[], Any], messages: int) -> float:
    gc.collect()
    began = time.process_time()
    run()
    return (time.process_time() - began) / messages * 1e6


def main(rounds: int) -> None:
    for P in (2, 64, 1000):
        each = rounds // P
        runs = {
            "loggp": in_loggp(P, each, False),
            "loggp, traced": in_loggp(P, each, True),
            "SimPy, message": in_simpy(P, each),
            "SimPy, event": simpy_events(P, each),
        }
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(5):
            for name, run in runs.items():
                times[name].append(microseconds(run, each * P))
        for name, of in times.items():
            print(f"P = {P:4}: {name:15} {median(of):6.2f} us of processor time each (of 5: {min(of):.2f} to {max(of):.2f})")
    began = time.process_time()
    in_loggp(10_000, 10, True)()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"10,000 processors, 100,000 messages, traced: {time.process_time() - began:.2f} s, peak {peak:.0f} MiB in all")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
