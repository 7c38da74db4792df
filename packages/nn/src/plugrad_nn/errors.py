"""What nn raises beside the errors of core."""

from __future__ import annotations

from plugrad.errors import PlugradError


class StateDictError(PlugradError, RuntimeError):
    """A state dict that does not fit the module: missing names, names that are not there, other shapes."""


def placed(error: Exception, path: str) -> None:
    """Let an error say in which module it was raised, once: plugrad's in their message, others in a note."""
    if "_module" in vars(error):
        return
    vars(error)["_module"] = path
    if not isinstance(error, PlugradError):
        error.add_note(f"in {path}")
    elif error.args and path not in str(error):
        error.args = (f"{error.args[0]}\n    in {path}", *error.args[1:])
