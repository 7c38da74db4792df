"""A whole training run in one file."""

__all__: list[str] = []
