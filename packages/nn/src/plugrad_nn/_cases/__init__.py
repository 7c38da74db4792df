"""Case rows of the ops of nn, a file for each file of ops."""

from __future__ import annotations

from typing import Any

from . import activation, attention, conv, embedding, linear, loss, norm, pool, recurrent, resize

FILES = (activation, attention, conv, embedding, linear, loss, norm, pool, recurrent, resize)
ROWS: list[Any] = [row for file in FILES for row in file.ROWS]
