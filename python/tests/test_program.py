"""Programs: every call, in Python."""

import array
import itertools
import operator
from typing import Any

import pytest

import loggp
from loggp import US, Group, Machine, RunError

MACHINE = Machine(P=8, L=6, o=2, g=4)
TWO = Machine(P=2, L=6, o=2, g=4)


def results(program: Any, machine: Machine = TWO) -> list[Any]:
    return machine.run(program).results


def test_the_first_example() -> None:
    def program(p):
        if p.id == 0:
            for to in range(1, p.P):
                yield p.send(to, "datum", 42)
        else:
            value = yield p.recv("datum")
            assert value == 42
            yield p.work(3.5)
        return p.now

    run = MACHINE.run(program, formula=lambda machine: machine.L + 2 * machine.o + 6 * machine.g)
    assert (run.time, run.stalls, run.messages) == (37.5 * US, 0, 7)
    assert run.results[:2] == [26 * US, 13.5 * US]
    assert run.formula == 34 * US
    assert run.processors[0].send == 14 * US and run.processors[1].work == 3.5 * US
    assert run.trace is not None and MACHINE.run(program, trace=False).trace is None


def test_what_a_processor_knows() -> None:
    def program(p):
        assert (p.id, p.P, p.now, p.L, p.g, p.word) == (p.id, 2, 0, 6 * US, 4 * US, 8)
        if p.id == 0:
            yield p.send(1, "x")
            assert (p.now, p.next_send) == (2 * US, 4 * US)
        else:
            yield p.recv("x")
        with pytest.raises(AttributeError, match="has no speed"):
            p.speed
        return repr(p)

    assert results(program) == ["<processor 0 of 2>", "<processor 1 of 2>"]


def test_values_are_any_object_and_arrive_as_they_are() -> None:
    something = object()

    def program(p):
        if p.id == 0:
            yield p.send(1, "x", something, words=3)
        else:
            return (yield p.recv("x", source=0))

    assert results(program)[1] is something


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, 1),
        (1, 1),
        (2**80, 1),
        (True, 1),
        (1.5, 1),
        (1j, 2),
        (b"12345678901234567", 3),
        (bytearray(16), 2),
        ("äöü" * 3, 3),
        ((1, 2.5, b"12345678"), 3),
        ([1] * 10, 10),
        (memoryview(bytes(24)), 3),
        (array.array("i", [1, 2, 3, 4]), 2),
        (5 * US, 1),
    ],
)
def test_lengths(value: Any, words: int) -> None:
    def program(p):
        if p.id == 0:
            yield p.send(1, "x", value)
        else:
            yield p.recv("x")

    assert TWO.run(program).processors[0].words_sent == words


def test_forms_of_receiving() -> None:
    def program(p):
        if p.id == 0:
            for tag in ("a", "b", 3, ("step", 2), "c", "d"):
                yield p.send(1, tag, str(tag))
            return
        got = [(yield p.recv("b")), (yield p.recv("a", source=0)), (yield p.recv_with_sender(3, source=0))]
        got += [(yield p.recv_with_sender(("step", 2))), (yield p.recv()), (yield p.recv_with_sender(source=0))]
        got += [(yield p.try_recv("none")), (yield p.recv_deadline("none", p.now + 5 * US)), (yield p.probe("none"))]
        return got

    step = str(("step", 2))
    assert results(program)[1] == [
        "b", "a", (0, "3"), (0, step), ("c", "c"), (0, ("d", "d")), None, None, None,
    ]  # fmt: skip


def test_yield_and_yield_from_are_the_same() -> None:
    def half(p, tag):
        if p.id == 0:
            yield from p.send(1, tag, (1, 2))
            return None
        return (yield from p.recv(tag, source=0))

    def program(p):
        one = yield from half(p, "one")
        two = yield p.recv("two", source=0) if p.id else p.send(1, "two", (1, 2))
        return one, two

    assert results(program) == [(None, None), ((1, 2), (1, 2))]


def test_looks_take_a_cycle() -> None:
    def program(p):
        if p.id == 0:
            yield p.work(20)
            yield p.send(1, "x", 1)
            return None
        looks = 0
        while (found := (yield p.try_recv("x"))) is None:
            looks += 1
        return looks, found

    assert results(program)[1] == (28, 1)


def test_requests() -> None:
    def program(p):
        other = 1 - p.id
        sends = []
        for i in range(3):
            sends.append((yield p.isend(other, ("x", i), i)))
        receives = []
        for i in range(3):
            receives.append((yield p.irecv(("x", i), with_sender=i == 0)))
        first = yield p.wait_any(receives)
        assert len(receives) == 2
        done, got = yield p.test(receives[0])
        while not done:
            done, got = yield p.test(receives[0])
        rest = yield p.wait_all([receives[1], *sends])
        return first, got, rest

    other = [(1 - id) for id in range(2)]
    assert results(program) == [((0, (o, 0)), 1, [2, None, None, None]) for o in other]


def test_request_of_any_tag_and_of_one_sender() -> None:
    def program(p):
        if p.id == 0:
            yield p.send(1, "x", 1)
            yield p.send(1, "y", 2)
            return None
        one = yield p.irecv("x", source=0)
        two = yield p.irecv(with_sender=True)
        assert repr(two) == "<request 1 of processor 1>"
        return [(yield p.wait(one)), (yield p.wait(two))]

    assert results(program)[1] == [1, (0, ("y", 2))]


def test_sends_that_receive() -> None:
    def program(p):
        other, got = 1 - p.id, []
        for i in range(4):
            if i % 2:
                yield p.send_receiving(other, "x", i, "x", lambda value: got.append((other, value)))
            else:
                on = lambda sender, value: got.append((sender, value))
                yield p.send_receiving(other, "x", i, "x", on, with_sender=True)
        while len(got) < 4:
            got.append((yield p.recv_with_sender("x")))
        swapped = yield p.send_recv(other, other, "y", p.id)
        return got == [(other, i) for i in range(4)], swapped

    assert results(program) == [(True, 1), (True, 0)]


def test_work_in_cycles_units_and_kinds() -> None:
    machine = Machine(P=1, cycle="2us", rates={"add": "50ns"})

    def program(p):
        moments = []
        for call in (p.work(1), p.work("3.5us"), p.work(0.25), p.work(2 * US), p.work(10, "add"), p.work(3, "mul")):
            before = p.now
            yield call
            moments.append(p.now - before)
        yield p.wait_until("1ms")
        return [moment / US for moment in moments], p.now

    assert results(program, machine) == [([2, 3.5, 0.5, 2, 0.5, 6], 1000 * US)]


COLLECTIVES = {
    "broadcast": (lambda p: p.broadcast(2, "datum" if p.id == 2 else None), ["datum"] * 4),
    "reduce": (lambda p: p.reduce(1, str(p.id), operator.add), [None, "0123", None, None]),
    "all_reduce": (lambda p: p.all_reduce(str(p.id), operator.add), ["0123"] * 4),
    "all_reduce of words": (lambda p: p.all_reduce(p.id, max, words=1), [3] * 4),
    "scan": (lambda p: p.scan(str(p.id), operator.add), ["0", "01", "012", "0123"]),
    "exclusive_scan": (lambda p: p.exclusive_scan(str(p.id), operator.add), [None, "0", "01", "012"]),
    "gather": (lambda p: p.gather(3, p.id), [None, None, None, [0, 1, 2, 3]]),
    "scatter": (lambda p: p.scatter(0, "abcd" if p.id == 0 else None), list("abcd")),
    "all_gather": (lambda p: p.all_gather(p.id), [[0, 1, 2, 3]] * 4),
    "all_to_all": (lambda p: p.all_to_all([(p.id, to) for to in range(4)]), [[(s, t) for s in range(4)] for t in range(4)]),
    "reduce_scatter": (lambda p: p.reduce_scatter(range(4), operator.add), [0, 4, 8, 12]),
    "broadcast_vector": (lambda p: p.broadcast_vector(0, 5, range(5)), [[0, 1, 2, 3, 4]] * 4),
    "broadcast_chain": (lambda p: p.broadcast_chain(0, 5, range(5)), [[0, 1, 2, 3, 4]] * 4),
    "all_gather_vector": (lambda p: p.all_gather_vector([1] * 4, [p.id]), [[[0], [1], [2], [3]]] * 4),
    "reduce_vector": (lambda p: p.reduce_vector(0, [p.id, 1], operator.add), [[6, 4], None, None, None]),
    "all_reduce_vector": (lambda p: p.all_reduce_vector([p.id, 1.5], operator.add), [[6, 6.0]] * 4),
    "scan_vector": (lambda p: p.scan_vector([p.id, 1], operator.add), [[0, 1], [1, 2], [3, 3], [6, 4]]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(name: str) -> None:
    call, expected = COLLECTIVES[name]

    def program(p):
        value = yield from call(p)
        yield p.barrier()
        return value

    assert results(program, Machine(P=4, L=6, o=2, g=4, G=1)) == expected


def test_groups() -> None:
    def program(p):
        row, column = Group(range(p.id // 3 * 3, p.id // 3 * 3 + 3)), Group(range(p.id % 3, 6, 3))
        across = yield from p.within(row).all_reduce(p.id, operator.add)
        down = yield from p.within(column).all_reduce(p.id, operator.add)
        last = yield from p.within(row).broadcast(2, p.id if row.rank(p.id) == 2 else None)
        yield p.within(row).barrier()
        return across, down, last

    expected = [(3, 3, 2), (3, 5, 2), (3, 7, 2), (12, 3, 5), (12, 5, 5), (12, 7, 5)]
    assert results(program, Machine(P=6, L=6, o=2, g=4)) == expected
    assert Group([1, 2]) == Group((1, 2)) and len(Group([3])) == 1 and repr(Group([0, 2])) == "Group([0, 2])"


def test_barrier_of_the_machine() -> None:
    def program(p):
        yield p.work(p.id)
        yield p.barrier()
        return p.now

    assert results(program, Machine(P=8, L=6, o=2, g=4, barrier=5)) == [12 * US] * 8


def test_functions_without_a_yield_are_programs() -> None:
    assert results(lambda p: p.id * 10) == [0, 10]


def test_a_run_within_a_run() -> None:
    def inner(p):
        if p.id == 0:
            yield p.send(1, "x", 1)
            return None
        return (yield p.recv("x", source=0))

    def program(p):
        yield p.work(1)
        got = TWO.run(inner).results[1]
        return (yield from p.all_reduce(got, operator.add))

    assert results(program) == [2, 2]


def test_deep_recursion_has_the_threads_stack() -> None:
    def deep(n: int) -> int:
        return 0 if n == 0 else 1 + deep(n - 1)

    def program(p):
        yield p.work(1)
        depth = deep(500)
        return (yield from p.all_reduce(depth, lambda a, b: a + b + deep(400)))

    assert results(program) == [1400, 1400]


def test_settings_of_the_machine() -> None:
    def program(p):
        if p.id == 0:
            for i in range(20):
                yield p.send(1, "x", i)
            return None
        order = []
        for _ in range(20):
            order.append((yield p.recv("x")))
        return order, p.now

    drawn = Machine(P=2, L=60, o=1, g=1, latency="random:7")
    first, second = results(program, drawn)[1], results(program, drawn)[1]
    assert first == second and first[0] != sorted(first[0])
    assert results(program, drawn.replace(latency="exact"))[1][0] == list(range(20))
    noisy = Machine(P=2, L=6, o=1, g=1, noise="100us:10us")
    assert noisy.run(program).time > Machine(P=2, L=6, o=1, g=1).run(program).time


def test_levels() -> None:
    def program(p):
        if p.id == 0:
            yield p.send(1, "x")
            yield p.send(2, "x")
        elif p.id < 3:
            yield p.recv("x", source=0)
        return p.now

    levels = Machine(P=4, L=60, o=2, g=4, levels=[dict(P=2, L=6, o=1, g=1)])
    # Within a pair 1 + 6 + 1, and between pairs the second message: 1 + 2 + 60 + 2.
    assert results(program, levels) == results(program, levels.replace(ports="dual")) == [3 * US, 8 * US, 65 * US, 0]


def test_a_run_ends_before_its_programs() -> None:
    def serve(p):
        while True:
            sender, value = yield p.recv_with_sender("ask")
            yield p.work(1)
            yield p.send(sender, "answer", value + 1)

    def program(p):
        if p.id == 0:
            yield from serve(p)
        for i in itertools.count():
            yield p.send(0, "ask", i)
            yield p.recv("answer")
            if p.id == 2 and i == 1:
                return "done"

    run = Machine(P=3, L=6, o=2, g=4).run(program, until=100)
    whole = Machine(P=3, L=6, o=2, g=4).run(program, until=1000)
    assert run.results == [None, None, "done"] and run.time == 100 * US and whole.time == 1000 * US
    begun = {(row, enter) for row, enter in enumerate(run.trace.messages.enter) if enter < 100_000_000}
    assert len(begun) == len(run.trace.messages) > 10 and run.messages < whole.messages / 5
    assert max(run.trace.activities.start) <= 100_000_000
    with pytest.warns(loggp.LoggpWarning, match="could end before its programs"):
        assert loggp.analyze(run)[0].messages == run.messages
    with pytest.raises((ValueError, loggp.LoggpError), match="could end before its programs"):
        loggp.analyze(run, what_if="L=9us", no_sensitivities=True)
    assert "<svg" in run._repr_html_()
    again = Machine(P=3, L=6, o=2, g=4).run(program, order=run.trace.order, until=100)
    assert list(again.trace.messages.arrival) == list(run.trace.messages.arrival)
    # Time goes on while programs wait for ever, or only compute.
    assert TWO.run(serve, until="1ms").results == [None, None] and TWO.run(serve, until=0).time == 0
    assert TWO.run(computes, until=50).results == [None, None]
    assert TWO.run(lambda p: 7, until=50).results == [7, 7]
    with pytest.raises(ValueError, match="a run until -1 us cannot be"):
        TWO.run(serve, until=-1)
    with pytest.raises(RunError, match="raised ZeroDivisionError"):
        TWO.run(lambda p: 1 // 0, until=50)


def computes(p):
    while True:
        yield p.work(1)


def test_messages_may_be_left() -> None:
    def program(p):
        yield p.send(1 - p.id, "x", 1)
        yield p.isend(1 - p.id, "x", 2)
        return p.id

    with pytest.raises(RunError):
        TWO.run(program)
    assert TWO.run(program, allow_unreceived=True).results == [0, 1]
    with pytest.raises(RunError, match="deadlock"):
        TWO.run(lambda p: (yield p.recv("x")), allow_unreceived=True)


def test_values_are_copied_if_told() -> None:
    def program(p):
        numbers = [1, 2]
        if p.id == 0:
            yield p.send(1, "x", numbers)
            numbers.append(3)
            yield p.send(1, "then", None)
        else:
            yield p.recv("then")
            numbers = yield p.recv("x", source=0)
        shared = yield from p.broadcast(0, numbers if p.id == 0 else None)
        shared.append(p.id)
        mine = [p.id]
        total = yield from p.all_reduce(mine, operator.iadd)
        return numbers, shared, mine, total

    four = Machine(P=2, L=6, o=2, g=4)
    copied = four.run(program, copy=True).results
    assert copied == [([1, 2, 3], [1, 2, 3, 0], [0], [0, 1]), ([1, 2], [1, 2, 3, 1], [1], [0, 1])]
    assert four.run(program).results[1][0] == [1, 2, 3, 0, 1]  # the object itself
    assert four.check(program, copy=True, runs=10)


def test_10_000_processors() -> None:
    def program(p):
        yield p.send((p.id + 1) % p.P, "x", p.id)
        sender, value = yield p.recv_with_sender("x")
        assert sender == value
        return value

    run = Machine(P=10_000, L=6, o=2, g=4).run(program)
    assert run.time == 10 * US and sum(run.results) == 49_995_000
