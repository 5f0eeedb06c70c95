"""Rows of a report: typed, and as columns for pandas and Polars."""

from __future__ import annotations

import html
import os
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, overload

from . import _loggp
from ._loggp import Time

if typing.TYPE_CHECKING:
    import pandas as _pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import polars as _polars  # type: ignore[import-not-found, unused-ignore]

# The most rows that a notebook shows.
_MOST_SHOWN = 60


@dataclass(frozen=True)
class Row:
    """A row of a report. `json` has all that the command wrote of it, and `row["stalls.count"]` a part of
    that."""

    json: Mapping[str, Any] = field(repr=False)
    # The columns that a notebook shows, by their paths.
    shown: ClassVar[Sequence[str]] = ()

    def __getitem__(self, path: str) -> Any:
        value: Any = self.json
        for name in path.split("."):
            if not isinstance(value, Mapping) or name not in value:
                raise KeyError(f"there is no {path}; there are {', '.join(self.json)}")
            value = value[name]
        return value


R = TypeVar("R", bound=Row)


class Picture:
    """A picture, which a notebook shows. `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file."""
        Path(path).write_text(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture of {len(self.svg)} characters"


class Rows(Generic[R]):
    """The rows of a report. `print` shows the command's own report, a notebook a table.

    >>> import loggp
    >>> rows = loggp.compare("scatter", "long", "short", P=8, clock="virtual")
    >>> [(row.algorithm, row.model) for row in rows]
    [('long', Time('182.188 us')), ('short', Time('12.3686 ms'))]
    >>> rows.columns()["model_ns"]
    [182188.0, 12368600.0]
    """

    def __init__(self, rows: Sequence[R], text: str = "", picture: str | None = None) -> None:
        self._rows = list(rows)
        self.text = text
        self._picture = picture

    @property
    def picture(self) -> Picture:
        """The picture that the command draws of the rows."""
        if self._picture is None:
            raise ValueError("there is no picture of these rows")
        return Picture(self._picture)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[R]: ...
    def __getitem__(self, index: int | slice) -> R | Rows[R]:
        return Rows(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[R]:
        return iter(self._rows)

    def __add__(self, other: Rows[R]) -> Rows[R]:
        """Returns the rows of both, with both reports and without a picture."""
        if not isinstance(other, Rows):
            return NotImplemented
        return Rows([*self._rows, *other._rows], "\n".join(text for text in (self.text, other.text) if text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self._rows == other._rows

    def columns(self) -> dict[str, list[Any]]:
        """Returns the columns, with the names of the command's CSV: `params.L` is in ps, `model_ns` in ns.
        What is a list in a row is left out.
        """
        flat = [dict(_flat(row.json)) for row in self._rows]
        names = list(dict.fromkeys(name for row in flat for name in row))
        columns = {name: [row.get(name) for row in flat] for name in names}
        return {name: _alike(name, values) for name, values in columns.items()}

    def _kinds(self) -> dict[str, str]:
        """Returns the kind of each column; of one without values that of its field in the rows."""
        fields = _field_kinds(type(self._rows[0])) if self._rows else {}
        return {name: _kind(name, values, fields) for name, values in self.columns().items()}

    def to_pandas(self) -> _pandas.DataFrame:
        """Returns the columns as a data frame of pandas."""
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

        types = {"int": "Int64", "bool": "boolean", "float": "float64"}
        columns, kinds = self.columns(), self._kinds()
        with_nulls = [name for name, values in columns.items() if None in values]
        # A column of nulls has the type that its values would have.
        return pandas.DataFrame(columns).astype({name: types.get(kinds[name], "str") for name in with_nulls})

    def to_polars(self) -> _polars.DataFrame:
        """Returns the columns as a data frame of Polars."""
        import polars  # type: ignore[import-not-found, unused-ignore]

        types = {"int": polars.Int64, "bool": polars.Boolean, "float": polars.Float64}
        schema = {name: types.get(kind, polars.String) for name, kind in self._kinds().items()}
        return polars.DataFrame(self.columns(), schema, strict=False)

    def __str__(self) -> str:
        return self.text or repr(self)

    def __repr__(self) -> str:
        return f"Rows({self._rows!r})"

    def _repr_html_(self) -> str:
        columns = self.columns()
        shown = type(self._rows[0]).shown if self._rows else ()
        names = [
            name for name in shown or columns if any(value is not None for value in columns.get(name, []))
        ]
        head = "".join(f"<th>{html.escape(_title(name))}</th>" for name in names)
        rows = [
            "".join(_cell(name, columns[name][number]) for name in names)
            for number in range(min(len(self), _MOST_SHOWN))
        ]
        more = len(self) - len(rows)
        rest = f"<p>and {more} more</p>" if more > 0 else ""
        heading = self.text.split("\n\n")[0] if self.text else ""
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f'<div><p style="white-space: pre-line">{html.escape(heading)}</p>'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"
        )


class Report(Row):
    """A report of one row, which a notebook shows as the command prints it."""

    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _flat(values: Mapping[str, Any], begin: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{begin}{name}.")
        elif not isinstance(value, list):
            yield begin + name, value


def _is_time(path: str) -> bool:
    return any(name == "ns" or name.endswith("_ns") for name in path.split("."))


def _alike(name: str, values: list[Any]) -> list[Any]:
    """Returns the values of a column in one type."""
    there = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in there):
        return [None if value is None else str(value) for value in values]
    if _is_time(name) or any(isinstance(value, float) for value in there):
        return [None if value is None else float(value) for value in values]
    return values


def _kind(name: str, values: list[Any], fields: Mapping[str, str]) -> str:
    there = next((value for value in values if value is not None), None)
    if isinstance(there, int) and any(value is not None and abs(value) >= 2**63 for value in values):
        return "float"
    if there is not None:
        return type(there).__name__
    if name.startswith("params."):
        return "int"
    return "float" if _is_time(name) else fields.get(name, "str")


def _field_kinds(kind: type[Row], begin: str = "") -> dict[str, str]:
    """Returns the kinds of a row's fields that are numbers, by the paths of their columns."""
    kinds = {}
    for name, hint in typing.get_type_hints(kind).items():
        for option in typing.get_args(hint) or (hint,):
            if option in (bool, int, float):
                kinds[begin + name.rstrip("_")] = option.__name__
            elif isinstance(option, type) and issubclass(option, Row):
                kinds.update(_field_kinds(option, f"{begin}{name.rstrip('_')}."))
    return kinds


def _title(path: str) -> str:
    return (
        path.removesuffix(".ns")
        .removesuffix("_ns")
        .removeprefix("params.")
        .replace("_", " ")
        .replace(".", " ")
    )


def _cell(path: str, value: Any) -> str:
    if value is None:
        text = ""
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, str):
        return f'<td style="text-align: left">{html.escape(value)}</td>'
    elif _is_time(path):
        text = str(_time(value))
    elif path.removeprefix("params.") in _loggp.TIME_PARAMETERS:
        text = str(Time.from_ps(value))
    elif path.startswith(("error", "share", "change")):
        text = f"{100 * value:+.2f}%" if path != "share" else f"{100 * value:.1f}%"
    else:
        text = f"{value:,}"
    return f'<td style="text-align: right">{html.escape(text)}</td>'


def _time(ns: float) -> Time:
    return Time.from_ps(round(1000 * ns))


def read(kind: type[R], json: Mapping[str, Any], **more: Any) -> R:
    """Makes a row of a JSON object. A field of type `Time` has the object's value with `_ns` behind its
    name."""
    hints = typing.get_type_hints(kind)
    values = {
        one.name: _value(hints[one.name], json, one.name) for one in fields(kind) if one.name not in more
    }
    return kind(**{**values, "json": json, **more})


def _value(hint: Any, json: Mapping[str, Any], name: str) -> Any:
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    options = typing.get_args(hint) if is_union else (hint,)
    kind = next(option for option in options if option is not types.NoneType)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    is_time = kind is Time or Time in inner
    key = name.rstrip("_")  # `from_` is `from`
    value = json.get(f"{key}_ns" if is_time and key != "params" else key)
    if value is None:
        return {} if origin is dict and len(options) == 1 else None
    if name == "params":
        times = set(_loggp.TIME_PARAMETERS)
        return {
            key: Time.from_ps(one) if key in times and one is not None else one for key, one in value.items()
        }
    if kind is Time:
        return _time(value)
    if origin is list and is_time:
        return [_time(one) for one in value]
    if origin is dict and is_time:
        return {key: _time(one) for key, one in value.items()}
    if origin is Rows:
        return Rows([read(inner[0], one) for one in value])
    if isinstance(kind, type) and issubclass(kind, Row):
        return read(kind, value)
    return value
