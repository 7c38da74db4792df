"""Convolution and its transpose, in any number of dimensions."""

__all__: list[str] = []
