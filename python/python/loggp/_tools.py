"""What the command `loggp` knows: the papers' programs and machines, schedules, and recorded runs."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from . import _command
from ._command import MachineLike, Option
from ._loggp import PS, Machine, Run, Schedule, Time, Trace
from ._rows import Picture, Row, Rows, write_as

Source = str | os.PathLike[str]
"""A file, or the name of a pattern."""


def compare(
    program: str,
    *algorithms: str,
    machine: MachineLike | None = None,
    P: int | None = None,
    size: int | None = None,
    params: str | Mapping[str, Option] | None = None,
    clock: str | None = None,
    picture: bool = False,
    **options: Option,
) -> Rows:
    """Compares a program's algorithms: formula, model and, on the wall clock, measurement.

    It runs on the wall clock unless `clock="virtual"` is given. Other keywords are the options of `loggp
    compare`: `noise="10ms:25us"` is `--noise`. Without algorithms it compares all. With `picture=True` the
    rows have a picture of what changes while the program runs, as the rate of the phases of `remap`.

    >>> import loggp
    >>> rows = loggp.compare("scatter", P=64, machine="cs2-elan", size=128, clock="virtual")
    >>> min(rows, key=lambda row: row.model).algorithm
    'optimal'
    """
    given = {"P": P, "size": size, "params": params, "clock": clock, **options}
    output = _command.report("compare", program, *algorithms, options=given, machine=machine, picture=picture)
    return _rows(output)


def sweep(
    program: str,
    *algorithms: str,
    over: str | Mapping[str, Option],
    machine: MachineLike | None = None,
    P: int | None = None,
    size: int | None = None,
    params: str | Mapping[str, Option] | None = None,
    clock: str | None = None,
    **options: Option,
) -> Rows:
    """Compares a program's algorithms along a parameter, P, the size or an option, on the virtual clock
    by default.

    `over` is a range as the command has it, or names with their values. The picture shows time over it. Over two
    quantities, each of which has a range, it is a map of who is the fastest where.

    >>> import loggp
    >>> rows = loggp.sweep("broadcast", "optimal", over={"P": [2, 4, 8]}, params="L=6,o=2,g=4")
    >>> [row.model for row in rows]
    [Time('10 us'), Time('18 us'), Time('24 us')]
    >>> rows.picture.svg[:4]
    '<svg'
    """
    given = {"over": over, "P": P, "size": size, "params": params, "clock": clock, **options}
    output = _command.report("sweep", program, *algorithms, options=given, machine=machine, picture=True)
    return _rows(output)


def tune(
    program: str,
    *algorithms: str,
    machine: MachineLike | None = None,
    P: int | None = None,
    size: int | str | None = None,
    params: str | Mapping[str, Option] | None = None,
    **options: Option,
) -> Rows:
    """Says which algorithm and which options are fastest on a machine, from the fastest; or, as
    `tune("collective", "allreduce")`, by which algorithm a collective of MPI is.

    >>> import loggp
    >>> loggp.tune("broadcast", machine="cm5", P=16)[0].algorithm
    'optimal'
    >>> loggp.tune("collective", "bcast", machine="myrinet", P=16, size="64k")[0].schedule.split(":")[0]
    'bcast'
    """
    given = {"P": P, "size": size, "params": params, **options}
    output = _command.report("tune", program, *algorithms, options=given, machine=machine, picture=False)
    return _rows(output)


def calibrate(
    machine: MachineLike | None = None,
    *,
    P: int | None = None,
    params: str | Mapping[str, Option] | None = None,
    clock: str | None = None,
    find: str | None = None,
    **options: Option,
) -> Rows:
    """Measures a machine's parameters from inside, on the wall clock by default; `find="loggps"` those of
    LogGPS by round trips.

    >>> import loggp
    >>> [(found.parameter, found.recovered) for found in loggp.calibrate("cs2-elan", clock="virtual")]
    [('o', 3800), ('g', 13800), ('L', 10000), ('G', 92), ('C', 1)]
    """
    given = {"P": P, "params": params, "clock": clock, "find": find, **options}
    output = _command.report("calibrate", options=given, machine=machine, picture=False)
    rows = [one for row in output.rows for one in row.get("findings", [row])]
    return _rows(output._replace(rows=rows))


def replay(
    schedule: Source | Any,
    *,
    machine: MachineLike | None = None,
    P: int | None = None,
    size: int | None = None,
    params: str | Mapping[str, Option] | None = None,
    over: str | Mapping[str, Option] | None = None,
    rules: str | None = None,
    **options: Option,
) -> Row:
    """Plays a schedule: of a recorded MPI program, in GOAL, of a pattern, or made here.

    >>> import loggp
    >>> played = loggp.replay("dissemination", P=8, over="L=1us..100us:log:5")
    >>> played.time, [str(point.formula) for point in played.over.points]
    (Time('52.8 us'), ['L + 2o + 2g', 'L + 2o + 2g', '3L + 6o', '3L + 6o', '3L + 6o'])
    """
    given = {"P": P, "size": size, "params": params, "over": over, "rules": rules, **options}
    with tempfile.TemporaryDirectory(prefix="loggp-", ignore_cleanup_errors=True) as folder:
        sources = _Sources([schedule], folder)
        given["params"] = sources.params(params, machine)
        output = _command.report(
            "replay", *sources.words, options=given, machine=machine, picture=False, cwd=sources.cwd
        )
    return Row(output.rows[0], output.text)


def analyze(
    *traces: Source | Any,
    what_if: str | Mapping[str, Option] | Sequence[str | Mapping[str, Option]] | None = None,
    over: str | Mapping[str, Option] | None = None,
    path: bool = False,
    **options: Option,
) -> Rows:
    """Says where the time of recorded runs went, and what they would have taken under other parameters.

    A trace is a file, or that of a run here. The picture shows the parts of the time as bars.
    """
    several = [what_if] if isinstance(what_if, (str, Mapping)) else what_if
    given = {"what_if": several, "over": over, "path": path, **options}
    with tempfile.TemporaryDirectory(prefix="loggp-", ignore_cleanup_errors=True) as folder:
        sources = _Sources(traces, folder)
        output = _command.report(
            "analyze", *sources.words, options=given, picture=True, cwd=sources.cwd, cycle=sources.cycle
        )
    return _rows(output)


def tolerance(
    source: Source | Any,
    *,
    machine: MachineLike | None = None,
    P: int | None = None,
    size: int | None = None,
    params: str | Mapping[str, Option] | None = None,
    parameter: str | Sequence[str] | None = None,
    to: Time | str | None = None,
    **options: Option,
) -> Rows:
    """Says how much more latency, and how much more of the other parameters, a schedule or a recorded run
    bears.

    The picture shows its time over L, or over the first parameter that is named.

    >>> import loggp
    >>> latency = loggp.tolerance("dissemination", P=8)[0]
    >>> latency.parameter, latency.slope, latency.bears_1_percent.more
    ('L', 3, Time('176 ns'))
    """
    several = [parameter] if isinstance(parameter, str) else parameter
    given = {"P": P, "size": size, "params": params, "parameter": several, "to": to, **options}
    with tempfile.TemporaryDirectory(prefix="loggp-", ignore_cleanup_errors=True) as folder:
        sources = _Sources([source], folder)
        given["params"] = sources.params(params, machine)
        output = _command.report(
            "tolerance",
            *sources.words,
            options=given,
            machine=machine,
            picture=True,
            cwd=sources.cwd,
            cycle=sources.cycle,
        )
    return _rows(output)


def emulate(
    *command: object,
    machine: MachineLike | None = None,
    params: str | Mapping[str, Option] | None = None,
    work: str | None = None,
    **options: Option,
) -> Row:
    """Runs an MPI program on the machine: `emulate("mpirun", "-n", 4, "./app", machine="cm5")`.

    `print(row)` shows what the program printed, and the report. `work="none"` lets computing take no time.
    """
    given = {"params": params, "work": work, **options}
    output = _command.report("emulate", options=given, machine=machine, picture=False, program=_started(command))
    return Row(output.rows[0], output.text)


def record(*command: object, output: str | os.PathLike[str]) -> Path:
    """Runs an MPI program and records its calls: `record("mpirun", "-n", 4, "./app", output="run.mpi")`.

    Prints what the program prints, and what was recorded. Returns the recording, which `replay`, `tolerance` and
    others take.
    """
    path = Path(output).absolute()
    print(_command.run("record", "--output", str(path), *_command.program_words(_started(command))), end="")
    return path


def check_mpi(
    *command: object,
    machine: MachineLike | None = None,
    params: str | Mapping[str, Option] | None = None,
    runs: int | None = None,
    strategy: str | None = None,
    trace: str | os.PathLike[str] | None = None,
    **options: Option,
) -> Row:
    """Runs an MPI program under many orders of messages, and looks for faults of its calls.

    `row.passed` says whether all is right, and else `row.fault.why` what is wrong; the trace of that run is in
    `row.fault.trace`, as `trace=` names it. A program in Python is checked by `Machine.check`.
    """
    given = {"params": params, "runs": runs, "strategy": strategy, "trace": trace, **options}
    with tempfile.TemporaryDirectory(prefix="loggp-", ignore_cleanup_errors=True) as folder:
        words = _command.option_words({"format": "json", **given})
        words += _command.machine_words(machine, folder)
        printed = _command.run("check", *words, *_command.program_words(_started(command)), may_fail=True)
    return Row(json.loads(printed.splitlines()[-1]), printed)


def _started(command: Sequence[object]) -> Sequence[object]:
    """Returns the command that starts an MPI program. Refuses none."""
    if not command:
        raise ValueError('what is to be run? give a command, such as "mpirun", "-n", 4, "./app"')
    return command


def machines() -> Rows:
    """Returns the machines of the papers.

    >>> import loggp
    >>> cs2 = next(one for one in loggp.machines() if one.machine == "cs2-elan")
    >>> cs2.params["g"], cs2.sources["g"]
    (Time('13.8 us'), 'LogGP, table 1')
    """
    return _listed("machines")


def programs() -> Rows:
    """Returns the programs of the papers, with their sizes, options and algorithms.

    >>> import loggp
    >>> scatter = next(one for one in loggp.programs() if one.program == "scatter")
    >>> scatter.size.meaning, [algorithm.name for algorithm in scatter.algorithms]
    ('items per processor, a word each', ['optimal', 'binomial', 'long', 'short', 'fixed', 'split'])
    """
    return _listed("programs")


class Page:
    """A page of a run, to zoom, to search and to follow causes in. A notebook shows it in its cell."""

    def __init__(self, page: str, height: int) -> None:
        self.html = page
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, whose name ends in `.html`, and which needs no other file."""
        write_as(path, self.html, ".html", ".htm")

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe srcdoc="{html.escape(self.html)}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return f"Page of {len(self.html):,} characters"


@overload
def timeline(
    source: Source | Any,
    *algorithm: str,
    machine: MachineLike | None = None,
    beside: Iterable[Source | Any] = (),
    height: int = 480,
    output: None = None,
    **options: Option,
) -> Page: ...
@overload
def timeline(
    source: Source | Any,
    *algorithm: str,
    machine: MachineLike | None = None,
    beside: Iterable[Source | Any] = (),
    height: int = 480,
    output: str | os.PathLike[str],
    **options: Option,
) -> Page | Picture: ...
def timeline(
    source: Source | Any,
    *algorithm: str,
    machine: MachineLike | None = None,
    beside: Iterable[Source | Any] = (),
    height: int = 480,
    output: str | os.PathLike[str] | None = None,
    **options: Option,
) -> Page | Picture:
    """Returns a page to look into a run: a recorded one, or one of a program of the papers, which it makes.

    `beside` are further runs below it, at the same scale. `output` is a file to write it to; one whose name ends
    in `.svg` gets a picture of the run, which is returned then.

    >>> import loggp
    >>> page = loggp.timeline("broadcast", params="L=6,o=2,g=4")
    >>> page.html[:15]
    '<!DOCTYPE html>'
    """
    with tempfile.TemporaryDirectory(prefix="loggp-", ignore_cleanup_errors=True) as folder:
        sources = _Sources([source, *beside], folder)
        first, *others = sources.words
        written = Path(folder, "timeline.html") if output is None else Path(output).absolute()
        words = ["timeline", first, *algorithm, *_command.machine_words(machine, folder)]
        _command.run(
            *words, *_command.option_words({"beside": others, "output": written, **options}), cwd=sources.cwd
        )
        shown = written.read_text()
        return Picture(shown) if written.suffix == ".svg" else Page(shown, height)


# The most activities of a run that a notebook shows as a picture, and the most processors in its table.
_MOST_DRAWN = 2000
_MOST_LISTED = 32


def run_html(run: Run[Any]) -> str:
    """Returns what a notebook shows of a run: its picture, or if that is too large a table of its processors."""
    trace = run.trace
    if trace is not None and 0 < len(trace.activities) <= _MOST_DRAWN:
        try:
            with tempfile.TemporaryDirectory(prefix="loggp-", ignore_cleanup_errors=True) as folder:
                picture = timeline(run, output=Path(folder, "run.svg"))
                if isinstance(picture, Picture):
                    return f"<div><p>{html.escape(repr(run))}</p>{picture.svg}</div>"
        except (ValueError, OSError, _command.LoggpError):
            pass  # more than a picture can show
    names = ["processor", "finish", "send", "recv", "gap", "stall", "work", "idle", "sent", "received"]
    rows = [
        [number, *(getattr(account, name) for name in names[1:])]
        for number, account in enumerate(run.processors[:_MOST_LISTED])
    ]
    cells = ["".join(f'<td style="text-align: right">{value}</td>' for value in row) for row in rows]
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    more = len(run.processors) - len(rows)
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    return (
        f"<div><p>{html.escape(repr(run))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"
    )


# The bytes of a word of a machine that does not say so.
_WORD = Machine(1).word


def _cycle_of(source: Any) -> Time | None:
    """Returns the cycle of a recorded run, or None if it is none."""
    made = getattr(source, "trace", source)
    if isinstance(made, (str, os.PathLike)) and os.path.isfile(made):
        try:
            made = Trace.read(made)
        except ValueError:
            return None  # it is a schedule
    return made.cycle if isinstance(made, Trace) else None


def _rows(output: _command.Output) -> Rows:
    return Rows([Row(row) for row in output.rows], output.text, output.picture)


def _listed(name: str) -> Rows:
    lines = _command.run(name, "--format", "json").splitlines()
    return Rows([Row(json.loads(line)) for line in lines], _command.run(name))


class _Sources:
    """The words that name sources. Those that were made here become files in a folder, in which the command
    then runs, so that reports call them by short names.
    """

    def __init__(self, sources: Iterable[Source | Any], folder: str) -> None:
        self._folder = folder
        sources = self._sources = list(sources)
        self.cwd = (
            folder
            if any(not isinstance(source, (str, os.PathLike, list, tuple)) for source in sources)
            else None
        )
        self.words = [word for source in sources for word in self._words(source)]

    def cycle(self) -> Time | None:
        """Returns the cycle that recorded runs among the sources had, or None if there are no such runs."""
        cycles = {cycle for cycle in map(_cycle_of, self._sources) if cycle is not None}
        if len(cycles) > 1:
            raise ValueError("the runs have cycles of several lengths; give times with a unit, such as 3 * loggp.US")
        return next(iter(cycles), None)

    def params(
        self, params: str | Mapping[str, Option] | None, machine: MachineLike | None
    ) -> str | Mapping[str, Option] | None:
        """Returns the parameters of the machine. That of a schedule which was made here has the words that machines
        have here, unless they say so; for files and patterns a word is a byte, as the command has it.
        """
        if params is None or machine is not None or not any(isinstance(one, Schedule) for one in self._sources):
            return params
        if isinstance(params, str):
            names = {part.partition("=")[0].strip() for part in params.split(",")}
            return params if "word" in names else f"{params},word={_WORD}"
        return {"word": _WORD, **params}

    def _words(self, source: Any) -> list[str]:
        if isinstance(source, (list, tuple)):
            return [word for one in source for word in self._words(one)]
        if isinstance(source, (str, os.PathLike)):
            _command.refuse_missing(source)
            is_elsewhere = self.cwd is not None and os.path.exists(source)
            return [os.path.abspath(source) if is_elsewhere else os.fspath(source)]
        made = getattr(source, "trace", source)
        if not hasattr(made, "write"):
            raise TypeError(f"{source!r} is no file, pattern, schedule, trace, or run with a trace")
        number = len(os.listdir(self._folder))
        kind, ending = ("run", "loggp") if type(made).__name__ == "Trace" else ("schedule", "goal")
        name = f"{kind}.{ending}" if number == 0 else f"{kind}-{number + 1}.{ending}"
        path = os.path.join(self._folder, name)
        if kind == "run":
            made.write(path)
            return [name]
        made.write(path, unit=PS)
        return [name, "--unit=1ps"]
