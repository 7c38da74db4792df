"""Other sizes: interpolation."""

__all__: list[str] = []
