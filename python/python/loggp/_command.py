"""The command `loggp`, in a process of its own.

The command measures with pinned threads, ends at signals, and exits where it has no more memory. In its own
process it does so without harm to this one, an interruption ends it at once, and while it runs other threads
here do too.
"""

from __future__ import annotations

import errno
import json
import math
import numbers
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import _loggp
from ._loggp import Machine, Time

# What the process runs: the module in Rust alone, without this package and whatever starts with Python.
_START = """\
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_loggp", sys.argv[1])
module = module_from_spec(spec)
spec.loader.exec_module(module)
sys.exit(module.command(["loggp", *sys.argv[2:]]))
"""

# Options that may be given several times; of others the values make one.
_REPEATED = {"beside", "level", "model", "over", "parameter", "what_if"}

# Options and parameters that are times, of which a number counts cycles.
_TIMES = {*_loggp.TIME_PARAMETERS, "barrier", "combine", "from", "to", "unit", "until"}

MachineLike = Machine | str | os.PathLike[str]
"""A machine that was made here, one of the papers by its name, or a file with one."""

Option = str | bool | float | Time | os.PathLike[str] | Mapping[str, Any] | Iterable[Any] | None
"""A value of an option: text, a number, a time, several of them, or names with values."""


class LoggpError(Exception):
    """A run that failed, or whose result was wrong, in a sentence."""


class LoggpWarning(UserWarning):
    """What is left out, or less sure than it should be."""


class Output(NamedTuple):
    """What the command wrote: the report for people, its rows, and a picture, if there is one."""

    text: str
    rows: list[dict[str, Any]]
    picture: str | None


def run(*words: str, cwd: str | None = None, may_fail: bool = False) -> str:
    """Runs a command line, in a folder unless it is this one, and returns what it prints. With `may_fail` it may
    end with status 1, of which its report then says why.

    >>> from loggp._command import run
    >>> print(run("schedule", "ring", "-P", "2").splitlines()[0])
    num_ranks 2
    """
    if not sys.executable:
        raise LoggpError(
            "this needs a process with a Python of its own, and sys.executable does not say where Python is"
        )
    start = [sys.executable, "-I", "-S", "-c", _START, str(_loggp.__file__), *words]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            start, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, cwd=cwd
        )
        try:
            assert process.stdout is not None
            printed = process.stdout.read().decode(errors="replace")
        except BaseException:
            _end(process)
            raise
        finally:
            process.stdout.close()  # type: ignore[union-attr]
        status = process.wait()
        said.seek(0)
        lines = said.read().decode(errors="replace").splitlines()
    _tell(lines, 0 if may_fail and status == 1 and printed else status)
    return printed


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process, which removes unfinished files if it still can. Python does not wait for it."""
    process.terminate()
    threading.Thread(target=_reap, args=(process,)).start()


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tell(lines: list[str], status: int) -> None:
    """Warns of what the command warned of, and raises its error."""
    error = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    for line in lines:
        if line.startswith(("warning: ", "left out: ")):
            warnings.warn(line.removeprefix("warning: "), LoggpWarning, stacklevel=5)
        elif status == 0:
            print(line, file=sys.stderr)
    if status == 0:
        return
    sentence = error[-1] if error else " ".join(lines[-3:]) or f"the command ended with status {status}"
    if status < 0:
        sentence = f"the command was ended by signal {-status}; {sentence}"
    raise ValueError(sentence) if status == 2 else LoggpError(sentence)


def report(
    *words: str,
    options: Mapping[str, Option],
    machine: MachineLike | None = None,
    picture: bool,
    program: Sequence[object] = (),
    cwd: str | None = None,
    cycle: Callable[[], Time | None] = lambda: None,
) -> Output:
    """Runs a command with a report, and returns it. `program` is the command of an MPI program that it runs, and
    `cycle` gives that of recorded runs, if it reads some.
    """
    with tempfile.TemporaryDirectory(prefix="loggp-", ignore_cleanup_errors=True) as folder:
        of_cycle = cache(lambda: cycle() or _cycle(options, machine))
        given = option_words({name: _rounded(name, value, of_cycle) for name, value in options.items()})
        all_words = [*words, *machine_words(machine, folder), *given]
        rows, svg = Path(folder, "rows.json"), Path(folder, "picture.svg")
        all_words += ["--output", str(rows), *(["--output", str(svg)] if picture else [])]
        text = run(*all_words, *program_words(program), cwd=cwd)
        lines = rows.read_text().splitlines() if rows.exists() else []
        return Output(
            text, [json.loads(line) for line in lines], svg.read_text() if picture and svg.exists() else None
        )


def option_words(options: Mapping[str, Option]) -> list[str]:
    """Returns options as words: `P=8` is `--processors=8`, `what_if=` is `--what-if=`.

    >>> from loggp import US
    >>> from loggp._command import option_words
    >>> options = {"P": 8, "params": {"L": 6 * US, "o": 2}, "skip": True, "size": None, "over": {"P": [2, 4]}}
    >>> option_words(options)
    ['--processors=8', '--params=L=6000000ps,o=2', '--skip', '--over=P=2,4']
    """
    words = []
    for name, value in options.items():
        flag = "--processors" if name == "P" else "--" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif name == "over" and isinstance(value, Mapping):
            words += [f"{flag}={quantity}={_text(values)}" for quantity, values in value.items()]
        elif name in _REPEATED and isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
            words += [f"{flag}={_text(one)}" for one in value]
        else:
            words.append(f"{flag}={_text(value)}")
    return words


def _text(value: Any) -> str:
    """Returns a value as the command reads it."""
    if isinstance(value, Time):
        return f"{value.ps}ps"
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_text(one)}" for name, one in value.items())
    if isinstance(value, os.PathLike):
        return str(os.path.abspath(value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(map(_text, value))
    return _decimal(value) if _is_computed(value) else str(value)


def _is_computed(value: Any) -> bool:
    """Returns whether it is a number that need not be whole: of Python or of NumPy."""
    return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral)


def _decimal(number: Any) -> str:
    """Returns a number without an exponent, which the command does not read."""
    if not math.isfinite(number):
        raise ValueError(f"{number} is no value of an option; give a finite number")
    return format(Decimal(repr(float(number))), "f").removesuffix(".0")


def _rounded(name: str, value: Any, cycle: Callable[[], Time]) -> Any:
    """Returns a value in which the times that are computed numbers of cycles are whole picoseconds."""
    if isinstance(value, Mapping):
        return {own: _rounded(own, one, cycle) for own, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_rounded(name, one, cycle) for one in value]
    if name.strip("_") in _TIMES and _is_computed(value):
        return Time.from_ps(_loggp.picoseconds(value, cycle()))
    return value


def _cycle(options: Mapping[str, Option], machine: MachineLike | None) -> Time:
    """Returns the cycle that an option says, or a machine, and else 1 us."""
    given: Any = options.get("cycle")
    if given is not None:
        return Time.from_ps(_loggp.picoseconds(given, _loggp.US))
    if isinstance(machine, Machine):
        return machine.cycle
    return _loggp.US if machine is None else _loggp.cycle_of(os.fspath(machine))


def program_words(program: Sequence[object]) -> list[str]:
    """Returns the command of an MPI program as the last words of a command line; of one text those that are in it.

    >>> from loggp._command import program_words
    >>> program_words(["mpirun -n 4 ./app"]) == program_words(["mpirun", "-n", 4, "./app"])
    True
    """
    words = shlex.split(program[0]) if len(program) == 1 and isinstance(program[0], str) else map(str, program)
    return ["--", *words] if program else []


def refuse_missing(name: str | os.PathLike[str]) -> None:
    """Raises the exception of `open` if this names a file that is not there."""
    text = os.fspath(name)
    is_file = isinstance(name, os.PathLike) or os.sep in text or bool(os.path.splitext(text)[1])
    if is_file and not os.path.exists(text):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)


def machine_words(machine: MachineLike | None, folder: str) -> list[str]:
    """Returns the options that choose a machine. One that was made here becomes a file in the folder."""
    if machine is None:
        return []
    if not isinstance(machine, Machine):
        refuse_missing(machine)
        return [f"--machine={os.path.abspath(machine) if os.path.exists(machine) else os.fspath(machine)}"]
    written = json.loads(_loggp.machine_text(machine))
    words = []
    for name, value in machine.settings.items():
        if name == "ports":
            written["ports"] = value
        elif name == "levels":
            written["levels"] = [_level(level) for level in value]
        elif name == "rates":
            raise ValueError("the machine's rates are for programs in Python; leave them out")
        elif value is not None:
            words += option_words({name: value})
    path = Path(folder, "machine.json")
    path.write_text(json.dumps(written))
    return [f"--machine={path}", *words]


def _level(level: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a level as a machine's file has it."""
    others = {name: level[name] for name in ("ports", "one_port") if name in level}
    return {"params": {name: _limit(value) for name, value in level.items() if name not in others}, **others}


def _limit(value: Any) -> str:
    """Returns a value as a machine's file has it, where no limit has a name."""
    return "none" if value is None else _text(value)


def main() -> None:
    """Runs the command line of this process."""
    sys.exit(_loggp.command(["loggp", *sys.argv[1:]]))
