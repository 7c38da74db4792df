"""Weights of a largest singular value of 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import plugrad as pg
from plugrad.values import become

from ..functional import normalize
from ..parameter import Parameter
from .rewrite import Rewrite, rewritten, rule_of, weight_of

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

    from ..module import Module

__all__ = ["remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound="Module")


class SpectralNorm(Rewrite):
    """w = W / σ,  σ = uᵀ W v        u ← W v / ‖W v‖ and v ← Wᵀ u / ‖Wᵀ u‖ in each call while training"""

    def __init__(self, name: str, iterations: int, eps: float, axis: int) -> None:
        self.name, self.iterations, self.eps, self.axis = name, iterations, eps, axis

    def matrix(self, w: Tensor) -> Tensor:
        """The weight with `axis` in front and all others as one."""
        rows = w.moveaxis(self.axis, 0) if self.axis % w.ndim else w
        return rows.reshape(rows.shape[0], -1)

    def weight(self, module: Module) -> Tensor:
        w = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        rows = self.matrix(w)
        if module.training:
            self.iterate(rows.detach(), u, v)
        made: Tensor = w / (u.detach() @ (rows @ v.detach()))
        return made

    def iterate(self, rows: Tensor, u: Tensor, v: Tensor) -> None:
        """The power method, a few steps."""
        with pg.no_grad():
            for _ in range(self.iterations):
                become(v, normalize(rows.mT @ u, axis=0, eps=self.eps), "spectral_norm")
                become(u, normalize(rows @ v, axis=0, eps=self.eps), "spectral_norm")


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    axis: int | None = None,
    *,
    generator: Generator | None = None,
) -> M:
    """Divide a weight by its largest singular value, as the power method finds it. Returns the module.

    axis    of the weight, that the outputs lie along; default 0, and 1 for transposed convolutions

    The parameter `name` becomes `name`_orig, with the buffers `name`_u and `name`_v.
    Miyato et al., Spectral normalization for generative adversarial networks, 2018.
    """
    if n_power_iterations < 1:
        raise ValueError(f"spectral_norm: n_power_iterations is {n_power_iterations}; it counts from 1")
    w = weight_of(module, name, "spectral_norm")
    transposed = type(module).__name__.startswith("ConvTranspose")
    rule = SpectralNorm(name, n_power_iterations, eps, axis if axis is not None else int(transposed))
    module.register_parameter(f"{name}_orig", Parameter(w))
    for end, n in zip("uv", rule.matrix(w).shape, strict=True):
        drawn = pg.randn((n,), generator=generator, dtype=w.dtype, device=w.device)
        module.register_buffer(f"{name}_{end}", normalize(drawn, axis=0, eps=eps))
    return rewritten(module, rule)


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make the weight a parameter again, of the value that it has."""
    rule = rule_of(module, name, SpectralNorm, "remove_spectral_norm")
    w = getattr(module, name)
    for end in ("orig", "u", "v"):
        delattr(module, f"{name}_{end}")
    for end in "uv":
        module._own("_buffers", dict).pop(f"{name}_{end}")
    return rule.leave(module, w)
