"""What plugrad asks this package for. Keep this module light: it is imported whenever devices are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.hookspecs import hookimpl

if TYPE_CHECKING:
    from plugrad.backend import Backend, Unavailable


@hookimpl
def plugrad_available() -> Unavailable | None:
    """Plain Python runs everywhere. A backend with a driver returns `Unavailable(reason, fix)` where it cannot run."""
    return None


@hookimpl
def plugrad_backend() -> Backend:
    """Import what the backend needs here, inside the function: it is called when one of its devices is first wanted."""
    from ._backend import PurePyBackend

    return PurePyBackend()
