"""Exchanges, the largest of all, parameters between two, and what a trace knows of requests and orders.

The times are those of the same programs in Rust: of the examples of `Proc::exchange` and `collectives::all_max`.
"""

import math

import pytest

import loggp
from loggp import US, Group, Machine, RunError

MACHINE = Machine(P=5, L=8, o=2, g=4)


def neighbours(p):
    left, right = (p.id - 1) % p.P, (p.id + 1) % p.P
    return (yield p.exchange("edge", [(right, p.id, left), (left, p.id, right)]))


def test_exchange_is_that_of_rust() -> None:
    run = MACHINE.run(neighbours)
    assert [sum(value for _, value in edges) for edges in run.results] == [5, 2, 4, 6, 3]
    assert all(sender == value for edges in run.results for sender, value in edges)
    assert (run.time, run.messages) == ((4 + 8 + 2 * 2) * US, 10)


@pytest.mark.parametrize("words", [1, 10])
def test_exchange_is_an_all_to_all(words: int) -> None:
    def by_exchange(p):
        others = [(p.id + step) % p.P for step in range(1, p.P)]
        sources = [(p.id - step) % p.P for step in range(1, p.P)]
        steps = [(to, p.id, source) for to, source in zip(others, sources, strict=True)]
        received = yield p.exchange("all", steps, words=words)
        return sorted(received)

    def library(p):
        yield p.all_to_all([p.id] * p.P, words=words)

    # Only the first waits for receivers.
    for machine in (Machine(P=6, L=6, o=2, g=4, G=1), Machine(P=6, L=6, o=2, g=4, O_s=0, O_r=0, G_s=1, G_l=1, S=5)):
        run = machine.run(by_exchange)
        assert run.time == machine.run(library).time
        assert run.results[2] == [(id, id) for id in range(6) if id != 2]


def test_exchange_of_lengths_that_differ() -> None:
    def program(p):
        other = 1 - p.id
        return (yield p.exchange("x", [(other, bytes(8 + 80 * p.id), other)], longest=11))

    machine = Machine(P=2, L=6, o=2, g=4, O_s=0, O_r=0, G_s=1, G_l=1, S=5)
    assert [len(value) for [(_, value)] in machine.run(program).results] == [88, 8]


def test_largest_of_all_is_that_of_rust() -> None:
    def program(p):
        return (yield p.all_max([2.5, 7.0, 7.0, 1.0][p.id], 10 + p.id, "abcd"[p.id]))

    run = Machine(P=4, L=6, o=2, g=4, word=32).run(program)
    assert (run.results, run.time) == ([(7.0, 11, "b")] * 4, 2 * 11 * US)


@pytest.mark.parametrize(
    ("values", "largest"),
    [
        ([3, 2**62, 2**62 + 1, -5], (2**62 + 1, 2)),
        ([1, 1.5, 1, 1.5], (1.5, 1)),
        ([True, False, False, True], (1, 0)),
        ([0.5, math.nan, -math.inf, 0.0], (0.5, 0)),
    ],
)
def test_largest_of_numbers(values: list[float], largest: tuple[float, int]) -> None:
    def program(p):
        value, place, nothing = yield from p.all_max(values[p.id])
        assert nothing is None
        return value, place

    found = Machine(P=4, L=6, o=2, g=4).run(program).results
    assert found == [largest] * 4


def test_largest_within_a_group() -> None:
    def program(p):
        half = p.within(Group(range(p.id // 4 * 4, p.id // 4 * 4 + 4)))
        return (yield from half.all_max(p.id % 3, with_=[p.id], words=2))

    results = Machine(P=8, L=6, o=2, g=4).run(program).results
    assert (results[0], results[7]) == ((2, 2, [2]), (2, 5, [5]))


def test_parameters_between_two() -> None:
    def program(p):
        return p.params_to(1), p.params_to(3)

    machine = Machine(P=4, L=6, o=2, g=4, levels=[dict(P=2, L=1, o=1, g=1)])
    near, far = machine.run(program).results[0]
    assert (near.L, near.P, far.L, far.S) == (1 * US, 2, 6 * US, None)
    assert repr(far) == "Parameters(P=4, word=8, L='6 us', o='2 us', g='4 us')"
    with pytest.raises(AttributeError, match="speed is no parameter; there are"):
        near.speed


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: p.exchange("x", [(0, 1)]), "is no step of an exchange; give \\(to, value, source\\)"),
        (lambda p: p.exchange("x", [(9, 1, 0)]), "there is no processor 9"),
        (lambda p: p.exchange("x", [(0, object(), 0)]), "does not say how many bytes"),
        (lambda p: p.exchange("x", 3), "not iterable"),
        (lambda p: p.all_max("a"), "a is no number of 64 bits"),
        (lambda p: p.params_to(9), "there is no processor 9"),
    ],
)
def test_mistakes_are_told_at_the_call(call, said: str) -> None:
    def program(p):
        yield call(p)

    with pytest.raises(RunError, match=said):
        MACHINE.run(program)


def test_requests_and_orders_of_a_trace() -> None:
    def program(p):
        request = yield p.irecv("x")
        yield p.send(1 - p.id, "x", p.id)
        return (yield p.wait(request))

    drawn = Machine(P=2, L=60, o=2, g=4, latency="random:3")
    run = drawn.run(program)
    progress = run.trace.progress
    assert [run.trace.KINDS[kind] for kind in progress.kind] == ["idle", "receive"] * 2
    assert list(progress.processor) == [0, 0, 1, 1] and set(progress.request) == {0}
    again = drawn.replace(latency="exact").run(program, order=run.trace.order)
    assert list(again.trace.messages.latency) == list(run.trace.messages.latency)
    assert again.time == run.time != drawn.replace(latency="exact").run(program).time
