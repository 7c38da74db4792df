"""What core asks of the CUDA backend: whether it can run here, and then for the backend itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.backend import Unavailable
from plugrad.errors import UnavailableError
from plugrad.hookspecs import hookimpl

from ._probe import look, report

if TYPE_CHECKING:
    from plugrad.backend import Backend


@hookimpl
def plugrad_available() -> Unavailable:
    """Never None in this release: there is nothing yet that could run."""
    return Unavailable(*report(look()))


@hookimpl
def plugrad_backend() -> Backend:
    raise UnavailableError(f"backend 'cuda': {plugrad_available()}")
