"""An activation and what stands before it, in one pass."""

__all__: list[str] = []
