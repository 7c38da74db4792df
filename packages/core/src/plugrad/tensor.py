"""The tensor: an array, the device it lives on, and how it was made. The class body is a table of contents."""

from __future__ import annotations

from . import leaves, ops, values
from .call import results
from .errors import ShapeError
from .grad import backward
from .node import Value
from .ops.numbers import prod
from .values import inplace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterator
    from typing import Any

    from .dtypes import DType


@results
class Tensor(Value):
    """A value: numbers of one dtype in a grid, on a device. Make one with `pg.tensor(...)`.

    Tensors have value semantics: `x += y` and `x[i] = v` give x a new value and never change what another tensor,
    a view or a saved gradient sees.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Tensor:
        if args or kwargs:
            raise TypeError("make tensors with pg.tensor(data), pg.zeros(shape), ...")
        return object.__new__(cls)

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[builtins.int, ...]:
        return tuple(self.data.shape)

    @property
    def ndim(self) -> builtins.int:
        return len(self.data.shape)

    @property
    def size(self) -> builtins.int:
        return prod(self.data.shape)

    @property
    def dtype(self) -> DType:
        return self.device.backend.dtype_of(self.data)

    @property
    def nbytes(self) -> builtins.int:
        return self.size * self.dtype.itemsize

    def numel(self) -> builtins.int:
        """Number of elements."""
        return self.size

    # -- gradients ----------------------------------------------------------------------------------------------

    backward = backward

    @property
    def requires_grad(self) -> builtins.bool:
        return self.node is not None

    @requires_grad.setter
    def requires_grad(self, on: builtins.bool) -> None:
        self.requires_grad_(on)

    @property
    def is_leaf(self) -> builtins.bool:
        """Made by the user rather than by an op (or asking for no gradient)."""
        return self.node is None or self.node.op is None

    @property
    def grad(self) -> Tensor | None:
        """∂L/∂self, added up by `backward`; of leaves, and of tensors that were told to `retain_grad()`."""
        return getattr(self.node, "grad", None)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        leaves.set_grad(self, value)

    requires_grad_ = leaves.requires_grad_
    retain_grad = leaves.retain_grad
    register_hook = leaves.register_hook
    detach = leaves.detach

    # -- other forms --------------------------------------------------------------------------------------------

    clone = ops.clone

    astype = ops.astype
    to = ops.to
    to_device = ops.to_device
    cpu = ops.cpu
    new_zeros = ops.new_zeros
    new_ones = ops.new_ones
    item = values.item
    tolist = values.tolist
    numpy = __array__ = values.to_array
    __dlpack__ = values.to_dlpack
    __array_ufunc__ = None  # NumPy's operators leave mixed expressions to ours

    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]:
        return self.device.backend.dlpack_device(self.data)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The functions of the array API standard, with its defaults (`std` divides by n): plugrad.array_api."""
        from . import array_api

        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"array API version {api_version!r}: plugrad follows 2024.12")
        return array_api

    __copy__ = values.copied
    __deepcopy__ = values.deep_copied
    __reduce__ = values.reduced

    # -- Python's own protocols ---------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from .tools.formatting import show

        return show(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and self.size == 1 else format(str(self), spec)

    def __len__(self) -> builtins.int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor; use .item()")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> builtins.bool:
        return bool((self == value).any())

    def __bool__(self) -> builtins.bool:
        if self.size != 1:
            raise ShapeError(f"the truth of a tensor of shape {self.shape} is ambiguous; use x.any() or x.all()")
        return bool(self.item())

    def __int__(self) -> builtins.int:
        return int(self.item())

    def __float__(self) -> builtins.float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> builtins.int:
        if self.dtype.kind not in ("int", "uint") or self.ndim:
            raise TypeError(f"only 0-d integer tensors are an index, not {self.dtype} of shape {self.shape}")
        return int(self.item())

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Any:
        return ops.equal(self, other) if _numeric(other) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return ops.not_equal(self, other) if _numeric(other) else NotImplemented

    # -- value semantics: a new value for the same object -------------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        values.guarded(self)
        values.become(self, ops.setitem(self, key, value), "item assignment")

    __iadd__ = inplace(ops.add, "+=")
    __isub__ = inplace(ops.subtract, "-=")
    __imul__ = inplace(ops.multiply, "*=")
    __itruediv__ = inplace(ops.divide, "/=")
    __ifloordiv__ = inplace(ops.floor_divide, "//=")
    __imod__ = inplace(ops.remainder, "%=")
    __ipow__ = inplace(ops.pow, "**=")
    __imatmul__ = inplace(ops.matmul, "@=")
    __iand__ = inplace(ops.bitwise_and, "&=")
    __ior__ = inplace(ops.bitwise_or, "|=")
    __ixor__ = inplace(ops.bitwise_xor, "^=")
    __ilshift__ = inplace(ops.bitwise_left_shift, "<<=")
    __irshift__ = inplace(ops.bitwise_right_shift, ">>=")

    # -- the table of contents: every line is a function from plugrad.ops ----------------------------------------

    __getitem__ = ops.getitem

    __add__ = ops.add
    __radd__ = ops.radd
    __sub__ = ops.subtract
    __rsub__ = ops.rsubtract
    __mul__ = ops.multiply
    __rmul__ = ops.rmultiply
    __truediv__ = ops.divide
    __rtruediv__ = ops.rdivide
    __floordiv__ = ops.floor_divide
    __rfloordiv__ = ops.rfloor_divide
    __mod__ = ops.remainder
    __rmod__ = ops.rremainder
    __pow__ = ops.pow
    __rpow__ = ops.rpow
    __matmul__ = ops.matmul
    __rmatmul__ = ops.rmatmul
    __neg__ = ops.negative
    __pos__ = ops.positive
    __abs__ = ops.abs
    __lt__ = ops.less
    __le__ = ops.less_equal
    __gt__ = ops.greater
    __ge__ = ops.greater_equal
    __invert__ = ops.bitwise_invert
    __and__ = __rand__ = ops.bitwise_and
    __or__ = __ror__ = ops.bitwise_or
    __xor__ = __rxor__ = ops.bitwise_xor
    __lshift__ = ops.bitwise_left_shift
    __rlshift__ = ops.rbitwise_left_shift
    __rshift__ = ops.bitwise_right_shift
    __rrshift__ = ops.rbitwise_right_shift

    # arithmetic and rounding
    add, sub, mul, div, neg, pow = ops.add, ops.subtract, ops.multiply, ops.divide, ops.negative, ops.pow
    abs, sign, reciprocal, square, sqrt, rsqrt = ops.abs, ops.sign, ops.reciprocal, ops.square, ops.sqrt, ops.rsqrt
    floor, ceil, round, trunc = ops.floor, ops.ceil, ops.round, ops.trunc
    maximum, minimum, clip, clamp, lerp = ops.maximum, ops.minimum, ops.clip, ops.clip, ops.lerp

    # elementary functions
    exp, exp2, expm1, log, log2, log10, log1p = ops.exp, ops.exp2, ops.expm1, ops.log, ops.log2, ops.log10, ops.log1p
    sin, cos, tan, asin, acos, atan = ops.sin, ops.cos, ops.tan, ops.asin, ops.acos, ops.atan
    sinh, cosh, tanh, asinh, acosh, atanh = ops.sinh, ops.cosh, ops.tanh, ops.asinh, ops.acosh, ops.atanh
    erf, erfinv, sigmoid = ops.erf, ops.erfinv, ops.sigmoid

    # activations
    relu, softmax, log_softmax = ops.relu, ops.softmax, ops.log_softmax

    # selection and tests
    masked_fill, nan_to_num = ops.masked_fill, ops.nan_to_num
    isnan, isinf, isfinite = ops.isnan, ops.isinf, ops.isfinite

    # reductions and scans
    sum, mean, prod, max, min, amax, amin = ops.sum, ops.mean, ops.prod, ops.max, ops.min, ops.amax, ops.amin
    argmax, argmin, all, any, count_nonzero = ops.argmax, ops.argmin, ops.all, ops.any, ops.count_nonzero
    var, std, norm, logsumexp, median, quantile = ops.var, ops.std, ops.norm, ops.logsumexp, ops.median, ops.quantile
    cumsum, cumprod = ops.cumsum, ops.cumprod

    # movement
    reshape, view, flatten, unflatten, squeeze = ops.reshape, ops.view, ops.flatten, ops.unflatten, ops.squeeze
    unsqueeze, expand_dims, expand, broadcast_to = ops.unsqueeze, ops.expand_dims, ops.expand, ops.broadcast_to
    permute, permute_dims, transpose, swapaxes = ops.permute, ops.permute_dims, ops.transpose, ops.swapaxes
    moveaxis, contiguous, as_strided, unfold = ops.moveaxis, ops.contiguous, ops.as_strided, ops.unfold
    tile, repeat, flip, roll, pad = ops.tile, ops.repeat, ops.flip, ops.roll, ops.pad
    split, chunk, unstack, unbind = ops.split, ops.chunk, ops.unstack, ops.unstack
    diagonal, tril, triu = ops.diagonal, ops.tril, ops.triu

    if TYPE_CHECKING:

        @property
        def T(self) -> Tensor: ...

        @property
        def mT(self) -> Tensor: ...

    else:
        T = mT = property(ops.matrix_transpose)

    # PyTorch's names for a cast
    half, float, double = ops.caster("float16"), ops.caster("float32"), ops.caster("float64")
    int, long, bool = ops.caster("int32"), ops.caster("int64"), ops.caster("bool")

    # indexing, order
    take, take_along_axis, gather = ops.take, ops.take_along_axis, ops.gather
    scatter, scatter_add, index_add, nonzero = ops.scatter, ops.scatter_add, ops.index_add, ops.nonzero
    sort, argsort, topk = ops.sort, ops.argsort, ops.topk

    # linear algebra
    matmul, dot, outer = ops.matmul, ops.dot, ops.outer


def _numeric(x: Any) -> bool:
    return isinstance(x, (Value, bool, int, float)) or hasattr(x, "dtype")
