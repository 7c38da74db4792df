"""What core asks this package for; imports NumPy only when a device is wanted."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from plugrad.backend import Unavailable
from plugrad.hookspecs import hookimpl

if TYPE_CHECKING:
    from plugrad.backend import Backend


@hookimpl
def plugrad_available() -> Unavailable | None:
    return None if find_spec("numpy") else Unavailable("NumPy is not installed", "pip install numpy")


@hookimpl
def plugrad_backend() -> Backend:
    from ._backend import NumPyBackend

    return NumPyBackend()
