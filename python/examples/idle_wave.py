"""An idle wave: in every step 256 processors compute and exchange a word with their neighbours, and from the middle on one
computes 50% longer. Who waits for it lets others wait."""

from collections.abc import Generator
from typing import Any

from loggp import US, Call, Machine, Proc

STEPS, SLOW = 120, 110


def program(p: Proc) -> Generator[Call[Any], Any, None]:
    last = p.P - 1
    for step in range(STEPS):
        yield p.work(60 if p.id == SLOW and step >= STEPS // 2 else 40, "cell")
        if p.id > 0:
            yield p.send(p.id - 1, "leftward", 0)
        if p.id < last:
            yield p.send(p.id + 1, "rightward", 0)
            yield p.recv("leftward", source=p.id + 1)
        if p.id > 0:
            yield p.recv("rightward", source=p.id - 1)


if __name__ == "__main__":
    run = Machine(P=256, L=6, o=2, g=4, rates={"cell": US}).run(program)
    assert run.trace is not None
    spans, idle = run.trace.activities, run.trace.KINDS.index("idle")
    # Nobody waits that long for a processor that is in time.
    late = [
        processor
        for processor, kind, start, end in zip(spans.processor, spans.kind, spans.start, spans.end)
        if kind == idle and end - start > (12 * US).ps
    ]
    print(f"processor {SLOW} is late, and {len(set(late))} others wait, {len(late)} times")
    print(f"{STEPS} steps take {run.time}")
    assert (len(set(late)), len(late)) == (120, 3660)
