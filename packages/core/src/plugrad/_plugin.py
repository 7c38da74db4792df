"""Core enrols its own ops the way everybody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .hookspecs import hookimpl

if TYPE_CHECKING:
    from types import ModuleType


@hookimpl
def plugrad_namespace() -> ModuleType:
    from . import ops

    return ops


@hookimpl
def plugrad_cases() -> list[Any]:
    from .testing.cases import rows

    return list(rows())
