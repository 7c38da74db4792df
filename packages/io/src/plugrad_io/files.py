"""Any file of tensors: the reader by content, the writer by suffix."""

__all__: list[str] = []
