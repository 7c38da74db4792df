"""Case rows of resize."""

from typing import Any

ROWS: list[Any] = []
