"""The error function, its complement and its inverse."""

from __future__ import annotations

from ..apply import unary
from ..op import Op
from .exponential import exp
from .numbers import ROOT_PI, SLOPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["erf", "erfc", "erfinv"]


class Erf(Op):
    """z = erf x = 2/√π ∫₀ˣ e^-t² dt

    ∂L/∂x = g 2/√π e^-x²
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.erf(x)

    def dx(self, g, x):
        return g * exp(-x * x) * SLOPE


class Erfc(Op):
    """z = erfc x = 1 - erf x, with all digits for large x

    ∂L/∂x = -g 2/√π e^-x²
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.erfc(x)

    def dx(self, g, x):
        return g * exp(-x * x) * -SLOPE


class Erfinv(Op):
    """z = erf⁻¹ x: erf z = x

    ∂L/∂x = g √π/2 e^z²
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.erfinv(x)

    def dx(self, g, z):
        return g * exp(z * z) * (ROOT_PI / 2)


_erf, _erfc, _erfinv = Erf(), Erfc(), Erfinv()


def erf(x: Tensor) -> Tensor:
    """2/√π ∫₀ˣ e^-t² dt"""
    return unary(_erf, x)  # type: ignore[no-any-return]


def erfc(x: Tensor) -> Tensor:
    """1 - erf x, with all digits for large x"""
    return unary(_erfc, x)  # type: ignore[no-any-return]


def erfinv(x: Tensor) -> Tensor:
    """The number whose erf is x; ±∞ at ±1, NaN beyond"""
    return unary(_erfinv, x)  # type: ignore[no-any-return]
