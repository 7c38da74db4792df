"""Attention and what stands around it."""

__all__: list[str] = []
