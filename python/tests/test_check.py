"""Programs under many orders."""

import array
import collections
import dataclasses
import enum
import gc
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from loggp import US, Machine, RunError
from loggp._compare import difference, same

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


def test_program_that_asks_for_the_time_is_not_checked_completely() -> None:
    def lease(p):
        if p.id == 0:
            yield p.recv("ask", source=1)
            yield p.send(1, "go")
            return True
        until = p.now + 15 * US
        yield p.send(0, "ask")
        yield p.recv("go", source=0)
        return p.now <= until

    two = Machine(P=2, L=8, o=1, g=1)
    assert not two.check(lease, verify=all)
    report = two.check(lease, verify=all, strategy="systematic")
    assert report and not report.is_complete
    assert "there may be more (the program asks for the time" in str(report)


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


NAN = float("nan")


def pairs_that_differ() -> list[tuple[Any, Any]]:
    return [
        (array.array("d", [NAN, 1]), array.array("d", [NAN, 2])),
        (memoryview(array.array("d", [NAN, 1])), memoryview(array.array("d", [NAN, 2]))),
        (complex(NAN, 1), complex(NAN, 2)),
        (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)),
        (collections.Counter("aab"), collections.Counter("ab")),
        (collections.deque([1]), [1]),
        ([1], (1,)),
        (enum.Flag("Side", "LEFT RIGHT").LEFT, enum.Flag("Side", "LEFT RIGHT").RIGHT),
    ]


def test_results_that_differ_do_and_copies_do_not() -> None:
    for one, other in pairs_that_differ():
        assert not same(one, other) and not same(other, one), one
        assert not same([{1: one}], [{1: other}]), one
    for make in (
        lambda: array.array("d", [float("nan"), 1]),
        lambda: complex(float("nan"), 1),
        lambda: collections.deque([float("nan")]),
        lambda: {"b": 1, "a": float("nan")},
        lambda: Kept("x", [float("nan")]),
    ):
        assert same(make(), make()), make()


def test_arrays_of_all_kinds_are_compared() -> None:
    numpy = pytest.importorskip("numpy")
    masked, pair, drawn = numpy.ma.array, [("a", float), ("b", int)], itertools.count()

    def objects(*items: Any) -> Any:
        made = numpy.empty(len(items), object)
        made[:] = items
        return made

    differ: list[tuple[Any, Any]] = [
        (masked([1, 2, 3], mask=[0, 1, 0]), masked([1, 2, 3], mask=[0, 0, 0])),
        (masked([1, 2, 3], mask=[0, 1, 0]), masked([1, 2, 4], mask=[0, 1, 0])),
        (masked([1, 2, 3], mask=[0, 1, 0]), numpy.array([1, 2, 3])),
        (masked([(NAN, 1)], mask=[(0, 1)], dtype=pair), masked([(NAN, 1)], mask=[(1, 1)], dtype=pair)),
        (numpy.ma.masked, 5),
        (numpy.array([(NAN, 1)], pair), numpy.array([(NAN, 2)], pair)),
        (numpy.array([complex(NAN, 1)]), numpy.array([complex(NAN, 2)])),
        (objects(numpy.arange(2), NAN), objects(numpy.arange(3), NAN)),
        ([1], numpy.float64(1)),
    ]
    for one, other in differ:
        assert not same(one, other) and not same(other, one), one
    for make in (
        lambda: numpy.ma.masked_all(3),
        lambda: masked([1, next(drawn), NAN], mask=[0, 1, 0]),
        lambda: masked([(NAN, next(drawn))], mask=[(0, 1)], dtype=pair),
        lambda: numpy.array([(NAN, 1)], pair),
        lambda: numpy.array([complex(NAN, 1)]),
        lambda: objects(numpy.arange(2), NAN),
    ):
        assert same(make(), make()), make()
    assert same(masked([1, 2], mask=[0, 0]), numpy.array([1, 2])) and same(1.0, numpy.float64(1))

    def hides(p):
        order = yield from words(p)
        return numpy.ma.array([1, 2], mask=[order == (2, 1), 0])

    assert "the result is another" in str(THREE.check(hides).failure)


def test_results_may_contain_themselves_and_be_deep() -> None:
    def itself(last: int) -> list[Any]:
        made: list[Any] = [1]
        made += [made, last]
        return made

    def deep(last: int) -> Any:
        made: Any = last
        for _ in range(100_000):
            made = [made]
        return made

    for make in (itself, deep):
        assert same(make(1), make(1)) and not same(make(1), make(2))
    assert THREE.check(lambda p: itself(1), runs=20)


class Opaque:
    pass


@pytest.mark.parametrize("make", [Opaque, lambda: ValueError("x"), lambda: (i for i in range(3))])
def test_results_without_an_equality_get_a_hint(make: Callable[[], Any]) -> None:
    report = THREE.check(lambda p: {"x": [make()]}, runs=20)
    name = type(make()).__name__
    hint = f"the result is another than that of the first run; a {name} has no == of its own"
    assert str(report.failure).startswith(hint) and hint in str(report)
    # What is always the same object, and the difference of others, need no hint.
    assert difference(Opaque, ValueError) == difference(1, 2) == ""


def test_messages_that_come_twice() -> None:
    def count(p):
        if p.id == 0:
            yield p.send(1, "x", 1)
            return 0
        got = 0
        while (yield p.recv_deadline("x", p.now + 100 * US)) is not None:
            got += 1
        return got

    two = Machine(P=2, L=6, o=1, g=1)
    assert two.check(count, runs=20)
    assert "comes again" in str(two.check(count, runs=100, duplicates=1))


class Holder:
    """An object whose method is a program, and which holds what came of it."""

    alive = 0
    kept: Any

    def __init__(self) -> None:
        Holder.alive += 1

    def __del__(self) -> None:
        Holder.alive -= 1

    def program(self, p):
        order = yield from words(p)
        return order


def test_reports_and_orders_are_freed_with_what_holds_them() -> None:
    def report(holder: Holder) -> Any:
        return THREE.check(holder.program, runs=20)

    for hold in (
        report,
        lambda holder: report(holder).results[0][2],
        lambda holder: report(holder).failure,
        lambda holder: THREE.check(holder.program, results_may_differ=True, runs=20),
    ):
        holder = Holder()
        holder.kept = hold(holder)
        del holder
        gc.collect()
        assert Holder.alive == 0
