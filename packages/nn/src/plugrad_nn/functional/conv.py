"""Convolution and its transpose."""

__all__: list[str] = []
