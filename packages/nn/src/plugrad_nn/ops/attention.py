"""Attention."""

__all__: list[str] = []
