"""Times, and the machine's parameters."""

import math
import pickle
import random
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
        (lambda: Machine(8, C=0), ValueError, "C = 0 is out of range; give one from 1 to"),
        (lambda: Machine(8, L="4000s"), ValueError, "L = 4000 s is too long; give at most 3600 s"),
        (lambda: Time("10000000s"), ValueError, "too long; give at most 9223372"),
        (lambda: Machine(**{"P": 2.5}), ValueError, "whole"),
        (lambda: Machine(8, latency="often"), ValueError, "often"),
        (lambda: Machine(8, G=1, G_s=1), ValueError, "belongs to LogGPS"),
        (lambda: Machine.preset("cm6"), ValueError, "cm5"),
        (lambda: Machine(8, L="0.0000001us"), ValueError, "finer than a picosecond"),
        (lambda: Machine(8, L=-1e-9), ValueError, "L = -1 ps"),
        (lambda: Machine(8, L=-0.5), ValueError, "L = -500 ns"),
        (lambda: Machine(8, L=math.nan), ValueError, "nan is no time; give a finite number of cycles"),
        (lambda: Machine(8, L=math.inf), ValueError, "inf is no time; give a finite number of cycles"),
        (lambda: US * US, TypeError, "multiplied or divided by a number"),
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
    assert machine.S is None and machine.C == 3
    assert Machine.preset("cm5", P=16).P == 16
    assert loggp.Machine(2, L=0.5, o=0.0001).o == 100 * loggp.PS


def test_numbers_are_rounded_to_the_picosecond() -> None:
    machine = Machine(8, L=1 / 3, o=2e-5, g=1e-9, cycle="30ns")
    assert (machine.L.ps, machine.o.ps, machine.g.ps) == (10_000, 1, 0)
    drawn = random.Random(7)
    lengths = [drawn.expovariate(1) for _ in range(1000)]

    def program(p):
        for length in lengths:
            before = p.now
            yield p.work(length)
            assert (p.now - before).ps == round(length * 1e6)
        with pytest.raises(ValueError, match="work of -1e-09 cannot be; give 0 or more"):
            p.work(-1e-9)
        with pytest.raises(ValueError, match="nan is no time"):
            p.work(math.nan)

    Machine(1).run(program)
    schedule = loggp.Schedule(1)
    schedule.calc(0, 1 / 3)
    schedule.calc(0, [1 / 3, 2 / 3])
    assert schedule.play(Machine(1)).time.ps >= 666_667


def test_numbers_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    assert Machine(8, L=numpy.float32(0.1), o=numpy.int64(3), g=numpy.float64(1 / 3)).params == {
        "P": 8, "word": 8, "L": Time("100000ps"), "o": 3 * US, "g": Time("333333ps"),
    }  # fmt: skip
    assert numpy.asarray([US, 1500 * NS], dtype=float).tolist() == [1.0, 1.5] == [float(US), float(1500 * NS)]


def test_formats() -> None:
    time = Time("12.34567ms")
    forms = {
        "": "12.34567 ms", ".1f": "12.3 ms", ".2f us": "12345.67 us", ",.0fns": "12,345,670 ns", "us": "12345.67 us",
        ">14": "   12.34567 ms", "s": "12.34567 ms", ".3f s": "0.012 s", ".3fs": "0.012 s", "ps": "12345670000 ps",
    }  # fmt: skip
    assert {form: format(time, form) for form in forms} == forms
    assert f"{Time('0us'):.2f}" == "0.00 us"
    with pytest.raises(ValueError):
        format(time, "10parsec")
