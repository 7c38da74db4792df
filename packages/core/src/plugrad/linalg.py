"""Linear algebra: `pg.linalg`, the extension of that name in the array API standard. All leading axes are a batch."""

from __future__ import annotations

from .ops.linalg import *  # noqa: F403
