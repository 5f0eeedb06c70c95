"""What goes wrong gives one clear exception, and leaves the interpreter well."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

import loggp
from loggp import Machine, RunError

TWO = Machine(P=2, L=6, o=2, g=4)


def refused(program: Any, machine: Machine = TWO) -> RunError:
    with pytest.raises(RunError) as error:
        machine.run(program)
    return error.value


def test_deadlock_says_what_each_was_doing() -> None:
    def program(p):
        yield p.recv("datum")

    error = refused(program)
    what = f"waited for a message with tag 0 (datum), at {__file__}:{program.__code__.co_firstlineno + 1}"
    assert str(error) == (
        "deadlock: 2 of 2 processors wait for messages that nobody sends\n"
        f"  processor 0 at 0 us {what}\n"
        f"  processor 1 at 0 us {what}"
    )
    assert error.processor is None and error.__cause__ is None
    assert error.processors == [(id, 0, what) for id in (0, 1)]
    report = TWO.check(program, runs=2)
    assert str(report.failure) == str(error) and str(error) in str(report)


def test_exception_of_a_program_is_the_cause() -> None:
    def inner(p):
        yield p.work(1)
        raise KeyError("lost")

    def program(p):
        if p.id == 1:
            yield from inner(p)
        yield p.recv("x")

    error = refused(program)
    assert str(error).startswith("processor 1 raised KeyError: 'lost'\n  processor 0 at 0 us waited")
    assert error.processor == 1 and isinstance(error.__cause__, KeyError)
    names = [frame.name for frame in traceback.extract_tb(error.__cause__.__traceback__)]
    assert names == ["program", "inner"]


def test_message_that_nobody_receives() -> None:
    def program(p):
        if p.id == 0:
            yield p.send(1, "datum", 1)

    line = program.__code__.co_firstlineno + 2
    assert str(refused(program)).startswith(
        "a message was never received: from processor 0 to processor 1 with tag 0 (datum), there at 8 us; "
        f"the tag was first named at {__file__}:{line}\n"
    )


def test_polling_deadlock_ends() -> None:
    def program(p):
        while (yield p.try_recv("x")) is None:
            pass

    assert "looks for messages again and again" in str(refused(program))


def test_nothing_and_a_message_of_none_differ() -> None:
    def program(p):
        if p.id == 0:
            yield p.send(1, "go")
            yield p.send(1, "go")
        else:
            yield p.wait_until(50)
            assert (yield p.try_recv("go", with_sender=True)) == (0, None)
            yield p.recv_deadline("go", 90)

    assert "a message with the value None came, and None says that none did" in str(refused(program))


def yields(call: Any) -> Any:
    def program(p):
        yield call(p)

    return program


def forgets(p):
    p.send(1, "x", 1)
    yield p.work(1)


def forgets_at_the_end(p):
    yield p.work(1)
    p.barrier()


def keeps_one(p):
    kept = p.send(1, "x", 1)
    yield p.work(1)
    yield p.work(1)
    del kept


def keeps_one_to_the_end(p):
    kept = p.send(1, "x", 1)
    yield p.work(1)
    yield p.work(1)
    return kept is None


def makes_one_last(p):
    yield p.work(1)
    kept = p.send(1, "x", 1)
    return kept is None


def adds_to_a_call(p):
    return (yield p.work(p.recv("x") + 1))


def returns_a_call(p):
    return p.barrier()


def sub(p):
    yield p.barrier()


def unpacks(p):
    sender, value = p.recv_with_sender("x")
    yield p.work(1)


def returns_a_generator(p):
    yield p.work(1)
    return sub(p)


def twice(p):
    call = p.work(1)
    yield call
    yield call


async def coroutine(p):
    return p


def of_another() -> Any:
    calls: list[Any] = []

    def program(p):
        calls.append(p.work(1))
        yield calls[0]

    return program


def waits_twice(p):
    if p.id == 0:
        request = yield p.isend(1, "x")
        yield p.wait(request)
        yield p.wait(request)
    yield p.recv("x")


def unwaited(p):
    if p.id == 0:
        yield p.isend(1, "x")
    else:
        yield p.recv("x")


def mixed_requests(p):
    requests = [(yield p.isend(p.id, "x")), (yield p.irecv("x"))]
    yield p.wait_any(requests)


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(
    ("program", "cause", "said"),
    [
        (yields(lambda p: 42), TypeError, "processor 0 yielded 42, which is no call"),
        (yields(lambda p: None), TypeError, "processor 0 yielded None"),
        (yields(lambda p: p.send(2, "x")), ValueError, "there is no processor 2; there are 0 to 1"),
        (yields(lambda p: p.send(-1, "x")), ValueError, "there is no processor -1"),
        (yields(lambda p: p.send("1", "x")), TypeError, "'1' is no processor"),
        (yields(lambda p: p.send(1, 1.5)), TypeError, "1.5 is no tag"),
        (yields(lambda p: p.send(1, ("x", -1))), ValueError, "-1 is no step of a tag"),
        (yields(lambda p: p.send(1, "x", object())), TypeError, "does not say how many bytes it counts for; give words="),
        (yields(lambda p: p.send(1, "x", {1: 2})), TypeError, "a dict does not say"),
        (yields(lambda p: p.send(1, "x", 1, words=-1)), ValueError, "words=-1 is no length"),
        (yields(lambda p: p.work(-1)), ValueError, "work of -1 cannot be"),
        (yields(lambda p: p.work("3 parsec")), ValueError, "there is no unit parsec"),
        (yields(lambda p: p.work(None)), TypeError, "None is no time"),
        (yields(lambda p: p.wait(3)), TypeError, "3 is no request"),
        (yields(lambda p: p.wait_any([])), ValueError, "any of no requests"),
        (yields(lambda p: p.all_reduce(1, None)), TypeError, "None combines no values"),
        (yields(lambda p: p.all_reduce(1, lambda a, b: 1 / 0)), ZeroDivisionError, "division by zero"),
        (yields(lambda p: p.all_reduce(1, lambda a, b: object())), TypeError, "does not say how many bytes"),
        (yields(lambda p: p.all_reduce_vector(["a"], max)), TypeError, "'a' is no number"),
        (yields(lambda p: p.broadcast(2, 1)), ValueError, "there is no processor 2"),
        (yields(lambda p: p.within(loggp.Group([0])).broadcast(1, 1)), ValueError, "1 is no rank in a group of 1"),
        (yields(lambda p: p.speed), AttributeError, "a processor has no speed"),
        (forgets, RuntimeError, "p.send(...) was made at "),
        (forgets_at_the_end, RuntimeError, "not yielded, so that nothing was done; write `yield p.barrier(...)`"),
        (keeps_one, RuntimeError, "p.send(...) was made before the yield at "),
        (keeps_one_to_the_end, RuntimeError, "p.send(...) was made before the yield at "),
        (makes_one_last, RuntimeError, "p.send(...) was made after the last yield of makes_one_last ("),
        (adds_to_a_call, RuntimeError, "not yielded, so that nothing was done; write `yield p.recv(...)`"),
        (yields(lambda p: p.send(1, "x", 1, words=2**64)), ValueError, "words=18446744073709551616 is no length"),
        (yields(lambda p: p.exchange("x", [], longest=-1)), ValueError, "-1 cannot be; give a whole number from 0"),
        (yields(lambda p: p.flush(2)), ValueError, "there is no processor 2"),
        (yields(lambda p: p.atomic(1, 5)), TypeError, "5 changes no memory; give a function"),
        (returns_a_call, RuntimeError, "returned p.barrier(...) and did not yield it, so that nothing was done; write `return (yield"),
        (returns_a_generator, RuntimeError, "returned the generator sub, of which nothing was done; write `return (yield from sub("),
        (unpacks, TypeError, "p.recv_with_sender(...) was not yielded, so that it has no result to unpack; write `yield p.recv_with_sender("),
        (yields(sub), TypeError, "yielded the generator sub, which is no call; write `yield from sub(...)`"),
        (twice, RuntimeError, "one p.work(...) twice"),
        (of_another(), RuntimeError, "yielded a call of processor 0"),
        (coroutine, TypeError, "is an async function"),
        (waits_twice, ValueError, "has been waited for"),
        (mixed_requests, ValueError, "requests of several forms"),
    ],
)
def test_wrong_programs(program: Any, cause: type[Exception], said: str) -> None:
    error = refused(program)
    assert said in str(error) and type(error.__cause__) is cause and said in str(error.__cause__)
    assert error.processor is not None


def test_wrong_calls_have_their_line() -> None:
    def program(p):
        yield p.barrier()
        yield from p.within(loggp.Group([0])).broadcast(0, 1)  # processor 1 is not in it

    error = refused(program)
    line = program.__code__.co_firstlineno + 2
    assert f"(at {__file__}:{line})" in str(error) and "is not in" in str(error) and ".rs" not in str(error)
    assert "processor 0 ended and had not waited for its isend" in str(refused(unwaited))
    assert f"{__file__}:{forgets.__code__.co_firstlineno + 1}" in str(refused(forgets))
    kept = str(refused(keeps_one_to_the_end))
    assert f"before the yield at {__file__}:{keeps_one_to_the_end.__code__.co_firstlineno + 2} " in kept
    last = str(refused(makes_one_last))
    assert f"makes_one_last ({__file__}:{makes_one_last.__code__.co_firstlineno})" in last
    added = refused(adds_to_a_call)
    assert f"at {__file__}:{adds_to_a_call.__code__.co_firstlineno + 1}" in str(added)
    assert isinstance(added.__cause__, RuntimeError) and isinstance(added.__cause__.__cause__, TypeError)


def test_calls_may_be_made_before_they_are_yielded() -> None:
    def program(p):
        calls = [p.work(1), p.work(2)]
        yield p.work(3)
        for call in calls:
            yield call
        return p.now

    assert TWO.run(program).results == [6 * loggp.US] * 2


def test_what_is_no_program_or_number_is_refused() -> None:
    for program, said in ((3, "3 is no program; give a function"), (forgets(None), "a generator of forgets is no program")):
        for start in (TWO.run, TWO.check):
            with pytest.raises(TypeError, match=said):
                start(program)  # type: ignore[operator]
    for setting in ("runs", "losses", "duplicates", "crashes", "audits", "seed"):
        with pytest.raises(ValueError, match="-1 cannot be; give a whole number from 0"):
            TWO.check(sub, **{setting: -1})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="-1 cannot be"):
        loggp.Schedule(-1)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    missing, trace = tmp_path / "missing.loggp", TWO.run(lambda p: None).trace
    assert trace is not None
    for use in (
        lambda: Machine.from_file(missing),
        lambda: loggp.Trace.read(missing),
        lambda: loggp.Schedule.read(missing),
        lambda: trace.write(tmp_path / "folder" / "run.loggp"),
        lambda: loggp.Schedule(2).write(str(tmp_path / "folder" / "ring.goal")),
        lambda: loggp.analyze(missing),
        lambda: loggp.replay(str(missing)),
        lambda: loggp.compare("scatter", machine=missing),
    ):
        with pytest.raises(FileNotFoundError) as refused:
            use()
        assert str(refused.value.filename).startswith(str(tmp_path)) and refused.value.errno == 2


def test_unawaited_requests_have_their_line() -> None:
    def helper(p):
        yield p.send(1 - p.id, "y")
        return (yield from p.isend(1 - p.id, "x"))

    def program(p):
        first = yield p.irecv("y")
        yield from helper(p)
        yield p.wait(first)
        yield p.recv("x")

    error = refused(program)
    line = helper.__code__.co_firstlineno + 2
    assert f"had not waited for its isend of 1 word to 1 with tag 1 (x), called for at " in str(error)
    assert f"(at {__file__}:{line})" in str(error) and ".rs" not in str(error)
    report = TWO.check(program, runs=2)
    assert f"(at {__file__}:{line})" in str(report.failure.error) and ".rs" not in str(report)


def test_messages_that_are_too_long() -> None:
    def program(p):
        yield p.send(1, "x", 1, words=2**40)

    assert "a message on this machine has at most" in str(refused(program))


def test_program_may_handle_its_mistake() -> None:
    def program(p):
        try:
            yield 3
        except TypeError:
            yield p.work(1)
            return "handled"

    assert TWO.run(program).results == ["handled"] * 2


def test_values_without_a_length_are_refused() -> None:
    itself: list[Any] = [1]
    itself.append((itself, 2))
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for value, said in ((itself, "contains itself"), (deep, "nested more than 1000 deep")):
        error = refused(yields(lambda p, value=value: p.send(1, "x", value)))
        assert said in str(error) and "give words=" in str(error) and isinstance(error.__cause__, ValueError)
    shared: Any = [1]
    for _ in range(60):
        shared = [shared, shared]
    assert "a message on this machine has at most" in str(refused(yields(lambda p: p.send(1, "x", shared))))


def test_endless_work_comes_to_the_end_of_time() -> None:
    def program(p):
        for _ in range(10):
            yield p.work(10**12)
        raise AssertionError("time goes on")

    error = str(refused(program))
    line = program.__code__.co_firstlineno + 2
    assert error.startswith("processor 0 came to the end of time, ") and f"(at {__file__}:{line})" in error


def test_programs_are_closed() -> None:
    ended: list[int] = []

    def program(p):
        try:
            yield p.recv("x")
        finally:
            ended.append(p.id)

    refused(program, Machine(P=5, L=6, o=2, g=4))
    assert ended == [0, 1, 2, 3, 4]


def test_what_cannot_be_set_is_refused() -> None:
    for settings in ({"cores": 2}, {"clock": "wall"}, {"work": "measured"}):
        with pytest.raises(TypeError, match="is nothing of a machine"):
            Machine(2, **settings)  # type: ignore[arg-type]


def run_python(program: str, *, interrupt_after: float | None = None) -> tuple[int, str, float]:
    """Runs a program in an interpreter of its own, interrupts it, and says how long it took to end after that."""
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert child.stdout is not None
    began = time.monotonic()
    if interrupt_after is not None:
        assert child.stdout.readline() == "ready\n"
        time.sleep(interrupt_after)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=60)
    return child.returncode, said, time.monotonic() - began


@pytest.mark.parametrize("call", ["p.work(1)", "p.all_reduce(1, max)"])
def test_interrupt_ends_a_program_that_never_ends(call: str) -> None:
    code, said, seconds = run_python(
        f"""
        import loggp, time
        def program(p):
            print("ready", flush=True) if p.id == 0 else None
            while True:
                yield {call}
        try:
            loggp.Machine(P=4, L=6, o=2, g=4).run(program, trace=False)
        except KeyboardInterrupt:
            print("interrupted")
            raise SystemExit(3)
        """,
        interrupt_after=0.3,
    )
    assert (code, said) == (3, "interrupted\n") and seconds < float(os.environ.get("LOGGP_SECONDS", "2"))


def test_interrupt_ends_a_check() -> None:
    code, said, _ = run_python(
        """
        import loggp
        print("ready", flush=True)
        def program(p):
            for i in range(1000):
                yield p.all_reduce(1, max)
        try:
            loggp.Machine(P=8, L=6, o=2, g=4).check(program, runs=10**9)
        except KeyboardInterrupt:
            raise SystemExit(3)
        """,
        interrupt_after=0.5,
    )
    assert (code, said) == (3, "")


LONG = """
    import loggp, os, signal, threading, time
    machine = loggp.Machine(P=1000, L=6, o=2, g=4)
    ring = loggp.Schedule(1000)
    ranks = list(range(1000)) * 500
    ring.send(ranks, [(rank + 1) % 1000 for rank in ranks], 8)
    ring.recv(ranks, [(rank - 1) % 1000 for rank in ranks], 8)
    goal = ring.to_goal()
    def talk(p):
        for i in range(500):
            yield p.send((p.id + 1) % p.P, "x")
            yield p.recv("x")
    def trace():
        return ring.play(machine, trace=True).trace
    sent = 0
    def interrupt():
        global sent
        time.sleep(0.1)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        while True:
            {work}
    except KeyboardInterrupt:
        print("ended", time.monotonic() - sent)
    assert ring.play(machine).messages == 500_000
"""


@pytest.mark.parametrize(
    "work",
    [
        "ring.play(machine)",
        "ring.play(machine, rules='loggopsim')",
        "ring.play(machine, trace=True).trace.activities",
        "loggp.Schedule.from_goal(goal)",
        "ring.to_goal()",
        "ring.to_binary_goal()",
        "ring.write(os.devnull)",
        "trace().write(os.devnull)",
        "machine.run(talk).trace.messages",
        "machine.check(talk, runs=1)",
        "machine.replace(P=8).check(talk, strategy='systematic')",
    ],
)
def test_interrupt_ends_long_work_at_once(work: str) -> None:
    code, said, _ = run_python(LONG.replace("{work}", work))
    assert code == 0 and said.startswith("ended "), said
    assert float(said.split()[1]) < float(os.environ.get("LOGGP_SECONDS", "2")) / 4


@pytest.mark.parametrize("write", ["trace.write(name)", "trace.write(name, chrome=True)", "ring.write(name)"])
def test_interrupted_writing_leaves_the_old_file(tmp_path: Path, write: str) -> None:
    """A file is written beside the old one, which it replaces when it is complete."""
    (tmp_path / "file").write_text("old")
    code, said, _ = run_python(
        f"""
        import loggp, os, signal, threading
        name, other = {str(tmp_path / "file")!r}, {str(tmp_path / "other")!r}
        ring, ranks = loggp.Schedule(1000), list(range(1000)) * 10
        ring.send(ranks, [(rank + 1) % 1000 for rank in ranks], 8)
        ring.recv(ranks, [(rank - 1) % 1000 for rank in ranks], 8)
        trace = ring.play(loggp.Machine(P=1000, L=6, o=2, g=4), trace=True).trace
        {write.replace("name", "other", 1)}
        print(os.path.getsize(other))
        os.remove(other)
        threading.Timer(0.03, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                {write}
        except KeyboardInterrupt:
            pass
        """
    )
    assert code == 0, said
    assert os.path.getsize(tmp_path / "file") in (len("old"), int(said)) and os.listdir(tmp_path) == ["file"]


def test_an_interrupted_process_leaves_no_unfinished_file(tmp_path: Path) -> None:
    """Also where the work computes for long after the file was begun: the process does not wait for it."""
    code, said, _ = run_python(
        f"""
        import loggp, os, signal, sys, threading, time
        ring, ranks = loggp.Schedule(1000), list(range(1000)) * 300
        ring.send(ranks, [(rank + 1) % 1000 for rank in ranks], 8)
        ring.recv(ranks, [(rank - 1) % 1000 for rank in ranks], 8)
        def talk(p):
            for i in range(300):
                yield p.send((p.id + 1) % p.P, "x")
                yield p.recv("x")
        trace = loggp.Machine(P=1000, L=6, o=2, g=4).run(talk).trace
        threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            trace.write({str(tmp_path / "run.loggp")!r})
        except KeyboardInterrupt:
            sys.stdout.flush()
            os._exit(3)
        """
    )
    assert code in (0, 3), said
    assert all(not name.startswith(".") for name in os.listdir(tmp_path)), os.listdir(tmp_path)


def test_cycles_through_results_are_collected() -> None:
    class Counted:
        alive = 0

        def __init__(self) -> None:
            Counted.alive += 1

        def __del__(self) -> None:
            Counted.alive -= 1

    def program(p):
        return result
        yield

    for hold in (lambda: TWO.run(program), lambda: TWO.check(program, runs=2)):
        result: Any = Counted()
        result.held = hold()
        del result
        gc.collect()
        assert Counted.alive == 0


def test_system_exit_ends_the_interpreter() -> None:
    code, said, _ = run_python(
        """
        import loggp
        def program(p):
            yield p.work(1)
            raise SystemExit(5)
        loggp.Machine(P=4, L=6, o=2, g=4).run(program)
        """
    )
    assert (code, said) == (5, "")


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_runs_leave_nothing() -> None:
    class Counted:
        alive = 0

        def __init__(self) -> None:
            Counted.alive += 1

        def __del__(self) -> None:
            Counted.alive -= 1

    def well(p):
        yield p.send(1 - p.id, "x", Counted(), words=1)
        yield p.recv("x")
        total = yield from p.all_reduce(1, lambda a, b: a + b)
        request = yield p.irecv("y")
        yield p.isend(1 - p.id, "y") if p.id < 0 else p.send(1 - p.id, ("y"), Counted(), words=2)
        yield p.wait(request)
        return total

    def badly(p):
        yield p.send(1 - p.id, "x", Counted(), words=1)
        yield p.send(1 - p.id, "x", Counted(), words=1)
        yield p.recv("x")
        if p.id == 1:
            raise ValueError(Counted())
        yield p.all_reduce((Counted(), 1), lambda a, b: a, words=1)

    def deadlock(p):
        yield p.isend(1 - p.id, "x", Counted(), words=1)
        keep = Counted()
        yield p.recv("y")
        return keep

    def round_of_runs() -> None:
        TWO.run(well)
        for program in (badly, deadlock):
            try:
                TWO.run(program)
            except RunError:
                pass

    for _ in range(300):
        round_of_runs()
    gc.collect()
    before = resident() if os.path.exists("/proc/self/statm") else None
    references = sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else None
    objects = len(gc.get_objects())
    for _ in range(3400):  # 10,200 runs
        round_of_runs()
    gc.collect()
    assert Counted.alive == 0
    assert len(gc.get_objects()) <= objects + 20
    if before is not None:
        assert resident() - before < 4 << 20
    assert references is None or sys.gettotalrefcount() - references < 100


def test_runs_in_several_threads() -> None:
    def program(p):
        for i in range(100):
            yield p.all_reduce(i, max)
        return p.now

    expected = TWO.run(program).results
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(TWO.run(program).results)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_sub_interpreters_are_refused_in_a_sentence() -> None:
    names = ("_interpreters", "_xxsubinterpreters")
    code, said, _ = run_python(
        f"""
        import importlib, sys
        for name in {names!r}:
            try:
                interpreters = importlib.import_module(name)
                break
            except ImportError:
                pass
        else:
            print("ImportError: none here, subinterpreters")
            raise SystemExit
        import loggp
        other = interpreters.create()
        try:
            failed = interpreters.run_string(other, "import sys; sys.path[:] = " + repr(sys.path) + "; import loggp")
            print(failed and failed.formatted)
        except Exception as error:
            print(error)
        """
    )
    assert code == 0 and "ImportError" in said and "subinterpreters" in said
