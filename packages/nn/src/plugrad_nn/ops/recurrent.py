"""Recurrent sequences."""

__all__: list[str] = []
