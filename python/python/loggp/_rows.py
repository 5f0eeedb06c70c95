"""Rows of a report, and their columns for pandas and Polars."""

from __future__ import annotations

import html
import os
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from . import _loggp
from ._loggp import Time

if typing.TYPE_CHECKING:
    import pandas as _pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import polars as _polars  # type: ignore[import-not-found, unused-ignore]

# The most rows that a notebook shows.
_MOST_SHOWN = 60


# The begin of the names of columns that are shown as percentages, and of all that have fractions.
_PARTS = ("error", "share", "change")
_FRACTIONS = (*_PARTS, "slope", "slower", "configured", "recovered")


class Row(Mapping[str, Any]):
    """A row of a report: `row["stalls.count"]` is a value of the command's JSON. Each is an attribute too, where
    times are `Time`s: `row.model` is `row["model_ns"]`, and `row.from_` is `row["from_ns"]`."""

    def __init__(self, json: Mapping[str, Any], text: str = "") -> None:
        self.json = json
        self.text: str = text or json.get("text", "")

    def __getitem__(self, path: str) -> Any:
        value: Any = self.json
        for name in path.split("."):
            if not isinstance(value, Mapping) or name not in value:
                raise KeyError(f"there is no {path}; there are {', '.join(self.json)}")
            value = value[name]
        return value

    def __getattr__(self, name: str) -> Any:
        json = self.__dict__.get("json", {})  # a row that is being unpickled has none yet
        for key in (name.rstrip("_"), name.rstrip("_") + "_ns"):
            if key in json:
                return _value(key, json[key])
        raise AttributeError(f"there is no {name}; there are {', '.join(json)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.removesuffix("_ns") for name in self.json)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.json)

    def __len__(self) -> int:
        return len(self.json)

    def __str__(self) -> str:
        return self.text or repr(self)

    def __repr__(self) -> str:
        return f"Row({self.json!r})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def write_as(path: str | os.PathLike[str], text: str, *endings: str) -> None:
    """Writes text to a file of its form, which the ending of the name says."""
    if not os.fspath(path).lower().endswith(endings):
        ending = endings[0]
        name = os.path.splitext(os.fspath(path))[0]
        raise ValueError(f"it is {ending[1:].upper()}; give a name that ends in {ending}, such as {name}{ending}")
    Path(path).write_text(text)


class Picture:
    """A picture, which a notebook shows. `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file, whose name ends in `.svg`."""
        write_as(path, self.svg, ".svg")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture of {len(self.svg)} characters"


class Rows(Sequence[Row]):
    """The rows of a report. `print` and a notebook show the command's own report; of a part of the rows, a
    notebook shows a table. `rows["model_ns"]` is a column.

    >>> import loggp
    >>> rows = loggp.compare("scatter", "long", "short", P=8, clock="virtual")
    >>> [(row.algorithm, row.model) for row in rows]
    [('long', Time('182.188 us')), ('short', Time('12.3686 ms'))]
    >>> rows.columns()["model_ns"]
    [182188.0, 12368600.0]
    """

    def __init__(self, rows: Sequence[Row], text: str = "", picture: str | None = None) -> None:
        self._rows = list(rows)
        self.text = text
        self._picture = picture

    @property
    def picture(self) -> Picture:
        """The picture that the command draws of the rows; a part of them has none."""
        if self._picture is None:
            raise AttributeError("there is no picture of these rows; a whole report may have one")
        return Picture(self._picture)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...
    @overload
    def __getitem__(self, index: str) -> list[Any]: ...
    def __getitem__(self, index: int | slice | str) -> Row | Rows | list[Any]:
        if not isinstance(index, str):
            return Rows(self._rows[index]) if isinstance(index, slice) else self._rows[index]
        columns = self.columns()
        if index not in columns:
            raise KeyError(f"there is no column {index}; there are {', '.join(columns)}")
        return columns[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __add__(self, other: Rows) -> Rows:
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
        return {name: _kind(name, values) for name, values in self.columns().items()}

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
        names = dict.fromkeys(name for row in self._rows for name in row)
        return f"<{len(self)} rows of {', '.join(names)}>"

    def _repr_html_(self) -> str:
        if self.text:
            return f"<pre>{html.escape(self.text)}</pre>"
        columns = self.columns()
        # A part of a report shows in what its rows differ.
        names = [name for name, values in columns.items() if any(value != values[0] for value in values)]
        if len(self) == 1:
            names = [name for name, values in columns.items() if values[0] is not None]
        head = "".join(f"<th>{html.escape(_title(name))}</th>" for name in names)
        rows = [
            "".join(_cell(name, columns[name][number]) for name in names)
            for number in range(min(len(self), _MOST_SHOWN))
        ]
        more = len(self) - len(rows)
        rest = f"<p>and {more} more</p>" if more > 0 else ""
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"


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


def _kind(name: str, values: list[Any]) -> str:
    """Returns the kind of a column; of one without values that which its values would have."""
    there = next((value for value in values if value is not None), None)
    if isinstance(there, int) and any(value is not None and abs(value) >= 2**63 for value in values):
        return "float"
    if there is not None:
        return type(there).__name__
    if name == "held":
        return "bool"
    if name.startswith("params.") or name in ("stalls.capacity", "stalls.max_in_transit"):
        return "int"
    return "float" if _is_time(name) or name.startswith(_FRACTIONS) else "str"


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
    elif path.startswith(_PARTS):
        text = f"{100 * value:+.2f}%" if path != "share" else f"{100 * value:.1f}%"
    else:
        text = f"{value:,}"
    return f'<td style="text-align: right">{html.escape(text)}</td>'


def _time(ns: float) -> Time:
    return Time.from_ps(round(1000 * ns))


def _value(key: str, value: Any) -> Any:
    """Returns a value of the command's JSON with times as `Time`s, and with objects as rows."""
    if value is None:
        return None
    if key == "params":
        is_time = {name: name in _loggp.TIME_PARAMETERS and one is not None for name, one in value.items()}
        return {name: Time.from_ps(one) if is_time[name] else one for name, one in value.items()}
    if _is_time(key):
        if isinstance(value, Mapping):
            return {name: _value(key, one) for name, one in value.items()}
        return [_time(one) for one in value] if isinstance(value, list) else _time(value)
    if isinstance(value, Mapping):
        return Row(value)
    if isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
        return Rows([Row(one) for one in value])
    return value
