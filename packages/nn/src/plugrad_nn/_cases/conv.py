"""Case rows of conv."""

from typing import Any

ROWS: list[Any] = []
