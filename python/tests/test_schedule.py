"""Schedules, and traces as columns."""

import array
import time

import pytest

import loggp
from loggp import NS, US, Machine, Schedule, Trace

MACHINE = Machine(P=2, L=6, o=2, g=4)


def there_and_back() -> Schedule:
    schedule = Schedule(2)
    schedule.send(0, to=1, bytes=8)
    schedule.recv(0, source=1, bytes=8)
    receive = schedule.recv(1, source=0, bytes=8)
    compute = schedule.calc(1, 5)
    send = schedule.send(1, to=0, bytes=8)
    schedule.requires(1, compute, receive)
    schedule.requires(1, [send], [compute])
    return schedule


def test_schedule_is_played_by_both_sets_of_rules() -> None:
    schedule = there_and_back()
    assert (schedule.P, len(schedule), repr(schedule)) == (2, 5, "<schedule of 2 ranks, 5 operations>")
    play = schedule.play(MACHINE, trace=True, moments=True)
    assert (play.time, play.messages, play.stalls, play.events) == (25 * US, 2, 0, 5)
    assert list(play.finishes) == [25_000_000, 17_000_000]
    assert list(play.moments.end) == [2_000_000, 25_000_000, 10_000_000, 15_000_000, 17_000_000]
    assert list(play.trace.messages.arrival) == [8_000_000, 23_000_000]
    simulated = schedule.play(MACHINE, rules="loggopsim")
    assert simulated.time > 0 and simulated.trace is None and simulated.moments is None
    assert play.warnings == simulated.warnings == []
    schedule.send(0, to=1, bytes=8, tag=1)
    schedule.recv(1, source=0, bytes=9, tag=1)
    for rules in ("papers", "loggopsim"):
        [warning] = schedule.play(MACHINE, rules=rules).warnings
        assert "number 3, counted from 0, of rank 1, with 9 bytes for a message of 8 from rank 0" in warning


def test_play_and_program_take_the_same_time() -> None:
    def program(p):
        if p.id == 0:
            yield p.send(1, "x", words=1)
            yield p.recv("x")
        else:
            yield p.recv("x")
            yield p.work(5)
            yield p.send(0, "x", words=1)

    assert MACHINE.run(program).time == there_and_back().play(MACHINE).time


def test_levels_cost_what_they_cost_programs() -> None:
    machine = Machine(P=4, L=60, o=2, g=4, levels=[dict(P=2, L=6, o=1, g=1)])
    schedule = Schedule(4)
    ranks = [0, 1, 2, 3]
    schedule.send(ranks, [rank ^ 1 for rank in ranks], 8)
    schedule.recv(ranks, [rank ^ 1 for rank in ranks], 8)

    def program(p):
        yield p.send(p.id ^ 1, "x", p.id)
        yield p.recv("x", source=p.id ^ 1)

    assert schedule.play(machine).time == machine.run(program).time == 8 * US
    assert schedule.play(machine.replace(levels=[])).time == 64 * US
    with pytest.raises(ValueError, match="levels"):
        schedule.play(machine, rules="loggopsim")


def test_goal_in_and_out(tmp_path) -> None:
    schedule = there_and_back()
    text = schedule.to_goal()
    assert "calc 5000" in text and "l2 requires l1" in text
    assert "calc 5\n" in schedule.to_goal(unit="1us")
    for again in (
        Schedule.from_goal(text),
        Schedule.from_goal(text.encode()),
        Schedule.from_goal(schedule.to_binary_goal()),
        Schedule.from_goal(schedule.to_goal(unit=US), unit=US),
    ):
        assert again.to_goal() == text and again.play(MACHINE).time == 25 * US
    for binary in (False, True):
        schedule.write(tmp_path / "schedule.goal", binary=binary)
        read = Schedule.read(tmp_path / "schedule.goal")
        assert read.to_goal() == text
        read.calc(0, "1us")  # a schedule that was read can grow
        assert len(read) == 6 and "calc 1000" in read.to_goal()


def test_arrays_add_many_operations_at_once() -> None:
    by_loops, at_once = Schedule(10), Schedule(10)
    for rank in range(10):
        by_loops.send(rank, (rank + 1) % 10, 8 * rank, tag=rank)
        by_loops.recv(rank, (rank - 1) % 10, 8, tag=(rank - 1) % 10)
        by_loops.calc(rank, rank / 4)
        by_loops.requires(rank, 2, 1)
    ranks = array.array("i", range(10))
    tags = [(rank - 1) % 10 for rank in ranks]
    assert list(at_once.send(ranks, [(rank + 1) % 10 for rank in ranks], range(0, 80, 8), tag=ranks)) == [0] * 10
    assert list(at_once.recv(ranks, tags, 8, tag=bytes(tags))) == [1] * 10
    at_once.calc(ranks, array.array("d", [rank / 4 for rank in ranks]))
    at_once.requires(ranks, 2, 1)
    assert at_once.to_goal() == by_loops.to_goal()
    assert list(Schedule(3).calc(range(3), ["1us", 2, 3 * NS])) == [0, 0, 0]
    assert list(Schedule(3).calc([], 1)) == []


def test_a_million_operations_in_a_second() -> None:
    began = time.perf_counter()
    schedule = Schedule(1000)
    ranks = memoryview(array.array("q", list(range(1000)) * 500))
    before = memoryview(array.array("q", [(rank - 1) % 1000 for rank in range(1000)] * 500))
    after = memoryview(array.array("q", [(rank + 1) % 1000 for rank in range(1000)] * 500))
    schedule.send(ranks, after, 8)
    schedule.recv(ranks, before, 8)
    took = time.perf_counter() - began
    assert len(schedule) == 1_000_000 and took < 5  # a second on a computer with nothing else to do


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Schedule(0), "0 is not a number of ranks"),
        (lambda: Schedule(2).send(2, 0, 8), "there is no rank 2; there are ranks 0 to 1"),
        (lambda: Schedule(2).send(0, -1, 8), "there is no rank -1"),
        (lambda: Schedule(2).send(0, 1, -8), "bytes = -8 cannot be"),
        (lambda: Schedule(2).send([0, 1], [1], 8), "to has 1 numbers and rank 2"),
        (lambda: Schedule(2).send(0, 1, 8, tag=-1), "tag = -1 cannot be"),
        (lambda: Schedule(2).calc(0, -1), "a computation of -1 us cannot be"),
        (lambda: Schedule(2).calc(0, "1 parsec"), "there is no unit parsec"),
        (lambda: Schedule(2).requires(0, 1, 0), "rank 0 has 0 operations, and there is no number 1 in it"),
        (lambda: Schedule.from_goal("num_ranks 1 rank 0 { send 8b to 1 }"), "line 1, column"),
        (lambda: there_and_back().play(MACHINE, rules="mine"), "loggopsim"),
        (lambda: there_and_back().play(MACHINE.replace(latency="random:1")), "is played without drawn latencies"),
        (lambda: there_and_back().play(MACHINE, rules="loggopsim", trace=True), "without a trace"),
    ],
)
def test_wrong_schedules_are_refused(wrong, said) -> None:
    with pytest.raises(ValueError) as refused:
        wrong()
    assert said in str(refused.value)


def test_wrong_schedules_add_nothing() -> None:
    schedule = Schedule(3)
    for wrong in (lambda: schedule.send([0, 1, 3], 1, 8), lambda: schedule.send([0, 1], 1, [8, -8])):
        with pytest.raises(ValueError):
            wrong()
    assert len(schedule) == 0
    with pytest.raises(TypeError, match="not whole"):
        schedule.send([0.5], 1, 8)
    with pytest.raises(TypeError, match="is no whole number"):
        schedule.send(None, 1, 8)


def test_cycles_and_deadlocks_are_errors() -> None:
    schedule = Schedule(1)
    schedule.calc([0, 0], 1)
    schedule.requires(0, [0, 1], [1, 0])
    with pytest.raises(ValueError, match="wait"):
        schedule.play(MACHINE)
    waits = Schedule(2)
    waits.recv(0, 1, 8)
    with pytest.raises(loggp.RunError, match="deadlock: 1 of 2") as error:
        waits.play(MACHINE)
    assert error.value.processors[0][2].startswith("waited for")


def trace_of_a_run() -> Trace:
    def program(p):
        if p.id == 0:
            yield p.send(1, "x", words=3)
            yield p.work(2, "add")
        else:
            yield p.recv("x")

    trace = Machine(P=2, L=6, o=2, g=4, G=1).run(program).trace
    assert trace is not None
    return trace


def test_trace_is_columns() -> None:
    trace = trace_of_a_run()
    messages, activities = trace.messages, trace.activities
    assert messages is trace.messages
    assert {name: list(messages[name]) for name in messages} == {
        "sender": [0], "number": [0], "receiver": [1], "words": [3], "latency": [6_000_000],
        "enter": [2_000_000], "first": [8_000_000], "arrival": [10_000_000],
    }  # fmt: skip
    kinds = [trace.KINDS[kind] for kind in activities.kind]
    assert list(zip(activities.processor, kinds, activities.message)) == [
        (0, "send", 0), (0, "work", -1), (1, "idle", -1), (1, "receive", 0),
    ]  # fmt: skip
    assert len(activities) == 4 and "start" in activities and activities.keys()[1] == "start"
    column = messages.arrival
    assert column.readonly and column.format == "q" and column.nbytes == 8
    with pytest.raises(AttributeError, match="there is no column lost; there are sender, number"):
        messages.lost
    with pytest.raises(KeyError):
        messages["lost"]


def test_columns_outlive_their_run() -> None:
    column = trace_of_a_run().messages.arrival
    for _ in range(50):
        trace_of_a_run()
    assert list(column) == [10_000_000]


def test_trace_in_files(tmp_path) -> None:
    trace = trace_of_a_run()
    for chrome in (False, True):
        trace.write(tmp_path / "trace", chrome=chrome)
        again = Trace.read(tmp_path / "trace")
        assert list(again.activities.end) == list(trace.activities.end)
        assert repr(again) == "<trace of 2 processors: 4 activities, 1 messages>"
    with pytest.raises(OSError):
        Trace.read(tmp_path / "none")
    (tmp_path / "wrong").write_text("wrong")
    with pytest.raises(ValueError):
        Trace.read(tmp_path / "wrong")


def test_numpy_and_pandas_see_columns_without_copies() -> None:
    numpy = pytest.importorskip("numpy")
    trace = trace_of_a_run()
    arrival = numpy.asarray(trace.messages.arrival)
    assert arrival.dtype == numpy.int64 and not arrival.flags.owndata and not arrival.flags.writeable
    ranks = numpy.arange(100) % 10
    schedule = Schedule(10)
    assert numpy.asarray(schedule.calc(ranks.astype(numpy.uint8), numpy.linspace(0, 1, 100))).sum() == 450
    schedule.send(ranks[::2], (ranks[::2] + 1) % 10, numpy.full(50, 8, numpy.int32))
    schedule.recv(ranks[::2], (ranks[::2] - 1) % 10)
    assert len(schedule) == 200
    with pytest.raises(ValueError, match="rows and columns"):
        schedule.calc(ranks.reshape(10, 10), 1)
    pandas = pytest.importorskip("pandas")
    assert list(pandas.DataFrame(dict(trace.activities)).columns) == trace.activities.keys()


def test_numpy_values_are_sent() -> None:
    numpy = pytest.importorskip("numpy")

    def program(p):
        if p.id == 0:
            yield p.send(1, "x", numpy.zeros((4, 2), numpy.float32))
            yield p.send(numpy.int64(1), "x", numpy.float64(1))
        else:
            first = yield p.recv("x")
            second = yield p.recv("x")
            return first.shape, second

    run = MACHINE.run(program)
    assert run.results[1] == ((4, 2), 1.0) and run.processors[0].words_sent == 5
