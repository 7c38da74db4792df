"""Where a token stands, as layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["RotaryEmbedding", "SinusoidalPositions"]


class RotaryEmbedding(Module):
    """Queries and keys turned by angles that grow with their position, so that products know the distance.

    Entry pair i of the token at position p is turned by p · base^(-2i/dim)        Su et al. 2021

    dim            how many entries are turned: of a head of more entries the first; even
    interleaved    which two entries are a pair: see `functional.apply_rotary`

    It holds no tensor, so a cast of the model to half precision does not touch the angles.
    """

    def __init__(self, dim: int, base: float = 10000.0, interleaved: bool = False) -> None:
        if dim < 0 or dim % 2:
            raise ShapeError(f"RotaryEmbedding: dim is {dim}; entries are turned in pairs, so it must be even")
        self.dim, self.base, self.interleaved = dim, base, interleaved

    def forward(self, x: Tensor, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """x: (..., n, d)    offset: the position of the first    positions: (n,), or (batch, n), all of them"""
        cos, sin = self.angles(x, offset, positions)
        return F.apply_rotary(x, cos, sin, self.interleaved)

    def angles(self, x: Tensor, offset: int = 0, positions: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """cos and sin for `x`, as `functional.apply_rotary` takes them; the same for queries and keys of one length."""
        if x.ndim < 2 or x.shape[-1] < self.dim:
            raise ShapeError(f"RotaryEmbedding: x {x.shape}; it takes (..., n, d) with d at least {self.dim}")
        at = _places("RotaryEmbedding", x, offset, positions)
        return F.rotary_angles(at, self.dim, self.base, dtype="float64" if x.dtype == "float64" else "float32")

    def extra_repr(self) -> str:
        return f"{self.dim}, base={self.base}, interleaved={self.interleaved}"


class SinusoidalPositions(Module):
    """y = x + the sine and cosine of position / base^(2i/dim), in entries 2i and 2i + 1        Vaswani et al. 2017"""

    def __init__(self, dim: int, base: float = 10000.0) -> None:
        self.dim, self.base = dim, base

    def forward(self, x: Tensor, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """x: (..., n, dim)    offset: the position of the first    positions: (n,), or (batch, n), all of them"""
        if x.ndim < 2 or x.shape[-1] != self.dim:
            raise ShapeError(f"SinusoidalPositions: x {x.shape}; it takes (..., n, {self.dim})")
        at = _places("SinusoidalPositions", x, offset, positions)
        return x + F.sinusoidal_positions(at, self.dim, self.base, dtype=x.dtype)

    def extra_repr(self) -> str:
        return f"{self.dim}, base={self.base}"


def _places(name: str, x: Tensor, offset: int, positions: Tensor | None) -> Tensor:
    """The position of each token, in a shape that broadcasts to (..., n)."""
    n = x.shape[-2]
    if positions is None:
        return pg.arange(offset, offset + n, device=x.device)
    if positions.shape[-1:] != (n,) or positions.ndim > 2 or (positions.ndim == 2 and x.ndim < 3):
        raise ShapeError(f"{name}: positions {positions.shape} for x {x.shape}; they are ({n},), or (batch, {n})")
    return positions if positions.ndim == 1 else positions.reshape((len(positions), *[1] * (x.ndim - 3), n))
