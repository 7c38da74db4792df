"""GGUF files of llama.cpp."""

__all__: list[str] = []
