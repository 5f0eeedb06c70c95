"""A lock whose key is lost when the processor that has it crashes: found by a check, and mended."""

from collections.abc import Generator
from typing import Any

from loggp import US, Call, Machine, Proc, Time

Had = tuple[Time, Time] | None


def lock(p: Proc) -> Generator[Call[Any], Any, None]:
    """Processor 0 gives the key to whoever asks, and waits until it is back."""
    if p.id == 0:
        while asked := (yield p.recv_deadline("ask", p.now + 100 * US, with_sender=True)):
            yield p.send(asked[0], "key")
            yield p.recv("back", source=asked[0])
        return
    yield p.send(0, "ask")
    if (yield p.recv_deadline("key", p.now + 300 * US, with_sender=True)):
        yield p.send(0, "back")


def mended(p: Proc, patience: Time) -> Generator[Call[Any], Any, Had]:
    """Processor 0 waits no longer than `patience`, and then makes a new key. Returns when a processor had the key."""
    if p.id == 0:
        while asked := (yield p.recv_deadline("ask", p.now + 100 * US, with_sender=True)):
            yield p.send(asked[0], "key")
            yield p.recv_deadline("back", p.now + patience, source=asked[0], with_sender=True)
        while (yield p.recv_deadline("back", p.now + 100 * US, with_sender=True)):
            pass  # what came too late
        return None
    yield p.send(0, "ask")
    if not (yield p.recv_deadline("key", p.now + 300 * US, with_sender=True)):
        return None
    begin = p.now
    yield p.work(5 * US)
    yield p.send(0, "back")
    return begin, p.now


def verify(had: list[Had]) -> None:
    times = sorted(one for one in had if one is not None)
    for one, later in zip(times, times[1:]):
        assert one[1] <= later[0], "two processors had the key at the same time"


def main() -> None:
    def machine(latency: Time) -> Machine:
        return Machine(P=3, L=latency, o=1, g=1)

    print(machine(6 * US).check(lock, crashes=1))
    for latency, patience in [(6, 8), (6, 40), (40, 40)]:
        print(machine(latency * US).check(lambda p: mended(p, patience * US), crashes=1, verify=verify))


if __name__ == "__main__":
    main()
