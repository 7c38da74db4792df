"""Where a token stands: rotary and sinusoidal positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.apply import apply
from plugrad.errors import DTypeError, ShapeError

from .. import ops

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["apply_rotary", "rotary_angles", "sinusoidal_positions"]


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> Tensor:
    """(x₁ c - x₂ s, x₂ c + x₁ s) for each pair of entries        Su et al. 2021

    x              (..., n, d); with cos and sin (n, r/2), or what broadcasts to (..., n, r/2), entries from r on stay
    interleaved    False: a pair is (i, i + r/2), the halves, as weights in Hugging Face's form have it;
                   True: a pair is (2i, 2i + 1), the neighbours, as in the paper, and as GGUF files of Llama have it
    """
    if not x.ndim or cos.shape != sin.shape or not cos.ndim or 2 * cos.shape[-1] > x.shape[-1]:
        raise ShapeError(
            f"apply_rotary: x {x.shape}, cos {cos.shape} and sin {sin.shape}; cos and sin are of one shape, "
            "with one entry for each pair in x, so for half of its last axis at most"
        )
    if x.dtype.kind != "float":
        raise DTypeError(f"apply_rotary: x is {x.dtype}, not floating; cast it first: x.astype('float32')")
    wide = "float32" if x.dtype.bits == 16 else x.dtype
    return apply(ops.Rotary(interleaved), x, cos.astype(wide), sin.astype(wide))  # type: ignore[no-any-return]


def rotary_angles(positions: Tensor, dim: int, base: float = 10000.0, *, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """cos and sin of position · base^(-2i/dim), i = 0 ... dim/2 - 1: two tensors (..., dim/2) of positions (...)

    Angles are taken in float64 where the device has it: in float32 those of far positions are off in the third digit.
    """
    if dim < 0 or dim % 2:
        raise ShapeError(f"rotary_angles: dim is {dim}; entries are turned in pairs, so it must be even")
    angles = _angles("rotary_angles", positions, dim, base)
    to = dtype or "float32"
    return angles.cos().astype(to), angles.sin().astype(to)


def sinusoidal_positions(positions: Tensor, dim: int, base: float = 10000.0, *, dtype: Any = None) -> Tensor:
    """z[2i] = sin(position / base^(2i/dim)), z[2i + 1] = cos of the same: (..., dim)        Vaswani et al. 2017"""
    angles = _angles("sinusoidal_positions", positions, dim, base)
    both = pg.stack([angles.sin(), angles.cos()], axis=-1).reshape((*positions.shape, -1))
    return both[..., :dim].astype(dtype or "float32")


def _angles(name: str, positions: Tensor, dim: int, base: float) -> Tensor:
    """position · base^(-2i/dim), for i up to dim/2, rounded up."""
    if positions.dtype.kind == "bool":
        raise DTypeError(f"{name}: positions are {positions.dtype}; they are numbers: pg.arange(n)")
    wide = "float64" if "float64" in positions.device.xp.dtypes else "float32"
    speeds = [base ** (-2 * i / dim) for i in range((dim + 1) // 2)]
    at: Tensor = positions.astype(wide).expand_dims(-1)
    return at * pg.tensor(speeds, dtype=wide, device=positions.device)
