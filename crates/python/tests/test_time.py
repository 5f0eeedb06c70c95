"""Times, and the machine's parameters."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import loggp
from loggp import MS, NS, SEC, US, Machine, Time


def test_times_are_exact() -> None:
    assert (6 * US + 30 * NS).ps == 6_030_000
    assert 3.5 * US == US * 3.5 == Time("3.5us") == Time("3500 ns")
    assert (3 * US) / (2 * US) == 1.5
    assert US / 2 == 500 * NS
    assert sum([US, NS]) == 1001 * NS
    assert max(US, NS) == US and not Time("0us") and -US < 0 < US
    assert (7 * US) // (2 * US) == 3 and (7 * US) % (2 * US) == US
    assert str(24 * US) == "24 us" and repr(US) == "Time('1 us')" and f"{US:>6}" == "  1 us"
    assert (SEC.s, SEC.ms, MS.us, US.ns, NS.ps) == (1.0, 1000.0, 1000.0, 1000.0, 1000)
    assert {US: 1}[Time("1us")] == 1
    assert pickle.loads(pickle.dumps(US)) == US


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (lambda: Time("6"), ValueError, "it has no unit; write 6us"),
        (lambda: Time(*[6]), TypeError, "6 has no unit"),
        (lambda: US + 1, TypeError, "give it a unit"),
        (lambda: US * "2", TypeError, "multiplied or divided by a number"),
        (lambda: US / 0, ZeroDivisionError, "divided by zero"),
        (lambda: US < 3, TypeError, "not supported"),
        (lambda: Machine(8, L="6parsec"), ValueError, "there is no unit parsec"),
        (lambda: Machine(8, **{"Q": 1}), TypeError, "Q is nothing of a machine"),
        (lambda: Machine(8, **{"L": [1]}), TypeError, "is no time"),
        (lambda: Machine(0), ValueError, "P = 0"),
        (lambda: Machine(**{"P": 2.5}), ValueError, "whole"),
        (lambda: Machine(8, latency="often"), ValueError, "often"),
        (lambda: Machine(8, G=1, G_s=1), ValueError, "belongs to LogGPS"),
        (lambda: Machine.preset("cm6"), ValueError, "cm5"),
        (lambda: Machine(8, L=1e-9), ValueError, "finer than a picosecond"),
    ],
)
def test_wrong_times_and_machines_are_refused(
    wrong: Callable[[], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as refused:
        wrong()
    assert said in str(refused.value)


def test_parameters_are_read_as_the_command_reads_them() -> None:
    machine = Machine(P=8, L=6, o="2us", g=4 * US, cycle=2 * US)
    assert (machine.L, machine.o, machine.g, machine.P) == (12 * US, 2 * US, 4 * US, 8)
    assert machine.replace(L=1, P=4).L == 2 * US
    assert machine.replace(L=1).g == machine.g
    assert machine.S is None and machine.C is None
    assert Machine.preset("cm5", P=16).P == 16
    assert loggp.Machine(2, L=0.5, o=0.0001).o == 100 * loggp.PS
