"""Convolution, its transpose, and the third of the kind, for the weight: one sum, linear in each of three tensors.

Σ X[n, c, p · stride + k · dilation - before] · W[o, c, k] · Z[n, o, p] over everything, c in the group of o: the slope
along Z is the convolution, along X the transposed one, along W the third. So each is a gradient of the other two.

X: (n, c, ...)   W: (o, c / groups, ...)   Z: (n, o, ...), with any number of further axes. The padding of each of these
is (before, after), and the last window ends where the padded axis ends: size + before + after = (places - 1) · stride +
(kernel - 1) · dilation + 1. `after` is negative where windows leave entries at the end unread.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from plugrad import Op
from plugrad.apply import binary, unary

__all__ = ["AddPatches", "BiasedConv", "BiasedConvTranspose", "Conv", "ConvTranspose", "ConvWeight", "Patches"]


class Conv(Op):
    """Z[n, o, p] = Σ X[n, c, p · stride + k · dilation - before] · W[o, c, k], over c and k

    ∂L/∂X = the transposed convolution of G by W        ∂L/∂W[o, c, k] = Σ X[...] · G[n, o, p], over n and p
    """

    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int
    numbers = True

    def forward(self, xp, x, w):
        z = xp.matmul(_matrices(xp, self, w), _columns(xp, self, x, w.shape[2:]))
        return xp.reshape(z, (x.shape[0], w.shape[0], *places_of(self, x.shape[2:], w.shape[2:])))

    def dx(self, g, w):
        return binary(ConvTranspose(*self.settings), g, w)

    def dw(self, g, x):
        return binary(ConvWeight(*self.settings), x, g)


class ConvTranspose(Op):
    """Z[n, c, p · stride + k · dilation - before] = Σ X[n, o, p] · W[o, c, k], over o and the pairs p, k that meet

    ∂L/∂X = the convolution of G by W        ∂L/∂W[o, c, k] = Σ G[...] · X[n, o, p], over n and p
    """

    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int
    numbers = True

    def forward(self, xp, x, w):
        (n, _, *places), (_, c, *kernel) = x.shape, w.shape
        columns = xp.matmul(xp.permute_dims(_matrices(xp, self, w), (0, 2, 1)), _rows(xp, self, x))
        return _added(xp, self, xp.reshape(columns, (n, c * self.groups, prod(kernel), *places)), kernel)

    def dx(self, g, w):
        return binary(Conv(*self.settings), g, w)

    def dw(self, g, x):
        return binary(ConvWeight(*self.settings), g, x)


class ConvWeight(Op):
    """Z[o, c, k] = Σ X[n, c, p · stride + k · dilation - before] · Y[n, o, p], over n and p

    ∂L/∂X = the transposed convolution of Y by G        ∂L/∂Y = the convolution of X by G
    """

    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int

    def forward(self, xp, x, y):
        kernel = _kernel(self, x.shape[2:], y.shape[2:])
        columns, rows = _columns(xp, self, x, kernel), _rows(xp, self, y)
        z = xp.matmul(_joined(xp, rows), xp.permute_dims(_joined(xp, columns), (0, 2, 1)))
        return xp.reshape(z, (y.shape[1], x.shape[1] // self.groups, *kernel))

    def dx(self, g, y):
        return binary(ConvTranspose(*self.settings), y, g)

    def dy(self, g, x):
        return binary(Conv(*self.settings), x, g)


class BiasedConv(Conv):
    """Z = the convolution of X by W, + b        b: (o,)

    ∂L/∂X and ∂L/∂W as without b        ∂L/∂b = G, summed over all but the channels
    """

    def forward(self, xp, x, w, b):  # type: ignore[override]
        return Conv.forward(self, xp, x, w) + xp.reshape(b, (-1, *[1] * (len(x.shape) - 2)))

    def db(self, g):
        return g.sum(axis=(0, *range(2, g.ndim)))


class BiasedConvTranspose(ConvTranspose):
    """Z = the transposed convolution of X by W, + b        b: (c,)

    ∂L/∂X and ∂L/∂W as without b        ∂L/∂b = G, summed over all but the channels
    """

    def forward(self, xp, x, w, b):  # type: ignore[override]
        return ConvTranspose.forward(self, xp, x, w) + xp.reshape(b, (-1, *[1] * (len(x.shape) - 2)))

    def db(self, g):
        return g.sum(axis=(0, *range(2, g.ndim)))


class Patches(Op):
    """Z[n, (c, k), p] = X[n, c, p · stride + k · dilation - before]        X: (n, c, *size)   Z: (n, c · ∏k, ∏p)

    ∂L/∂X = G, every window added where it came from
    """

    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    storage = selects = True

    def forward(self, xp, x):
        z = _windows(xp, self, x, self.kernel)
        n, c, k, *places = z.shape
        return xp.reshape(z, (n, c * k, prod(places)))

    def dx(self, g):
        return unary(AddPatches(*self.settings), g)


class AddPatches(Op):
    """Z = zeros, X[n, (c, k), p] added at Z[n, c, p · stride + k · dilation - before]        Z: (n, c, *size)

    ∂L/∂X = the windows of G
    """

    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    numbers = True

    def forward(self, xp, x):
        (n, ck, _), k = x.shape, prod(self.kernel)
        columns = xp.reshape(x, (n, ck // k, k, *places_of(self, self.size, self.kernel)))
        return _added(xp, self, columns, self.kernel)

    def dx(self, g):
        return unary(Patches(*self.settings), g)


def places_of(op: Any, sizes: Any, kernel: Any) -> tuple[int, ...]:
    """How many windows there are along each axis."""
    axes = zip(sizes, kernel, op.stride, op.padding, op.dilation, strict=True)
    return tuple([(n + before + after - (k - 1) * d - 1) // s + 1 for n, k, s, (before, after), d in axes])


def sizes_of(op: Any, places: Any, kernel: Any) -> tuple[int, ...]:
    """The size of each axis that has that many windows."""
    axes = zip(places, kernel, op.stride, op.padding, op.dilation, strict=True)
    return tuple([(p - 1) * s + (k - 1) * d + 1 - before - after for p, k, s, (before, after), d in axes])


def _kernel(op, sizes, places):
    """The size of the windows."""
    axes = zip(sizes, places, op.stride, op.padding, op.dilation, strict=True)
    return tuple([(n + before + after - (p - 1) * s - 1) // d + 1 for n, p, s, (before, after), d in axes])


def _padded(op, sizes):
    return tuple([n + before + after for n, (before, after) in zip(sizes, op.padding, strict=True)])


def _before(op):
    return tuple([before for before, _ in op.padding])


def _laid(xp, x, sizes, shifts):
    """Zeros of these sizes, and `x` in it, shifted along each axis; what comes to lie outside is lost."""
    if tuple(x.shape[2:]) == sizes and not any(shifts):
        return x
    z = xp.zeros((*x.shape[:2], *sizes), dtype=x.dtype)
    ends = [(max(i, 0), max(min(i + n, m), 0)) for n, m, i in zip(x.shape[2:], sizes, shifts, strict=True)]
    if all(start < stop for start, stop in ends):
        key = [slice(start - i, stop - i) for (start, stop), i in zip(ends, shifts, strict=True)]
        z[(slice(None), slice(None), *[slice(*e) for e in ends])] = x[(slice(None), slice(None), *key)]
    return z


def _keys(op, kernel, places):
    """For each entry of the kernel: where the windows have it, in the padded tensor."""
    for k in product(*map(range, kernel)):
        axes = zip(k, places, op.stride, op.dilation, strict=True)
        yield (slice(None), slice(None), *[slice(i * d, i * d + (p - 1) * s + 1, s) for i, p, s, d in axes])


def _windows(xp, op, x, kernel):
    """(n, c, k, ...): entry k of every window."""
    places = places_of(op, x.shape[2:], kernel)
    padded = _laid(xp, x, _padded(op, x.shape[2:]), _before(op))
    z = xp.zeros((*x.shape[:2], prod(kernel), *places), dtype=x.dtype)
    for i, key in enumerate(_keys(op, kernel, places)):
        z[(slice(None), slice(None), i, ...)] = padded[key]
    return z


def _added(xp, op, columns, kernel):
    """The adjoint of `_windows`: entry k of every window added where it came from."""
    sizes = sizes_of(op, columns.shape[3:], kernel)
    z = xp.zeros((*columns.shape[:2], *_padded(op, sizes)), dtype=columns.dtype)
    for i, key in enumerate(_keys(op, kernel, columns.shape[3:])):
        z[key] = z[key] + columns[(slice(None), slice(None), i, ...)]
    return _laid(xp, z, sizes, tuple([-i for i in _before(op)]))


def _columns(xp, op, x, kernel):
    """(n, groups, (c, k), p)"""
    z = _windows(xp, op, x, kernel)
    n, c, k, *places = z.shape
    return xp.reshape(z, (n, op.groups, c // op.groups * k, prod(places)))


def _rows(xp, op, x):
    """(n, groups, o, p)"""
    n, o, *places = x.shape
    return xp.reshape(x, (n, op.groups, o // op.groups, prod(places)))


def _matrices(xp, op, w):
    """(groups, o, (c, k))"""
    o, c, *kernel = w.shape
    return xp.reshape(w, (op.groups, o // op.groups, c * prod(kernel)))


def _joined(xp, x):
    """(n, groups, rows, p) as (groups, rows, (n, p))"""
    n, groups, rows, p = x.shape
    return xp.reshape(xp.permute_dims(x, (1, 2, 0, 3)), (groups, rows, n * p))
