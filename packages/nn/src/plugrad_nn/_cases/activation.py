"""Case rows of activation."""

from typing import Any

ROWS: list[Any] = []
