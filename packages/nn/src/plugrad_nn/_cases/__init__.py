"""Case rows of the ops of nn, a file for each file of ops."""

from __future__ import annotations

from typing import Any

from . import (
    activation,
    attention,
    check,
    conv,
    ctc,
    embedding,
    linear,
    loss,
    margin,
    norm,
    pool,
    recurrent,
    regression,
    resize,
)

FILES = (
    activation, attention, check, conv, ctc, embedding, linear, loss, margin, norm, pool, recurrent, regression, resize,
)  # fmt: skip
ROWS: list[Any] = [row for file in FILES for row in file.ROWS]
