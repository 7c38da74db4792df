"""Layers that give images another size."""

__all__: list[str] = []
