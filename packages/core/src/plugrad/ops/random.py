"""Random numbers, the same on every backend: uniform and normal are defined on the generator's bits once."""

from __future__ import annotations

from .. import dtypes
from ..apply import apply, unary
from ..dtypes import dtype as as_dtype
from ..errors import DTypeError, ShapeError
from ..op import Op
from .axes import whole
from .compare import isfinite, nextafter
from .creation import fits, place, require, shape_of, tensor
from .exponential import log, log1p
from .extreme import clip
from .generator import default_generator
from .numbers import PI
from .order import argsort
from .reduce import argmax
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
        angle = u[half:] * (2 * PI)
        z = xp.concat([r * xp.cos(angle), r * xp.sin(angle)], axis=0)[:n]
        return xp.reshape(xp.astype(z, xp.dtype(self.dtype)), self.shape)


class Chance(Op):
    """z = p, which must be probabilities: a check that is part of the program where one is recorded"""

    storage = True

    def forward(self, xp, p):
        if not bool(xp.all((p >= 0) & (p <= 1))):
            raise ValueError("bernoulli: p is a probability, and has entries below 0, above 1 or NaN")
        return p


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
        raise DTypeError(f"{name}: dtype {t} is not floating; use floats and cast, or randint")
    return t


def _wide(t: DType) -> DType:
    """What chances are computed in: steps of 1/2048, as half precision has them, are too coarse."""
    return dtypes.float32 if t.bits == 16 else t


def rand(
    *shape: Any,
    generator: Generator | None = None,
    dtype: What = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform in [0, 1)."""
    op = Uniform(place(device), generator or default_generator, shape_of("rand", shape), _float("rand", dtype))
    return require(apply(op), requires_grad)


def randn(
    *shape: Any,
    generator: Generator | None = None,
    dtype: What = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal with mean 0 and variance 1."""
    op = Normal(place(device), generator or default_generator, shape_of("randn", shape), _float("randn", dtype))
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
    t = _float("uniform", dtype)
    u = rand(*shape, generator=generator, dtype=_wide(t), device=device)
    z = (u * (high / 2 - low / 2) + low / 2) * 2  # halves: the distance itself may be out of range
    last = nextafter(tensor(high, t, u.device), low)  # what rounding would put at `high`
    return clip(z.astype(t), max=last) if low <= high else clip(z.astype(t), min=last)


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
    shapes = [x.shape for x in (mean, std) if hasattr(x, "shape")]
    sizes = shape_of("normal", shape) if shape else broadcast_shapes(*shapes)
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
    first, end = whole("randint", "low", low), whole("randint", "high", high)
    if not 0 < end - first <= 2**63:
        raise ValueError(f"randint: no integers from {first} up to {end}, or over 2**63")
    t = as_dtype(dtype or dtypes.int64)
    fits("randint", range(first, end), t)
    words = apply(Bits(place(device), generator or default_generator, shape_of("randint", shape)))
    drawn: Tensor = (words % (end - first)).astype(t if t.bits == 64 and t.kind == "uint" else "int64") + first
    return drawn.astype(t)


def randperm(n: int, *, generator: Generator | None = None, dtype: What = None, device: Where = None) -> Tensor:
    """The numbers from 0 up to n in a random order: the order of n words."""
    size, t = shape_of("randperm", (n,)), as_dtype(dtype or dtypes.int64)
    fits("randperm", range(*size), t)
    return argsort(apply(Bits(place(device), generator or default_generator, size))).astype(t)


def bernoulli(p: Tensor, *, generator: Generator | None = None) -> Tensor:
    """1 with probability p, else 0, in the dtype of `p`."""
    t = _wide(_float("bernoulli", p.dtype))
    chance: Tensor = unary(Chance(), p.detach()).astype(t)
    return (rand(p.shape, generator=generator, dtype=t, device=p.device) < chance).astype(p.dtype)


def multinomial(
    probs: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`num_samples` indices drawn with probabilities proportional to the rows of `probs`.

    With replacement by inverting the cumulative sum, without by an exponential race (Efraimidis and Spirakis, 2006).
    """
    t = _wide(_float("multinomial", probs.dtype))
    p, n = probs.detach().astype(t), whole("multinomial", "num_samples", num_samples)
    if p.ndim not in (1, 2) or not p.shape[-1]:
        raise ShapeError(f"multinomial: probs has shape {p.shape}; pass (n,) or (rows, n) with n > 0")
    if not bool((isfinite(p) & (p >= 0)).all()) or bool((p.max(axis=-1) <= 0).any()):
        raise ValueError("multinomial: probs has negative or infinite entries, NaN, or a row of zeros")
    if n < 0:
        raise ValueError(f"multinomial: {n} samples; draw 0 or more")
    if replacement:
        total = where(p > 0, cumsum(p / p.max(axis=-1, keepdims=True), axis=-1), 0)  # u · total is never below 0
        u = rand(*p.shape[:-1], n, generator=generator, dtype=t, device=p.device) * total.max(axis=-1, keepdims=True)
        return argmax(expand_dims(u, axis=-1) < expand_dims(total, axis=-2), axis=-1)
    if int((p > 0).astype("int64").sum(axis=-1).min()) < n:
        raise ValueError(f"multinomial: {n} samples without replacement, but a row has fewer nonzero entries")
    u = clip(rand(p.shape, generator=generator, dtype=t, device=p.device), min=2.0 ** -(BITS[t.name] + 1))  # not 0
    race = where(p > 0, log(-log1p(-u)) - log(where(p > 0, p, 1.0)), float("inf"))
    return argsort(race, axis=-1)[..., :n]
