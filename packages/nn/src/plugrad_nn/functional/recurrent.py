"""Recurrent cells and sequences."""

__all__: list[str] = []
