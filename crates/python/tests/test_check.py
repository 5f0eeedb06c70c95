"""Programs under many orders."""

import dataclasses
import itertools
from typing import Any

import pytest

from loggp import US, Machine, RunError

THREE = Machine(P=3, L=6, o=1, g=1)


def words(p):
    if p.id == 0:
        first, _ = yield p.recv_with_sender("word")
        second, _ = yield p.recv_with_sender("word")
        return first, second
    yield p.send(0, "word")


def test_failure_is_reduced_and_repeated() -> None:
    report = THREE.check(words)
    assert not report and not report.has_passed and report.runs < 10
    failure = report.failure
    assert failure.delayed == [(1, 0, 0, 6 * US)] and failure.error is None
    assert str(failure) == "the result is another than that of the first run"
    assert "one message late is enough: message 0 of processor 1 to 0, 6 us" in str(report)
    assert THREE.run(words).results[0] == (1, 2)
    again = THREE.run(words, order=failure.order)
    assert again.results[0] == (2, 1)
    assert list(again.trace.messages.arrival) == list(failure.trace.messages.arrival)


def test_all_orders() -> None:
    report = THREE.check(words, strategy="systematic", results_may_differ=True)
    assert report and report.is_complete and report.runs == 2
    assert [results[0] for results, _, _ in report.results] == [(1, 2), (2, 1)]
    assert report.choices == [("tag 0 (word)", 4, 2)]
    for results, _, order in report.results:
        assert THREE.run(words, order=order).results == results


def test_exception_under_an_order_is_found() -> None:
    def program(p):
        order = yield from words(p)
        if p.id == 0:
            assert order == (1, 2), f"came as {order}"

    report = THREE.check(program)
    error = report.failure.error
    assert isinstance(error, RunError) and isinstance(error.__cause__, AssertionError)
    assert "processor 0 raised AssertionError: came as (2, 1)" in str(error)
    assert "processor 0 raised AssertionError: came as (2, 1)" in str(report)


def test_verification() -> None:
    def verify(results):
        if results[0] != (1, 2):
            raise AssertionError("not in order")

    report = THREE.check(words, verify=verify, results_may_differ=True)
    assert str(report.failure) == "the result is wrong: AssertionError: not in order"
    assert str(THREE.check(words, verify=lambda results: "no").failure) == "the result is wrong: no"
    assert THREE.check(words, verify=lambda results: sorted(results[0]) == [1, 2], results_may_differ=True)
    with pytest.raises(ZeroDivisionError):
        THREE.check(words, verify=lambda results: 1 / 0)


def test_losses_and_crashes() -> None:
    def ask(p):
        if p.id == 0:
            yield p.send(1, "ask")
            got = yield p.recv_deadline("reply", p.now + 40 * US)
            return got is not None
        got = yield p.recv_deadline("ask", p.now + 80 * US, with_sender=True)
        if got is not None:
            yield p.send(0, "reply", 1)
        return True

    two = Machine(P=2, L=6, o=1, g=1)
    assert two.check(ask, runs=100)
    lossy = two.check(ask, runs=100, losses=1)
    assert "is lost" in str(lossy) and not lossy
    crashing = two.check(ask, runs=100, crashes=1, verify=lambda results: results[0] is not False)
    assert "crashes before its message" in str(crashing)


def test_results_that_are_arrays_are_compared() -> None:
    numpy = pytest.importorskip("numpy")

    def program(p):
        total = yield from p.all_reduce(numpy.arange(3.0), lambda a, b: a + b)
        return total

    assert THREE.check(program, runs=50)


@dataclasses.dataclass
class Kept:
    name: str
    numbers: Any = dataclasses.field()
    moment: float = dataclasses.field(compare=False, default=0.0)


def test_arrays_and_nan_within_results_are_compared() -> None:
    numpy = pytest.importorskip("numpy")
    array, other = numpy.array([1.0, numpy.nan]), numpy.array([2.0, numpy.nan])
    runs = itertools.count()
    for make in (
        lambda array: (1, array),
        lambda array: [array, [array]],
        lambda array: {"x": (array,)},
        lambda array: Kept("x", array, moment=next(runs)),
        lambda array: array[0] if array[0] > 1 else float("nan"),
    ):
        assert THREE.check(lambda p, make=make: make(array.copy()), runs=20, audits=0), make(array)

        def differs(p):
            order = yield from words(p)
            return make(array.copy() if order in (None, (1, 2)) else other)

        assert not THREE.check(differs), make(array)
    assert not THREE.check(lambda p: numpy.zeros(next(runs) % 2 + 1), runs=20)


def test_a_comparison_that_raises_is_raised() -> None:
    class Incomparable:
        def __eq__(self, other: object) -> bool:
            raise ZeroDivisionError("no comparison")

    with pytest.raises(ZeroDivisionError, match="no comparison"):
        THREE.check(lambda p: [Incomparable()], runs=20)


def test_wrong_settings_are_refused() -> None:
    for settings, said in (
        ({"strategy": "all"}, "systematic"),
        ({"seconds": -1}, "is no time"),
        ({"strategy": "systematic", "losses": 1}, "no faults"),
    ):
        with pytest.raises(ValueError, match=said):
            THREE.check(words, **settings)
