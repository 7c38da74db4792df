"""Case rows of recurrent."""

from typing import Any

ROWS: list[Any] = []
