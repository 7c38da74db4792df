"""The case rows: those of core's ops, one file for each file of ops, and those that installed extensions bring."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from ... import plugins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..case import Case


@cache
def rows() -> tuple[Case, ...]:
    """The rows of core's own ops."""
    modules = [import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__)]
    return _distinct(row for module in modules for row in module.ROWS)


def every() -> tuple[Case, ...]:
    """The rows of core and of every installed extension that loads."""
    own = set(map(id, rows()))
    found = [row for name in plugins.scan(plugins.EXTENSIONS) for row in _quietly(name) if id(row) not in own]
    return _distinct([*rows(), *found])


def brought(extension: str) -> Iterable[Case]:
    """The rows that an extension brings."""
    return plugins.manager(plugins.EXTENSIONS, extension).hook.plugrad_cases() or ()


def _quietly(extension: str) -> Iterable[Case]:
    try:
        return brought(extension)
    except Exception:  # the suite has a check for each extension, which says why
        return ()


def _distinct(found: Iterable[Case]) -> tuple[Case, ...]:
    """`found`, whose names must differ."""
    by_name: dict[str, Case] = {}
    for row in found:
        if row.name in by_name:
            raise ValueError(f"two case rows are called {row.name!r}: give one of them another label")
        by_name[row.name] = row
    return tuple(by_name.values())
