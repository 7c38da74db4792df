"""Rows of a table, chosen by integers."""

__all__: list[str] = []
