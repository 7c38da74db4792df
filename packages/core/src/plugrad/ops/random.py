"""Random numbers, the same on every backend: uniform and normal are defined on the generator's bits once."""

from __future__ import annotations

from math import pi

from .. import dtypes
from ..apply import apply
from ..dtypes import dtype as as_dtype
from ..errors import DTypeError, ShapeError
from ..op import Op
from .compare import isfinite
from .creation import place, require, shape_of
from .exponential import log1p
from .generator import default_generator
from .order import argsort
from .scan import cumsum
from .select import where
from .shape import broadcast_shapes, expand_dims

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..backend import Device
    from ..dtypes import DType
    from ..tensor import Tensor
    from .creation import What, Where
    from .generator import Generator

__all__ = [
    "bernoulli", "multinomial", "normal", "rand", "rand_like", "randint", "randn", "randn_like", "randperm", "uniform",
]  # fmt: skip

BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # of precision: numbers below 1 stay below 1


class Bits(Op):
    """z = the next ∏ shape words of the generator"""

    device: Device
    generator: Generator
    shape: tuple[int, ...]
    shared = False

    def words(self, n: int) -> Any:
        g, d = self.generator, self.device
        start, g.offset = g.offset, g.offset + n
        return d.backend.random_bits(g.key, start, n, d.index)

    def forward(self, xp):
        return xp.reshape(self.words(_count(self.shape)), self.shape)


class Uniform(Bits):
    """z = ⌊w / 2⁶⁴⁻ᵇ⌋ · 2⁻ᵇ of the next words w: in [0, 1), b bits of the dtype's precision"""

    dtype: DType

    def forward(self, xp):
        return xp.reshape(unit(xp, self.words(_count(self.shape)), self.dtype), self.shape)


class Normal(Bits):
    """z₁, z₂ = √(-2 ln u) · (cos 2πv, sin 2πv): normal with mean 0 and variance 1 (Box and Muller, 1958)

    u in (0, 1] comes from the first half of the words drawn, v from the second.
    """

    dtype: DType

    def forward(self, xp):
        n = _count(self.shape)
        half = (n + 1) // 2
        wide = dtypes.float32 if self.dtype.bits == 16 else self.dtype
        u = unit(xp, self.words(2 * half), wide)
        r = xp.sqrt(-2 * xp.log(1 - u[:half]))
        angle = u[half:] * (2 * pi)
        z = xp.concat([r * xp.cos(angle), r * xp.sin(angle)], axis=0)[:n]
        return xp.reshape(xp.astype(z, xp.dtype(self.dtype)), self.shape)


def unit(xp: Any, words: Any, t: DType) -> Any:
    """Words as numbers in [0, 1) of a floating dtype."""
    bits = BITS[t.name]
    wide = xp.float32 if t.bits == 16 else xp.dtype(t)
    return xp.astype(xp.astype(words >> (64 - bits), wide) * 2.0**-bits, xp.dtype(t))


def _count(shape: tuple[int, ...]) -> int:
    n = 1
    for k in shape:
        n *= k
    return n


def _float(name: str, dtype: What) -> DType:
    t = as_dtype(dtype or dtypes.float32)
    if t.kind != "float":
        raise DTypeError(f"{name}: dtype {t} is not floating; draw floats and cast, or use randint")
    return t


def rand(
    *shape: Any,
    generator: Generator | None = None,
    dtype: What = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform in [0, 1)."""
    op = Uniform(place(device), generator or default_generator, shape_of(shape), _float("rand", dtype))
    return require(apply(op), requires_grad)


def randn(
    *shape: Any,
    generator: Generator | None = None,
    dtype: What = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal with mean 0 and variance 1."""
    op = Normal(place(device), generator or default_generator, shape_of(shape), _float("randn", dtype))
    return require(apply(op), requires_grad)


def rand_like(x: Tensor, *, generator: Generator | None = None) -> Tensor:
    """`rand` of the shape, dtype and device of `x`."""
    return rand(x.shape, generator=generator, dtype=x.dtype, device=x.device)


def randn_like(x: Tensor, *, generator: Generator | None = None) -> Tensor:
    """`randn` of the shape, dtype and device of `x`."""
    return randn(x.shape, generator=generator, dtype=x.dtype, device=x.device)


def uniform(
    low: float, high: float, *shape: Any, generator: Generator | None = None, dtype: What = None, device: Where = None
) -> Tensor:
    """Uniform in [low, high)."""
    return rand(*shape, generator=generator, dtype=dtype, device=device) * (high - low) + low


def normal(
    mean: float | Tensor,
    std: float | Tensor,
    *shape: Any,
    generator: Generator | None = None,
    dtype: What = None,
    device: Where = None,
) -> Tensor:
    """mean + std · z with z normal. Tensors for `mean` or `std` give the shape, and receive gradients."""
    like: Any = mean if hasattr(mean, "shape") else std
    if not hasattr(like, "shape"):
        return randn(*shape, generator=generator, dtype=dtype, device=device) * std + mean
    sizes = shape_of(shape) if shape else broadcast_shapes(*[x.shape for x in (mean, std) if hasattr(x, "shape")])
    return randn(sizes, generator=generator, dtype=like.dtype, device=like.device) * std + mean


def randint(
    low: int,
    high: int | None = None,
    *shape: Any,
    generator: Generator | None = None,
    dtype: What = None,
    device: Where = None,
) -> Tensor:
    """Integers from `low` up to, not including, `high`: `randint(10, shape)` counts from 0. A word modulo the range."""
    if high is None or hasattr(high, "__iter__"):
        low, high, shape = 0, low, (high, *shape) if high is not None else shape
    span = int(high) - int(low)
    if not 0 < span <= 2**63:
        raise ValueError(f"randint: no integers from {low} up to {high}")
    words = apply(Bits(place(device), generator or default_generator, shape_of(shape)))
    drawn: Tensor = (words % span).astype("int64") + int(low)
    return drawn.astype(dtype or "int64")


def randperm(n: int, *, generator: Generator | None = None, dtype: What = None, device: Where = None) -> Tensor:
    """The numbers from 0 up to n in a random order: the order of n words."""
    words = apply(Bits(place(device), generator or default_generator, (int(n),)))
    return argsort(words).astype(dtype or "int64")


def bernoulli(p: Tensor, *, generator: Generator | None = None) -> Tensor:
    """1 with probability p, else 0, in the dtype of `p`."""
    return (rand_like(p.detach(), generator=generator) < p).astype(p.dtype)


def multinomial(
    probs: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`num_samples` indices drawn with probabilities proportional to the rows of `probs`.

    With replacement by inverting the cumulative sum, without by an exponential race (Efraimidis and Spirakis, 2006).
    """
    p = probs.detach()
    if p.ndim not in (1, 2) or not p.shape[-1]:
        raise ShapeError(f"multinomial: probs has shape {p.shape}; pass (n,) or (rows, n) with n > 0")
    if bool((~(isfinite(p) & (p >= 0))).any()) or bool((p.sum(axis=-1) <= 0).any()):
        raise ValueError("multinomial: probs has negative or infinite entries, NaN, or a row of zeros")
    if replacement:
        total = cumsum(p, axis=-1)
        u = rand(*p.shape[:-1], num_samples, generator=generator, dtype=p.dtype, device=p.device)
        below = expand_dims(u, axis=-1) * expand_dims(total[..., -1:], axis=-1) >= expand_dims(total, axis=-2)
        return below.astype("int64").sum(axis=-1)
    if int((p > 0).astype("int64").sum(axis=-1).min()) < num_samples:
        raise ValueError(f"multinomial: {num_samples} samples without replacement, but a row has fewer nonzero entries")
    waits = -log1p(-rand(p.shape, generator=generator, dtype=p.dtype, device=p.device))
    race = where(p > 0, waits / where(p > 0, p, 1.0), float("inf"))
    return argsort(race, axis=-1)[..., :num_samples]
