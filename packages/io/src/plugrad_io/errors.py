"""What is wrong with a file."""

__all__: list[str] = []
