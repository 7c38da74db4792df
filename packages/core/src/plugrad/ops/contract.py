"""Sums of products over axes that are named: tensordot and einsum, as movement around matrix products."""

from __future__ import annotations

from ..apply import binary
from ..errors import ShapeError
from .arithmetic import Mul
from .axes import many_axes
from .linear import MatMul, dims, own
from .numbers import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..tensor import Tensor

    Labels = tuple[str, ...]
    Term = tuple[Tensor, Labels]

__all__ = ["einsum", "tensordot"]

_matmul, _mul = MatMul(), Mul()


def tensordot(x: Tensor, y: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Z[i, j] = Σₖ X[i, k] Y[k, j], where each of i, j and k may be several axes.

    axes    how many: the last ones of x, in order, against the first ones of y; or which: (axes of x, axes of y)
    ShapeError where sizes along a pair of axes differ.
    """
    n, m = dims("tensordot", x, y, least=0)
    left, right = _pairs(axes, n, m)
    for i, j in zip(left, right, strict=True):
        if x.shape[i] != y.shape[j]:
            raise ShapeError(
                f"tensordot: shapes {x.shape} and {y.shape} do not fit: axis {i} of the first has size {x.shape[i]}, "
                f"axis {j} of the second {y.shape[j]}; they are summed over, so must agree"
            )
    rows = tuple(i for i in range(n) if i not in left)
    columns = tuple(j for j in range(m) if j not in right)
    z = binary(_matmul, _grouped(x, rows, left), _grouped(y, right, columns))
    return own(z.reshape((*(x.shape[i] for i in rows), *(y.shape[j] for j in columns))))


def _pairs(axes: Any, n: int, m: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of x and of y that are summed over."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(n, m):
            raise ShapeError(f"tensordot: axes={axes} is out of range for tensors with {n} and {m} axes")
        return tuple(range(n - axes, n)), tuple(range(axes))
    left, right = many_axes("tensordot", axes[0], n), many_axes("tensordot", axes[1], m)
    if len(left) != len(right):
        raise ShapeError(f"tensordot: axes={axes} names {len(left)} axes of the first and {len(right)} of the second")
    return left, right


def _grouped(x: Tensor, *groups: tuple[int, ...]) -> Tensor:
    """`x` with one axis for each group of axes."""
    order = tuple(i for group in groups for i in group)
    return x.permute_dims(order).reshape(tuple(prod(x.shape[i] for i in group) for group in groups))


def einsum(subscripts: str, *operands: Tensor) -> Tensor:
    """Einstein's sum: `einsum("bik,bkj->bij", x, y)` multiplies, and sums over the letters that the result lacks.

    A letter twice in one operand takes its diagonal. `...` stands for leading axes that broadcast. Without `->` the
    result has the letters that occur once, in alphabetical order, after the `...`. Axes of size 1 broadcast.
    Products are taken two at a time, the pair with the smallest result first.
    """
    inputs, output = _parse(subscripts, operands)
    sizes = _sizes(subscripts, inputs, operands)
    terms = [_simple(x, labels, sizes) for x, labels in zip(operands, inputs, strict=True)]
    while len(terms) > 1:
        i, j = _cheapest(terms, output, sizes)
        y, x = terms.pop(j), terms.pop(i)
        terms.append(_product(x, y, {*output, *(c for _, labels in terms for c in labels)}, sizes))
    z, labels = _summed(terms[0], {*output})
    return own(z.permute_dims(tuple(labels.index(c) for c in output)))


def _parse(subscripts: str, operands: tuple[Tensor, ...]) -> tuple[list[Labels], Labels]:
    """The labels of each operand and of the result; the axes of `...` are called "-1", "-2", ... from the right."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(operands) or not operands:
        raise ShapeError(f"einsum: {subscripts!r} names {len(parts)} operands, and {len(operands)} were given")
    for x in operands:
        dims("einsum", operands[0], x, least=0)
    inputs = [_labels(subscripts, part, x.ndim) for part, x in zip(parts, operands, strict=True)]
    every = [c for labels in inputs for c in labels]
    dots = sorted({c for c in every if c.startswith("-")}, key=int)
    if not arrow:
        return inputs, (*dots, *sorted(c for c in {*every} - {*dots} if every.count(c) == 1))
    output = _labels(subscripts, right, len(right.replace("...", "")) + (len(dots) if "..." in right else 0))
    missing = [c for c in output if c not in every]
    if missing or len({*output}) != len(output):
        raise ShapeError(f"einsum: the result of {subscripts!r} must name axes of the operands, each once")
    return inputs, output


def _labels(subscripts: str, part: str, ndim: int) -> Labels:
    """One label for each axis."""
    head, dots, tail = part.partition("...")
    letters = head + tail
    if not all(c.isalpha() for c in letters):
        raise ShapeError(f"einsum: {subscripts!r}: axes are named by letters, and {part!r} has something else")
    hidden = ndim - len(letters)
    if hidden < 0 or (hidden and not dots):
        raise ShapeError(f"einsum: {subscripts!r}: {part!r} names {len(letters)} axes of an operand that has {ndim}")
    return (*head, *(str(-i) for i in range(hidden, 0, -1)), *tail)


def _sizes(subscripts: str, inputs: list[Labels], operands: tuple[Tensor, ...]) -> dict[str, int]:
    """The size of each label."""
    sizes: dict[str, int] = {}
    for labels, x in zip(inputs, operands, strict=True):
        for c, n in zip(labels, x.shape, strict=True):
            have = sizes.setdefault(c, n)
            if n != have and 1 not in (n, have):
                shapes = " and ".join(str(x.shape) for x in operands)
                what = f"axis {c!r}" if c.isalpha() else f"axis {c} of ..."
                raise ShapeError(f"einsum: {subscripts!r}: shapes {shapes} do not fit: {what} has sizes {have} and {n}")
            sizes[c] = n if have == 1 else have
    return sizes


def _simple(x: Tensor, labels: Labels, sizes: dict[str, int]) -> Term:
    """An operand with each label once (diagonals taken), and without the axes of size 1 that broadcast."""
    wide = [i for i, (c, n) in enumerate(zip(labels, x.shape, strict=True)) if n == sizes[c]]
    x, labels = x.reshape(tuple(x.shape[i] for i in wide)), tuple(labels[i] for i in wide)
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i, j = [k for k, d in enumerate(labels) if d == c][:2]
            x = x.diagonal(0, i, j)  # which comes last
            labels = (*(d for k, d in enumerate(labels) if k not in (i, j)), c)
    return x, labels


def _cheapest(terms: list[Term], output: Labels, sizes: dict[str, int]) -> tuple[int, int]:
    """The two terms whose product is smallest."""

    def cost(pair: tuple[int, int]) -> int:
        rest = {*output, *(c for k, (_, labels) in enumerate(terms) if k not in pair for c in labels)}
        return prod(sizes[c] for c in {*terms[pair[0]][1], *terms[pair[1]][1]} & rest)

    return min(((i, j) for j in range(len(terms)) for i in range(j)), key=cost)


def _product(x: Term, y: Term, needed: set[str], sizes: dict[str, int]) -> Term:
    """The product of two terms, summed over what nobody needs any more."""
    a, b = _summed(x, needed | {*y[1]}), _summed(y, needed | {*x[1]})
    both = [c for c in a[1] if c in b[1]]
    batch, inner = [c for c in both if c in needed], [c for c in both if c not in needed]
    rows, columns = [c for c in a[1] if c not in both], [c for c in b[1] if c not in both]
    x2, y2 = _arranged(a, batch, rows, inner), _arranged(b, batch, inner, columns)
    z = binary(_matmul if inner else _mul, x2, y2)
    labels = (*batch, *rows, *columns)
    return z.reshape(tuple(sizes[c] for c in labels)), labels


def _summed(x: Term, needed: set[str]) -> Term:
    axes = tuple(i for i, c in enumerate(x[1]) if c not in needed)
    return (x[0].sum(axis=axes, dtype=x[0].dtype), tuple(c for c in x[1] if c in needed)) if axes else x


def _arranged(x: Term, batch: list[str], *groups: list[str]) -> Tensor:
    """The batch axes, then one axis for each group."""
    order = [x[1].index(c) for group in (batch, *groups) for c in group]
    shape = [x[0].shape[i] for i in order[: len(batch)]]
    shape += [prod(x[0].shape[x[1].index(c)] for c in group) for group in groups]
    return x[0].permute_dims(tuple(order)).reshape(tuple(shape))
