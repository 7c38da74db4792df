"""io as an extension: `pg.io`. It defines no ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.hookspecs import hookimpl

if TYPE_CHECKING:
    from types import ModuleType


@hookimpl
def plugrad_namespace() -> ModuleType:
    import plugrad_io

    return plugrad_io
