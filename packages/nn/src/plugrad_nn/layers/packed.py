"""Sequences of unequal length in one tensor."""

__all__: list[str] = []
