"""The Transformer."""

__all__: list[str] = []
