"""What nn raises beside the errors of core."""

from __future__ import annotations

from plugrad.errors import PlugradError


class StateDictError(PlugradError, RuntimeError):
    """A state dict that does not fit the module: missing names, names that are not there, other shapes."""
