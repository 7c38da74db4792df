"""Names of one model to names of another."""

__all__: list[str] = []
