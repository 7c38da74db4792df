"""Case rows of pool."""

from typing import Any

ROWS: list[Any] = []
