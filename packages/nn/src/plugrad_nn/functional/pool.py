"""Pooling: windows made one number."""

__all__: list[str] = []
