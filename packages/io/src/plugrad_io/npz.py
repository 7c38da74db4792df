"""NumPy's npz archives."""

__all__: list[str] = []
