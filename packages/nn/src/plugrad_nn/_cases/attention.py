"""Case rows of attention."""

from typing import Any

ROWS: list[Any] = []
