"""Machines from files, which are those of the command's `--machine`."""

import json
from pathlib import Path
from typing import Any

import pytest

import loggp
from loggp import NS, US, Machine

NODES = {
    "machine": "lab",
    "version": 1,
    "params": {"P": 8, "L": 6_000_000, "o": "2us", "g": "4us", "G": "20ns", "C": 3, "word": 4},
    "cycle_ns": 30,
    "ports": "dual",
    "levels": [
        {"params": {"P": 4, "L": "1us", "o": "1us", "g": "2us"}, "ports": "dual", "one_port": True},
        {"params": {"P": 2, "L": 500_000, "o": 0, "g": 0}},
    ],
}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(machine: Any) -> Path:
        path = tmp_path / "machine.json"
        path.write_text(machine if isinstance(machine, str) else json.dumps(machine))
        return path

    return write


def all_to_all(p):
    yield p.all_to_all(list(range(p.P)), words=5)
    return p.now


def test_all_that_a_file_says_is_read(written) -> None:
    machine = Machine.from_file(written(NODES))
    assert (machine.P, machine.L, machine.o, machine.g, machine.G) == (8, 6 * US, 2 * US, 4 * US, 20 * NS)
    assert (machine.C, machine.word, machine.cycle) == (3, 4, 30 * NS)
    by_hand = Machine(
        P=8, L="6us", o="2us", g="4us", G="20ns", C=3, word=4, cycle="30ns", ports="dual",
        levels=[
            dict(P=4, L="1us", o="1us", g="2us", ports="dual", one_port=True),
            dict(P=2, L="500ns", o=0, g=0),
        ],
    )
    assert machine.run(all_to_all).results == by_hand.run(all_to_all).results
    assert machine.settings["ports"] == "dual" and len(machine.settings["levels"]) == 2
    assert machine.settings["levels"][0]["one_port"] is True


def test_the_command_reads_it_as_python_does(written) -> None:
    path = written(NODES)
    machine = Machine.from_file(path)
    for one, other in zip(
        loggp.compare("broadcast", machine=machine, clock="virtual"),
        loggp.compare("broadcast", machine=path, clock="virtual"),
        strict=True,
    ):
        assert (one.algorithm, one.model) == (other.algorithm, other.model)


def test_what_a_file_says_may_be_changed(written) -> None:
    path = written(NODES)
    flat = Machine.from_file(path, P=16, L=9, levels=[])
    assert (flat.P, flat.L, flat.settings["levels"]) == (16, 270 * NS, [])
    assert flat.replace(ports="single").settings["ports"] == "single"
    assert Machine.from_file(str(path)).replace(o=0).o == 0


def test_machines_that_the_command_prints_are_read(written) -> None:
    for line in loggp._command.run("machines", "--format", "json").splitlines():
        given = json.loads(line)
        left = {name: 7 * US for name, value in given["params"].items() if value is None and name in ("L", "o", "g")}
        machine = Machine.from_file(written(line), P=4, **left)
        assert repr(machine) == repr(Machine.preset(given["machine"], P=4, **left))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", ValueError, "machine.json: it is empty"),
        ("{", ValueError, "it is no JSON"),
        ({"params": {"Q": 1}}, ValueError, "is not a parameter; there are"),
        ({"params": {"L": "6us"}}, ValueError, "open"),
        ({"params": {"L": 1, "o": 1, "g": 1}, "levels": [{"params": {"P": 2}}]}, ValueError, "a level leaves"),
        ({"params": {"L": 1, "o": 1, "g": 1}, "levels": 3}, ValueError, "its levels are no list"),
        ({"params": {"L": 1, "o": 1, "g": 1}, "ports": "many"}, ValueError, "ports"),
        ({"params": {}, "version": 2}, ValueError, "only version 1 is read"),
    ],
)
def test_wrong_files_are_refused_in_a_sentence(written, text: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as refused:
        Machine.from_file(written(text))
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_other_mistakes(tmp_path: Path, written) -> None:
    with pytest.raises(OSError, match="no.json"):
        Machine.from_file(tmp_path / "no.json")
    with pytest.raises(ValueError, match="9"):
        Machine.from_file(written(NODES), P=9).run(all_to_all)
    with pytest.raises(TypeError, match="speed is nothing of a machine"):
        Machine.from_file(written(NODES), speed=3)
