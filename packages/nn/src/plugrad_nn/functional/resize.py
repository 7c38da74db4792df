"""Other sizes: interpolation and pixel shuffling."""

__all__: list[str] = []
