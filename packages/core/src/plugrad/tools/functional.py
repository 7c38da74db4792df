"""Derivatives of functions: vjp, jvp, jacobian, hessian, hvp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from ..context import enable_grad
from ..errors import GraphError, ShapeError
from ..grad import grad
from ..node import Value
from ..ops.creation import eye

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tensor import Tensor

    Tensors = Tensor | tuple[Tensor, ...]


def _call(what: str, f: Callable[..., Any], xs: tuple[Any, ...]) -> Any:
    """f(*xs): a tensor, or a tuple of them."""
    y = f(*xs)
    for t in _many(y):
        if not isinstance(t, Value):
            raise GraphError(f"{what}: f returned {type(t).__name__}, not a tensor")
    return y


def _many(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _like(x: Any, model: Any) -> Any:
    """A tuple, or its only entry, as `model` is."""
    return tuple(x) if isinstance(model, (tuple, list)) else x[0]


def _leaves(inputs: Any, create_graph: bool) -> tuple[Any, ...]:
    """Values of `inputs` that gradients can be asked for; with `create_graph` they stay tied to them."""
    fresh = [x.clone() if create_graph and x.requires_grad else x.detach().requires_grad_() for x in _many(inputs)]
    return tuple(fresh)


def _directions(what: str, v: Any, like: tuple[Any, ...]) -> tuple[Any, ...]:
    if v is None and len(like) == 1 and like[0].size == 1:
        return (like[0].new_ones(like[0].shape),)
    vs = _many(v) if v is not None else ()
    if [getattr(t, "shape", None) for t in vs] != [x.shape for x in like]:
        raise ShapeError(
            f"{what}: v needs the shapes {[x.shape for x in like]}, got {[getattr(t, 'shape', t) for t in vs]}"
        )
    return vs


def _back(ys: Any, xs: tuple[Any, ...], vs: Any, create_graph: bool) -> tuple[Any, ...]:
    """vᵀ J for each input; zeros where nothing leads there."""
    live = [(y, v) for y, v in zip(ys, vs, strict=True) if y.requires_grad]
    if not live:
        return tuple([x.new_zeros(x.shape) for x in xs])
    outputs, seeds = zip(*live, strict=True)
    return grad(outputs, xs, seeds, create_graph=create_graph, allow_unused=True, materialize_grads=True)


@enable_grad()
def vjp(
    f: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False
) -> tuple[Any, Any]:
    """(f(x), vᵀ J): one walk back. `v` has the shape of the output; it may be left out where that is a scalar."""
    xs = _leaves(inputs, create_graph)
    y = _call("vjp", f, xs)
    vs = _directions("vjp", v, _many(y))
    return _out(y, create_graph), _like(_back(_many(y), xs, vs, create_graph), inputs)


@enable_grad()
def jvp(
    f: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False
) -> tuple[Any, Any]:
    """(f(x), J v): the derivative along `v` (of the shapes of `inputs`), by differentiating the linear map u ↦ uᵀ J."""
    xs = _leaves(inputs, create_graph)
    vs = _directions("jvp", v, xs)
    y = _call("jvp", f, xs)
    us = tuple(t.new_ones(t.shape).requires_grad_() for t in _many(y))  # zeros would be mended
    gs = _back(_many(y), xs, us, True)
    return _out(y, create_graph), _like(_back(gs, us, vs, create_graph), y)


@enable_grad()
def jacobian(f: Callable[..., Any], inputs: Tensors, create_graph: bool = False) -> Any:
    """∂f(x)/∂x, of shape f(x).shape + x.shape; several inputs or outputs: a tuple each. One walk an output entry."""
    xs = _leaves(inputs, create_graph)
    y = _call("jacobian", f, xs)
    rows = [
        _like([_stacked(part, t, x) for part, x in zip(_rows(t, xs, create_graph), xs, strict=True)], inputs)
        for t in _many(y)
    ]
    return _like(rows, y)


def _rows(y: Tensor, xs: tuple[Tensor, ...], create_graph: bool) -> list[list[Tensor]]:
    """For each input the gradients of all entries of `y`, in order."""
    basis = eye(y.size, dtype=y.dtype, device=y.device)
    options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True, "materialize_grads": True}
    entries = [grad(y, xs, ops.reshape(basis[i], y.shape), **options) for i in range(y.size)] if y.requires_grad else []
    return [[gs[k] for gs in entries] for k in range(len(xs))]


def _stacked(parts: list[Tensor], y: Tensor, x: Tensor) -> Tensor:
    shape = (*y.shape, *x.shape)
    return ops.reshape(ops.stack(parts, axis=0), shape) if parts else x.new_zeros(shape)


@enable_grad()
def hessian(f: Callable[..., Any], inputs: Tensors, create_graph: bool = False) -> Any:
    """∂²f(x)/∂x∂x of a scalar function; with several inputs a tuple of tuples."""

    def slope(*xs: Tensor) -> Any:
        return _like(_back([_scalar("hessian", _call("hessian", f, xs))], xs, [None], True), inputs)

    return jacobian(slope, inputs, create_graph)


@enable_grad()
def hvp(
    f: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False
) -> tuple[Any, Any]:
    """(f(x), H v) of a scalar function: the gradient of gᵀ v, two walks (Pearlmutter, 1994)."""
    xs = _leaves(inputs, create_graph)
    vs = _directions("hvp", v, xs)
    y = _scalar("hvp", _call("hvp", f, xs))
    gs = _back([y], xs, [None], True)
    return _out(y, create_graph), _like(_back(gs, xs, vs, create_graph), inputs)


def _scalar(what: str, y: Any) -> Any:
    if getattr(y, "size", None) != 1:
        raise ShapeError(f"{what}: f must return one number, got shape {getattr(y, 'shape', y)}")
    return y


def _out(y: Any, create_graph: bool) -> Any:
    return y if create_graph else _like([t.detach() for t in _many(y)], y)
