"""Conditions on numbers: those of a recorded function are not known yet, and are tested when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugrad.apply import apply

from .. import ops

if TYPE_CHECKING:
    from plugrad import Tensor


def checked(x: Tensor, wrong: Tensor, error: type[Exception], told: str) -> Tensor:
    """`x`, whose user meets `error(told)` whenever an entry of `wrong` holds."""
    return apply(ops.Checked(error, told), x, ~wrong)  # type: ignore[no-any-return]
