"""nn as an extension: `pg.nn`, and the case rows of its ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.hookspecs import hookimpl

if TYPE_CHECKING:
    from types import ModuleType


@hookimpl
def plugrad_namespace() -> ModuleType:
    import plugrad_nn

    return plugrad_nn


@hookimpl
def plugrad_cases() -> list[Any]:
    from ._cases import ROWS

    return ROWS
