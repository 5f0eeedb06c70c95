"""Times in the pictures of Matplotlib: they are numbers of microseconds there."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ._loggp import Time

_UNITS = "matplotlib.units"


def show_times() -> None:
    """Tells Matplotlib what a time is, now, or when it is loaded: loading it here would take longer than most runs."""
    if _UNITS in sys.modules:
        _register(sys.modules[_UNITS])
    else:
        sys.meta_path.insert(0, _Finder())


def _register(units: Any) -> None:
    class Converter(units.ConversionInterface):  # type: ignore[misc]
        """Converts times, and lists of them."""

        @staticmethod
        def convert(value: Any, unit: object, axis: object) -> Any:
            import numpy

            return float(value) if isinstance(value, Time) else numpy.asarray(value, dtype=float)

    units.registry[Time] = Converter()


class _Finder(MetaPathFinder):
    """Finds Matplotlib's table of units as all others do, and adds times to it when it has been loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _UNITS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _register(module)
