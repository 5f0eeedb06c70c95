"""500 random programs end in Python at the same picosecond as in Rust, and as the oracle says."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from loggp import PS, Group, Machine, RunError

TAGS = 3
CASES = lzma.decompress(Path(__file__).with_name("drawn.json.xz").read_bytes()).decode().splitlines()


class Ledger:
    """The messages that are still to be received, so that a processor does not wait for more than are sent."""

    def __init__(self, calls: list[list[Any]], id: int) -> None:
        self.sent = [[0] * TAGS for _ in calls]
        self.came = [[0] * TAGS for _ in calls]
        self.pending: list[tuple[Any, Any]] = []
        for sender, own in enumerate(calls):
            for kind, *rest in own:
                if kind in ("send", "send_receiving", "send_recv", "isend") and rest[0] == id:
                    self.sent[sender][rest[1]] += 1

    @staticmethod
    def count(counts: list[list[int]], pattern: tuple[Any, Any]) -> int:
        source, tag = pattern
        return sum(
            n
            for sender, tags in enumerate(counts)
            for of, n in enumerate(tags)
            if source in (None, sender) and tag in (None, of)
        )

    def is_left(self, pattern: tuple[Any, Any]) -> bool:
        def overlaps(other: tuple[Any, Any]) -> bool:
            return all(a is None or b is None or a == b for a, b in zip(pattern, other))

        others = sum(overlaps(other) for other in self.pending)
        return self.count(self.sent, pattern) > self.count(self.came, pattern) + others

    def needs_more(self, pattern: tuple[Any, Any], upto: int | None) -> bool:
        return (upto is None or self.count(self.came, pattern) < upto) and self.is_left(pattern)


def program_of(calls: list[list[Any]]) -> Any:
    def program(p):
        ledger, notes = Ledger(calls, p.id), []
        kinds = ("Isend", "Irecv", "IrecvFrom", "IrecvAnyTag", "Get")
        kept: dict[str, list[tuple[Any, Any]]] = {kind: [] for kind in kinds}

        def note(came=None):
            if came is not None:
                ledger.came[came[0]][came[1]] += 1
            notes.append([p.now.ps, came])

        def message(pattern, got):
            """What a receive with a pattern took: the sender, the tag and the words."""
            if got is None:
                return None
            sender, (tag, value) = got if pattern[1] is None else (got[0], (pattern[1], got[1]))
            return [sender, tag, len(value)]

        def done(pattern, got):
            came = message(pattern, got) if pattern is not None else None
            if came is not None:
                ledger.pending.remove(pattern)
            note(came)

        for kind, *rest in calls[p.id]:
            if kind == "work":
                yield p.work(rest[0], "units")
            elif kind == "wait_until":
                yield p.wait_until(p.now + rest[0] * PS)
            elif kind == "barrier":
                yield p.barrier()
                note()
            elif kind == "together":
                name, who = rest
                group = p.within(Group(who))
                if name == "barrier":
                    yield group.barrier()
                elif name == "broadcast":
                    assert (yield group.broadcast(0, b"7" if p.id == who[0] else None, words=1)) == b"7"
                elif name == "all_reduce":
                    total = yield group.all_reduce(b"1", lambda a, b: bytes([a[0] + b[0] - 48]), words=1)
                    assert total == bytes([48 + len(who)])
                else:
                    assert (yield group.all_to_all([b"1"] * len(who), words=1)) == [b"1"] * len(who)
                note()
            elif kind == "send" or kind == "send_recv" and not ledger.is_left((rest[3], rest[1])):
                yield p.send(rest[0], rest[1], bytes(rest[2]))
                note()
            elif kind == "send_receiving":
                to, tag, words, taking = rest
                got = []
                on = lambda sender, value: got.append((sender, value))
                yield p.send_receiving(to, tag, bytes(words), taking, on, with_sender=True)
                for sender, value in got:
                    ledger.came[sender][taking] += 1
                    notes.append([None, [sender, taking, len(value)]])
                note()
            elif kind == "send_recv":
                to, tag, words, source = rest
                note([source, tag, len((yield p.send_recv(to, source, tag, bytes(words))))])
            elif kind == "recv":
                pattern, upto = tuple(rest[0]), rest[1]
                while ledger.needs_more(pattern, upto):
                    note(message(pattern, (yield p.recv_with_sender(pattern[1], source=pattern[0]))))
            elif kind == "recv_deadline":
                pattern = tuple(rest[0])
                got = yield p.recv_deadline(pattern[1], p.now + rest[1] * PS, source=pattern[0], with_sender=True)
                note(message(pattern, got))
            elif kind == "try_recv":
                pattern = tuple(rest[0])
                for _ in range(rest[1]):
                    got = yield p.try_recv(pattern[1], source=pattern[0], with_sender=True)
                    note(message(pattern, got))
                    if got is not None:
                        break
            elif kind == "probe":
                source, tag = rest[0]
                for _ in range(rest[1]):
                    seen = yield p.probe(tag, source=source)
                    notes.append([p.now.ps, None if seen is None else [seen, tag or 0, 0]])
                    if seen is not None:
                        break
            elif kind == "put":
                yield p.put(rest[0], words=rest[1])
                note()
            elif kind == "get":
                yield p.get(rest[0], words=rest[1])
                note()
            elif kind == "iget":
                kept["Get"].append((None, (yield p.iget(rest[0], words=rest[1]))))
                note()
            elif kind == "flush":
                yield p.flush(rest[0])
                note()
            elif kind == "isend":
                kept["Isend"].append((None, (yield p.isend(rest[0], rest[1], bytes(rest[2])))))
                note()
            elif kind == "irecv":
                pattern = tuple(rest[0])
                if ledger.is_left(pattern):
                    ledger.pending.append(pattern)
                    form = "IrecvAnyTag" if pattern[1] is None else "Irecv" if pattern[0] is None else "IrecvFrom"
                    kept[form].append((pattern, (yield p.irecv(pattern[1], source=pattern[0], with_sender=True))))
                    note()
            elif kind == "wait" and kept[rest[0]]:
                pattern, request = kept[rest[0]].pop(rest[1] % len(kept[rest[0]]))
                done(pattern, (yield p.wait(request)))
            elif kind == "wait_all":
                all_of, kept[rest[0]] = kept[rest[0]], []
                got = yield p.wait_all([request for _, request in all_of])
                for (pattern, _), one in zip(all_of, got):
                    done(pattern, one)
            elif kind == "wait_any" and kept[rest[0]]:
                requests = [request for _, request in kept[rest[0]]]
                place, got = yield p.wait_any(requests)
                pattern, _ = kept[rest[0]].pop(place)
                assert requests == [request for _, request in kept[rest[0]]]
                done(pattern, got)
            elif kind == "test":
                for _ in range(rest[2]):
                    if not kept[rest[0]]:
                        break
                    place = rest[1] % len(kept[rest[0]])
                    is_done, got = yield p.test(kept[rest[0]][place][1])
                    if is_done:
                        pattern, _ = kept[rest[0]].pop(place)
                        done(pattern, got)
                        break
                    note()
        return notes

    return program


@pytest.mark.parametrize("place", range(10))
def test_drawn_programs_end_as_in_rust(place: int) -> None:
    assert len(CASES) == 500
    kinds = set()
    for text in CASES[place::10]:
        case = json.loads(text)
        kinds.update(call[0] for calls in case["calls"] for call in calls)
        machine = Machine(**case["machine"])
        try:
            run = machine.run(program_of(case["calls"]))
        except RunError as error:
            assert str(error).startswith("deadlock"), error
            ends = [at.ps if did == "had finished" else None for _, at, did in error.processors]
            assert case["outcome"] == {"deadlock": ends}, text
            continue
        expected = case["outcome"]["finished"]
        assert [account.finish.ps for account in run.processors] == [finish for finish, _ in expected], text
        for (_, notes), own in zip(expected, run.results):
            # Within a send that receives, a program in Python does not see the time.
            assert len(notes) == len(own), text
            for (at, came), (own_at, own_came) in zip(notes, own):
                assert own_at in (None, at) and own_came == came, text
    assert {"send", "recv", "isend", "wait", "test", "probe", "together", "send_recv", "put", "get", "flush"} <= kinds
