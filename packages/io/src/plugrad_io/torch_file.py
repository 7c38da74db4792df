"""PyTorch's files, read without executing anything."""

__all__: list[str] = []
