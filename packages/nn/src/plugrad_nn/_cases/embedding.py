"""Case rows of embedding."""

from typing import Any

ROWS: list[Any] = []
