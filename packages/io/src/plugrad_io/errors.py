"""What io raises beside the errors of core."""

from __future__ import annotations

from plugrad.errors import PlugradError

__all__ = ["CheckpointError", "FileFormatError", "MappingError"]


class FileFormatError(PlugradError, ValueError):
    """A file that is not what it says: cut short, damaged, hostile, or of a kind that is not read. Names the file."""


class MappingError(PlugradError, ValueError):
    """Rules that contradict each other, or make of a state dict what the other side does not want."""


class CheckpointError(PlugradError, ValueError):
    """A run that cannot be saved as it is, or a checkpoint that belongs to another run."""
