"""The comparison of results, as a check compares those of its runs."""

from __future__ import annotations

import array
import collections
import dataclasses
import enum
import numbers
import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

# What stays the same object from run to run is compared by identity on purpose.
_LASTING = (type, enum.Enum, FunctionType, ModuleType)

_Pair = tuple[Any, Any]


def same(one: Any, other: Any) -> bool:
    """Returns whether two results are the same. They are compared as Python does, with three differences. Arrays
    are compared by their elements, wherever they are in containers and dataclasses. What a masked array hides
    counts for nothing, and that it hides it does. And a number that is not equal to itself, as NaN, is the same as
    another such.

    >>> from loggp._compare import same
    >>> same([1, {"x": float("nan")}], [1, {"x": float("nan")}]), same((1, 2), [1, 2]), same(1, 1.0)
    (True, False, True)
    """
    return difference(one, other) is None


def difference(one: Any, other: Any) -> str | None:
    """Returns None if two results are the same, and else what may be wrong with the comparison, or nothing."""
    # Without recursion, since results may be deep. Of one that contains itself the second look finds nothing new.
    left: list[_Pair] = [(one, other)]
    seen: set[tuple[int, int]] = set()
    held: list[_Pair] = []  # so that no other object gets the address of one that was seen
    while left:
        one, other = left.pop()
        if one is other or (id(one), id(other)) in seen:
            continue
        parts = _parts(one, other)
        if isinstance(parts, bool):
            if not parts:
                return _hint(one, other)
            continue
        seen.add((id(one), id(other)))
        held.append((one, other))
        left += parts
    return None


def _parts(one: Any, other: Any) -> bool | Iterable[_Pair]:
    """Returns whether two objects are the same, or in pairs the parts by which they are compared."""
    kind = type(one)
    if _is_container(kind) or _is_container(type(other)):
        return kind is type(other) and len(one) == len(other) and _items(one, other)
    if kind is type(other) and _is_compared_by_fields(kind):
        fields = [field.name for field in dataclasses.fields(kind) if field.compare]
        return [(getattr(one, name), getattr(other, name)) for name in fields]
    if kind is type(other) and isinstance(one, (array.array, memoryview)):
        return [(_form(one), _form(other)), (one.tolist(), other.tolist())]
    if isinstance(one, complex) and isinstance(other, complex):
        return [(one.real, other.real), (one.imag, other.imag)]
    if getattr(one, "shape", ()) != getattr(other, "shape", ()):
        return False
    if kind is type(other) and callable(equals := getattr(one, "equals", None)):
        return bool(equals(other))  # a data frame of pandas or Polars
    return _parts_of_arrays(one, other)


def _parts_of_arrays(one: Any, other: Any) -> bool | Iterable[_Pair]:
    """Does the same for arrays of one shape, of which a number is the least."""
    masks = _masks(one, other)
    if masks is not None:
        return _unmasked(one, other, *masks)
    names = getattr(getattr(one, "dtype", None), "names", None)
    if names and names == getattr(getattr(other, "dtype", None), "names", None):
        return [(one[name], other[name]) for name in names]
    kinds = {str(getattr(array, "dtype", "")) for array in (one, other)}
    if "object" in kinds and hasattr(one, "ravel") and hasattr(other, "ravel"):
        return zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
    if any("complex" in kind for kind in kinds) and hasattr(one, "imag") and hasattr(other, "imag"):
        return [(one.real, other.real), (one.imag, other.imag)]
    equal = one == other
    if not hasattr(equal, "all"):
        are_numbers = isinstance(one, numbers.Number) and isinstance(other, numbers.Number)
        return bool(equal) or are_numbers and bool(one != one) and bool(other != other)
    if not equal.all():
        equal = equal | ((one != one) & (other != other))
    return bool(equal.all())


def _is_container(kind: type) -> bool:
    """Returns whether it holds objects, and its `==` was not written anew."""
    equals: Any = kind.__eq__
    return equals in (tuple.__eq__, list.__eq__, dict.__eq__, _OrderedDict.__eq__, _deque.__eq__)


_OrderedDict: Any = collections.OrderedDict
_deque: Any = collections.deque


def _items(one: Any, other: Any) -> bool | Iterable[_Pair]:
    if not isinstance(one, dict):
        return zip(one, other, strict=True)
    if isinstance(one, collections.OrderedDict) and list(one) != list(other):
        return False
    return one.keys() == other.keys() and [(value, other[key]) for key, value in one.items()]


def _is_compared_by_fields(kind: type) -> bool:
    """Returns whether it is a dataclass whose `==` compares its fields: one that was not written by hand."""
    if not dataclasses.is_dataclass(kind):
        return False
    code = getattr(kind.__eq__, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _form(memory: array.array[Any] | memoryview) -> tuple[Any, ...]:
    """Returns the type of the elements of memory, and how many there are."""
    if isinstance(memory, memoryview):
        return (memory.format, memory.shape)
    return (memory.typecode, len(memory))


def _masks(one: Any, other: Any) -> tuple[Any, Any] | None:
    """Returns where two arrays of NumPy hide elements, if one of them can."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not (isinstance(one, numpy.ma.MaskedArray) or isinstance(other, numpy.ma.MaskedArray)):
        return None
    return numpy.ma.getmaskarray(one), numpy.ma.getmaskarray(other)


def _unmasked(one: Any, other: Any, mask: Any, other_mask: Any) -> bool | Iterable[_Pair]:
    """Returns, if both hide the same, what they do not hide."""
    import numpy

    if mask.dtype != other_mask.dtype:
        return False
    if mask.dtype.names:
        return [
            (numpy.ma.array(data[name], mask=mask[name]), numpy.ma.array(other_data[name], mask=other_mask[name]))
            for data, other_data in [(numpy.ma.getdata(one), numpy.ma.getdata(other))]
            for name in mask.dtype.names
        ]
    if not (mask == other_mask).all():
        return False
    return [(numpy.ma.getdata(one)[~mask], numpy.ma.getdata(other)[~mask])]


def _hint(one: Any, other: Any) -> str:
    """Returns what may be wrong with a comparison whose objects differ."""
    kind: Any = type(one)
    equals: Any = kind.__eq__
    if type(other) is not kind or equals is not object.__eq__ or isinstance(one, _LASTING):
        return ""
    return (
        f"a {kind.__name__} has no == of its own, so that those of two runs always differ; "
        "return what is in it instead, such as a number or a list"
    )
