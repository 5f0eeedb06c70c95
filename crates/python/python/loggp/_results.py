"""The rows of the command's reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ._loggp import Machine, Time
from ._rows import Report, Row, Rows

Params = dict[str, Time | int | None]
"""A machine's parameters by their names."""


@dataclass(frozen=True)
class Stalls(Row):
    """The stalls of a run: how many, and of what the network holds at once the most, and the limit."""

    count: int
    max_in_transit: int | None
    capacity: int | None


@dataclass(frozen=True)
class Study(Row):
    """An algorithm's time by its formula, by the model, and measured on the wall clock. The formula is `exact`, an
    `upper bound`, a `lower bound` or an `estimate` (`formula_kind`), and a paper's or `ours` (`formula_source`)."""

    program: str
    algorithm: str
    machine: str | None
    params: Params
    size: int
    formula: Time | None
    formula_kind: str | None
    formula_source: str | None
    model: Time | None
    measured: Time | None
    error_formula: float | None
    error_model: float | None
    verified: bool
    messages: int
    stalls: Stalls
    clock: str
    held: bool | None
    shown: ClassVar[Sequence[str]] = (
        *("algorithm", "formula_ns", "model_ns", "error_formula", "measured_ns", "error_model"),
        *("messages", "stalls.count", "verified"),
    )


@dataclass(frozen=True)
class SweptStudy(Study):
    """The same at one value of what is swept."""

    shown: ClassVar[Sequence[str]] = (
        *("algorithm", "params.P", "size", "params.L", "params.o", "params.g", "params.G"),
        *("formula_ns", "model_ns", "measured_ns", "messages", "stalls.count", "verified"),
    )


@dataclass(frozen=True)
class Tuned(Row):
    """What was tried, and by what part it is slower than the fastest: an algorithm with the choices of its
    options, or a collective's pattern. `command` runs it.
    """

    algorithm: str | None
    choices: str | None
    schedule: str | None
    params: Params
    size: int
    time: Time
    slower: float
    command: str
    shown: ClassVar[Sequence[str]] = (
        *("algorithm", "schedule", "choices", "formula_ns", "model_ns", "time_ns", "slower"),
    )


@dataclass(frozen=True)
class Finding(Row):
    """A parameter as it is configured, and as measurements recover it: in `unit`, which is ns for a time."""

    parameter: str
    unit: str
    configured: float | None
    recovered: float | None
    bound: str
    error: float | None
    how: str
    shown: ClassVar[Sequence[str]] = ("parameter", "configured", "recovered", "unit", "error", "how")


@dataclass(frozen=True)
class Formula(Row):
    """The critical path as a formula: `text`, how often each parameter counts, and the rest in ns by its
    name."""

    text: str
    counts: dict[str, int]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Point(Row):
    """A run with one value of a parameter. `value` is None if the parameter is no time; `row["value"]` is its
    count."""

    value: Time | None
    time: Time
    formula: Formula
    shown: ClassVar[Sequence[str]] = ("value_ns", "value", "time_ns", "formula.text")


@dataclass(frozen=True)
class Over(Row):
    """Runs along a parameter, and the values from which on the critical path is another."""

    parameter: str
    points: Rows[Point]
    changes: Rows[Point]


@dataclass(frozen=True)
class Compared(Row):
    """Recorded and predicted time of a part of a program."""

    name: str
    recorded: Time
    predicted: Time
    error: float | None
    shown: ClassVar[Sequence[str]] = ("name", "recorded_ns", "predicted_ns", "error")


@dataclass(frozen=True)
class Replay(Report):
    """A schedule that was played. `finishes` has the end of each rank if there are at most 16."""

    schedule: str
    machine: str | None
    params: Params
    time: Time
    ranks: int
    operations: int
    messages: int
    finishes: list[Time] | None
    recorded: Time | None
    parts: Rows[Compared] | None
    by_rank: Rows[Compared] | None
    over: Over | None
    text: str = field(default="", repr=False)


@dataclass(frozen=True)
class Cost(Row):
    """What costs the most: all activities of a kind."""

    what: str
    count: int
    time: Time
    share: float
    shown: ClassVar[Sequence[str]] = ("what", "count", "time_ns", "share")


@dataclass(frozen=True)
class Hop(Row):
    """A part of the critical path."""

    start: Time
    end: Time
    length: Time
    part: str
    processor: int
    formula: str
    shown: ClassVar[Sequence[str]] = (
        "start_ns",
        "end_ns",
        "length_ns",
        "part",
        "processor",
        "from",
        "to",
        "words",
        "formula",
    )


@dataclass(frozen=True)
class Analysis(Row):
    """Where the time of a run went: of all processors (`total`), and on the critical path (`path`)."""

    run: str
    params: Params
    time: Time
    change: float | None
    messages: int
    total: dict[str, Time]
    path: dict[str, Time]
    formula: Formula
    over: Over | None
    top: Rows[Cost] | None
    hops: Rows[Hop] | None
    shown: ClassVar[Sequence[str]] = (
        *("run", "time_ns", "change", "formula.text", "total_ns.computation", "total_ns.send_overhead"),
        *("total_ns.receive_overhead", "total_ns.sender_sync", "total_ns.receiver_sync", "total_ns.stall"),
        *("total_ns.gap", "total_ns.idle"),
    )


@dataclass(frozen=True)
class Bears(Row):
    """How large a parameter may be for a run that is so much longer, and how much that is more. None is
    any, unless it is not known."""

    until: Time | None
    more: Time | None


@dataclass(frozen=True)
class Piece(Row):
    """A line of the run's time along a parameter."""

    from_: Time
    until: Time
    time: Time
    slope: float
    formula: Formula
    shown: ClassVar[Sequence[str]] = ("from_ns", "until_ns", "time_ns", "slope", "formula.text")


@dataclass(frozen=True)
class LatencyUse(Row):
    """Messages of a kind whose latency is on the critical path."""

    what: str
    count: int
    time: Time
    share: float
    shown: ClassVar[Sequence[str]] = ("what", "count", "time_ns", "share")


@dataclass(frozen=True)
class Tolerance(Row):
    """How much more of a parameter a run bears. `pieces` are those of L's curve, or of the parameter that was
    named. `is_known` is False if that hangs on what a recording does not have."""

    input: str
    machine: str | None
    params: Params
    parameter: str
    value: Time
    time: Time
    is_known: bool
    slope: float | None
    share: float | None
    bears_1_percent: Bears
    bears_2_percent: Bears
    bears_5_percent: Bears
    known_until: Time | None
    pieces: Rows[Piece] | None
    latencies: Rows[LatencyUse] | None
    shown: ClassVar[Sequence[str]] = (
        *("parameter", "value_ns", "time_ns", "slope", "share", "bears_1_percent.more_ns"),
        *("bears_2_percent.more_ns", "bears_5_percent.more_ns"),
    )


@dataclass(frozen=True)
class PaperMachine(Row):
    """A machine of the papers. What a paper leaves open is None; `sources` says where each value is from."""

    machine: str
    about: str
    params: Params
    sources: dict[str, str]
    shown: ClassVar[Sequence[str]] = (
        "machine",
        "about",
        "params.L",
        "params.o",
        "params.g",
        "params.G",
        "params.P",
        "params.word",
    )

    def with_(self, *, P: int | None = None, **settings: object) -> Machine:
        """Returns the machine to run programs on, with what its paper leaves open, or with changes."""
        return Machine.preset(self.machine, P=P, **settings)


@dataclass(frozen=True)
class Size(Row):
    """What `size=` means for a program, and what it is unless told."""

    meaning: str
    default: int


@dataclass(frozen=True)
class ProgramOption(Row):
    """An option of a program, which is a keyword here."""

    name: str
    about: str
    default: str


@dataclass(frozen=True)
class Algorithm(Row):
    """An algorithm of a program, with the formula for its time and where that is from (a paper, or `ours`), or why
    there is none."""

    name: str
    about: str
    formula: str | None
    formula_source: str | None
    no_formula: str | None
    shown: ClassVar[Sequence[str]] = ("name", "about", "formula", "formula_source", "no_formula")


@dataclass(frozen=True)
class Program(Row):
    """A program of the papers."""

    program: str
    about: str
    size: Size
    options: Rows[ProgramOption]
    algorithms: Rows[Algorithm]
    shown: ClassVar[Sequence[str]] = ("program", "about", "size.meaning", "size.default")
