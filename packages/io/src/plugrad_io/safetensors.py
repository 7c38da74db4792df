"""The safetensors format."""

__all__: list[str] = []
