"""What is equal, what can be written and read again, and what a machine says of itself."""

import copy
import pickle
from typing import Any

import pytest

import loggp
from loggp import NS, US, Group, Machine, Time

MACHINES = [
    Machine(P=8, L=6, o=2, g=4),
    Machine(P=8, L=6, o=2, g=4, C=3),
    Machine(P=8, L=6, o=2, g=4, C=None),
    Machine(P=8, L=6, o=2, g=4, G=0, word=4, cycle="30ns"),
    Machine(P=8, L=6, o=2, g=4, O_s=1),
    Machine(P=8, L=6, o=2, g=4, G_s=1, s=50, S=100, R=3),
    Machine.preset("cs2-elan", P=16),
    Machine(P=8, L=6, ports="dual", latency="random:7", ties="rotation", noise="10ms:25us", barrier=5),
    Machine(P=8, L=6, levels=[dict(P=4, L=US, o=0.5), dict(P=2, L=1, ports="dual", one_port=True)]),
    Machine(P=8, L=6, rates={"add": 50 * NS, "mul": 1}),
]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_a_machine_is_what_it_says(machine: Machine) -> None:
    again = [
        eval(repr(machine)),
        pickle.loads(pickle.dumps(machine)),
        copy.deepcopy(machine),
        machine.replace(),
        Machine(**machine.params, **machine.settings),
    ]
    for other in again:
        assert other == machine and hash(other) == hash(machine) and repr(other) == repr(machine)
        assert other is not machine and other.settings == machine.settings
    assert [other == machine for other in MACHINES].count(True) == 1 and machine != 3


def test_limits_go_back_in() -> None:
    machine = Machine(P=8, L=6, o=2, g=4)
    assert machine.C == 2 and machine.replace(g=0).C is None and machine.replace(C=None).C is None
    assert machine.replace(L=60).C == 15 and machine.replace(C=5).C == 5 and "C=" not in repr(machine)
    gps = Machine(P=8, L=6, o=2, g=4, O_s=1)
    assert gps.s is None and gps.S is None and gps.replace(S=100).replace(S=None).S is None
    names = ["P", "L", "o", "g", "C", "word", "s", "S", "O_s", "O_r", "G_s", "G_l", "R"]

    def program(p):
        yield p.all_to_all(list(range(p.P)), words=5)
        return p.C, p.params_to(1).S

    for one in (machine, gps, machine.replace(C=None), gps.replace(S=100)):
        other = Machine(**{name: getattr(one, name) for name in names})
        assert all(getattr(other, name) == getattr(one, name) for name in names)
        assert other.run(program).results == one.run(program).results
        assert other.run(program).time == one.run(program).time


def test_settings_do_not_change() -> None:
    levels = [dict(P=2, L=1)]
    machine = Machine(P=4, L=6, levels=levels, barrier=3 * US)
    levels[0]["L"] = 9
    machine.settings["levels"].append(3)
    assert machine.settings == {"levels": [{"P": 2, "L": "1 us", "o": "0 us", "g": "0 us"}], "barrier": "3 us"}
    assert machine == Machine(P=4, L=6, levels=[dict(P=2, L="1us")], barrier=3)
    assert machine.replace(barrier=4, levels=[]).settings == {"levels": [], "barrier": "4 us"}
    assert Machine(P=4, ports="single") == Machine(P=4)


def words(p):
    if p.id == 0:
        first, _ = yield p.recv_with_sender("word")
        second, _ = yield p.recv_with_sender("word")
        return first, second
    yield p.send(0, "word")


THREE = Machine(P=3, L=6, o=1, g=1)


def kept(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def test_runs_are_kept() -> None:
    run = THREE.run(words, formula=9)
    again = kept(run)
    assert (again.time, again.results, again.formula) == (run.time, run.results, 9 * US) and repr(again) == repr(run)
    assert list(again.trace.messages.arrival) == list(run.trace.messages.arrival)
    for one, other in zip(again.processors, run.processors, strict=True):
        assert (one.send, one.idle, one.finish, one.sent) == (other.send, other.idle, other.finish, other.sent)
    assert kept(run.processors[1]).finish == run.processors[1].finish
    assert kept(THREE.run(words, trace=False)).trace is None
    assert kept(Group([3, 1])) == Group([3, 1]) and copy.deepcopy(Group([3])) == Group([3])
    assert loggp.Trace.from_bytes(run.trace.to_bytes()).to_bytes() == run.trace.to_bytes()


def test_orders_and_reports_are_kept() -> None:
    drawn = Machine(P=3, L=60, o=1, g=1, latency="random:7").run(words)
    assert Machine(P=3, L=60, o=1, g=1).run(words, order=kept(drawn.trace.order)).time == drawn.time
    report = THREE.check(words)
    again = kept(report)
    assert str(again) == str(report) and again.runs == report.runs and not again
    assert again.failure.delayed == report.failure.delayed and str(again.failure) == str(report.failure)
    assert THREE.run(words, order=again.failure.order).results[0] == (2, 1)
    report = kept(THREE.check(words, strategy="systematic", results_may_differ=True))
    assert [THREE.run(words, order=order).results[0] for _, _, order in report.results] == [(1, 2), (2, 1)]

    def fails(p):
        if (yield from words(p)) == (2, 1):
            raise KeyError("late")

    error = kept(THREE.check(fails).failure.error)
    assert isinstance(error, loggp.RunError) and error.processor == 0 and "KeyError: 'late'" in str(error)


def test_schedules_are_kept() -> None:
    schedule = loggp.Schedule(2, cycle="30ns")
    send, compute = schedule.send(0, 1, 8, tag=5), schedule.calc(0, Time("1234567ps"))
    schedule.requires(0, send, compute)
    schedule.recv(1)
    again = kept(schedule)
    machine = Machine(P=2, L=6, o=2, g=4)
    assert again.play(machine).time == schedule.play(machine).time and (again.P, len(again)) == (2, 3)
    again.calc(1, 10)
    schedule.calc(1, 10)
    assert again.to_goal(unit=loggp.PS) == schedule.to_goal(unit=loggp.PS)
