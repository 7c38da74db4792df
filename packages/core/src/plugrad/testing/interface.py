"""What the interface asks of a backend as a whole: arrays in and out, dtypes, devices, random words, errors."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from itertools import product
from math import inf, nan
from typing import TYPE_CHECKING, Any

from .. import backend as interface
from .. import ops, plugins
from ..backend import Device
from ..dtypes import ALL, BY_NAME, limits, promote
from ..errors import AxisError, DeviceError, DTypeError, GraphError, ShapeError
from ..ops import creation
from .compare import EPS, expect, raises, rounded, same
from .subject import Excused, Lean, Subject, each

if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[Subject], None]

# -- arrays -----------------------------------------------------------------------------------------------------------


def round_trip(s: Subject) -> None:
    """asarray, then tolist, gives the same numbers, as Python's own, in the dtype asked for."""
    for t in s.dtypes:
        kind = BY_NAME[t].kind
        plain = {"bool": bool, "float": float}.get(kind, int)
        for data in (1, [0, 1], [[1, 0, 1], [0, 1, 1]], [[[1], [0]]], []):
            want = _as(plain, data)
            x = s.array(want, t)
            s.gives(x, want, f"tolist(asarray({want})) in {t}", t)
            found = _types(s.read(x))
            expect(found <= {plain}, f"tolist in {t}: gives {found}, expected Python's own {plain.__name__}")


def _as(kind: Callable[[Any], Any], data: Any) -> Any:
    return [_as(kind, v) for v in data] if isinstance(data, list) else kind(data)


def _types(nested: Any) -> set[type]:
    return {t for v in nested for t in _types(v)} if isinstance(nested, list) else {type(nested)}


def odd_numbers(s: Subject) -> None:
    """Infinities, NaN, the ends of each integer dtype, and numbers that a float64 would not hold."""
    for t in s.floats:
        s.gives(s.array([inf, -inf, nan, 1.0], t), [inf, -inf, nan, 1.0], f"odd numbers in {t}", t)
        third = rounded(1 / 3, t)
        s.gives(s.array([third, 1 + EPS[t]], t), [third, 1 + EPS[t]], f"the precision of {t}", t)
    for t in s.dtypes:
        if BY_NAME[t].kind in ("int", "uint"):
            ends = list(limits(BY_NAME[t]))
            s.gives(s.array(ends, t), ends, f"the ends of {t}", t)
    for t in each(("int64", "uint64"), s):
        s.gives(s.array([2**53 + 1], t), [2**53 + 1], f"2**53 + 1 in {t}", t)


def a_copy(s: Subject) -> None:
    """asarray takes a copy: writing to the list, or to the new array, does not reach the other."""
    data = [1.0, 2.0, 3.0]
    x = s.array(data)
    data[0] = 9.0
    s.gives(x, [1.0, 2.0, 3.0], "an array, after its list was written to")
    y = s.backend.asarray(s.backend.to_host(x), s.type("float32"), s.device.index)
    y[0] = 7.0
    s.gives(x, [1.0, 2.0, 3.0], "an array, after a copy through the host was written to")


def host(s: Subject) -> None:
    """to_host gives what asarray reads, with nothing lost, and of its own memory."""
    for t in s.dtypes:
        x = s.array([[0, 1, 1], [1, 0, 1]], t)
        there = s.backend.to_host(x)
        s.gives(s.backend.asarray(there, s.type(t), s.device.index), s.read(x), f"{t} to the host and back", t)
    x = s.xp.zeros((2,), dtype=s.type("float32"))
    there = s.backend.to_host(x)
    x[0] = 5.0
    s.gives(s.backend.asarray(there, s.type("float32"), s.device.index), [0, 0], "the host's copy, after a write")


def numpy_arrays(s: Subject) -> None:
    """asarray reads NumPy arrays of any layout and takes a copy of them."""
    if plugins.scan(plugins.BACKENDS).get("numpy") is None or plugins.unavailable("numpy") is not None:
        raise Excused("NumPy is not installed")
    there = plugins.device("numpy")
    source = Subject(there)
    base = source.array([[1, 2, 3], [4, 5, 6]], "float64")
    want = [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    x = s.backend.asarray(source.xp.permute_dims(base, (1, 0)), s.type("float32"), s.device.index)
    base[0, 0] = 9
    s.gives(x, want, "an array from a transposed NumPy array that was written to afterwards", "float32")


# -- dtypes -----------------------------------------------------------------------------------------------------------


def names(s: Subject) -> None:
    """`dtypes` maps plugrad's names to the library's objects, float32 among them; dtype_of leads back."""
    known = set(s.backend.dtypes)
    expect(known <= set(BY_NAME), f"unknown dtypes {sorted(known - set(BY_NAME))}; plugrad has {', '.join(BY_NAME)}")
    for needed in ("float32", "bool", "int64"):
        expect(needed in known, f"{needed} is missing: tensors are made in it by default")
    for t in s.dtypes:
        same(str(s.backend.dtype_of(s.array([0, 1], t))), t, "dtype_of(asarray(...))")


def promotion(s: Subject) -> None:
    """x + y for every pair of dtypes gives what the table says, or DTypeError where it says so."""
    for a, b in product(s.dtypes, s.dtypes):
        x, y = (creation.tensor([0, 1], dtype=t, device=s.device) for t in (a, b))
        try:
            want = promote(BY_NAME[a], BY_NAME[b])
        except DTypeError:
            raises(DTypeError, partial(ops.add, x, y), f"{a} + {b}")
            continue
        if want.name in s.dtypes and want.kind != "bool":
            z = ops.add(x, y)
            same((z.dtype.name, [float(v) for v in z.tolist()]), (want.name, [0.0, 2.0]), f"{a} + {b}")


def weak(s: Subject) -> None:
    """A plain number takes the dtype of the tensor, unless its kind is a higher one."""
    for t in s.dtypes:
        x, kind = creation.tensor([1, 1], dtype=t, device=s.device), BY_NAME[t].kind
        if kind != "bool":
            same(ops.multiply(x, 2).dtype.name, t, f"{t} · 2")
        same(ops.multiply(x, 0.5).dtype.name, t if kind == "float" else "float32", f"{t} · 0.5")


def missing(s: Subject) -> None:
    """A dtype that the backend lacks is refused in words, never swapped for another."""
    for t in ALL:
        if t.name not in s.dtypes:
            error = raises(DTypeError, partial(creation.zeros, 2, dtype=t, device=s.device), f"zeros of {t}")
            expect(t.name in str(error) and s.name in str(error), f"the error names neither dtype nor backend: {error}")


def accumulation(s: Subject) -> None:
    """Half precision adds up in float32: the sum of 4,096 ones is 4,096."""
    found = list(each(("float16", "bfloat16"), s))
    if not found:
        raise Excused("the backend has no half precision")
    for t in found:
        x = creation.full(4096, fill_value=1, dtype=t, device=s.device)
        same((ops.sum(x).item(), ops.mean(x).item()), (4096.0, 1.0), f"sum and mean of 4,096 ones in {t}")
        same(ops.matmul(x, x).item(), 4096.0, f"1ᵀ 1 in {t}")


# -- devices ----------------------------------------------------------------------------------------------------------


def declared(s: Subject) -> None:
    """name, api, devices() and capabilities are what they should be, and true."""
    b = s.backend
    expect(isinstance(b.name, str) and b.name.isidentifier(), f"name {b.name!r} is no identifier")
    expect(
        isinstance(b.api, tuple) and len(b.api) == 2 and all(type(v) is int for v in b.api),
        f"api {b.api!r} is not two integers",
    )
    expect(b.api[0] == interface.API[0] and b.api <= interface.API, f"api {b.api}: this plugrad has {interface.API}")
    expect(type(b.devices()) is int and b.devices() > 0, f"devices() gave {b.devices()!r}, expected 1 or more")
    words = b.capabilities
    expect(
        isinstance(words, frozenset) and all(type(w) is str for w in words),
        f"capabilities {words!r}: a frozenset of str",
    )
    same("linalg" in words, getattr(b.xp, "linalg", None) is not None, "the capability 'linalg', beside xp.linalg")


def contexts(s: Subject) -> None:
    """guard() and quiet() are None or contexts that can be entered again and again; synchronize() waits."""
    makers: dict[str, Callable[[], Any]] = {"guard": partial(s.backend.guard, s.device.index), "quiet": s.backend.quiet}
    for name, make in makers.items():
        for _ in range(2):
            context = make()
            expect(context is None or isinstance(context, AbstractContextManager), f"{name}() gave {context!r}")
            if context is not None:
                with context:
                    s.backend.synchronize(s.device.index)
    s.backend.synchronize(s.device.index)


def every_device(s: Subject) -> None:
    """Each of devices() computes, and its results stay on it."""
    for i in range(s.backend.devices()):
        device = s.device if i == s.device.index else Device(s.backend, i, lambda backend, op: None)
        x = creation.tensor([1.0, 2.0], device=device)
        z = ops.multiply(x, 3)
        expect(z.device is device, f"a result of {device} lives on {z.device}")
        same(z.tolist(), [3.0, 6.0], f"3 · [1, 2] on {device}")


def transfer(s: Subject) -> None:
    """To another device and back: nothing is lost, and the gradient comes home."""
    there = s.second() or Device(Lean(s.backend), s.device.index, lambda backend, op: None)
    x = creation.tensor([[1.5, -inf], [nan, 2.0]], device=s.device)
    back = ops.transfer(ops.transfer(x, there), s.device)
    expect(back.device is s.device, f"a tensor sent to {s.device} lives on {back.device}")
    same(repr(back.tolist()), repr(x.tolist()), f"there ({there.name}) and back")
    w = creation.tensor([1.0, 2.0], device=s.device, requires_grad=True)
    ops.multiply(ops.transfer(w, there), 3).backward(creation.tensor([1.0, 1.0], device=there))
    expect(
        w.grad is not None and w.grad.device is s.device,
        "the gradient of a tensor that was sent away did not come home",
    )
    same([] if w.grad is None else w.grad.tolist(), [3.0, 3.0], "the gradient through the other device")


# -- random words -----------------------------------------------------------------------------------------------------

MASK = 2**64 - 1


def philox(key: tuple[int, int], offset: int, n: int) -> list[int]:
    """Words `offset` to `offset + n` of the Philox4x64-10 stream, in Python's integers (Salmon et al., SC 2011)."""
    first, last = offset // 4, (offset + n + 3) // 4
    flat = [word for block in range(first, last) for word in _block(key, block + 1)]
    return flat[offset - 4 * first :][:n]


def _block(key: tuple[int, int], counter: int) -> tuple[int, int, int, int]:
    a, b, c, d = (counter >> 64 * i & MASK for i in range(4))
    k, m = key
    for _ in range(10):
        x, y = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
        a, b, c, d = y >> 64 ^ b ^ k, y & MASK, x >> 64 ^ d ^ m, x & MASK
        k, m = (k + 0x9E3779B97F4A7C15) & MASK, (m + 0xBB67AE8584CAA73B) & MASK
    return a, b, c, d


def random_words(s: Subject) -> None:
    """random_bits is the Philox4x64-10 stream, bit for bit, from any offset."""
    s.need("uint64")
    for key, offset, n in (
        ((0, 0), 0, 8),
        ((2**64 - 1, 12345), 3, 6),
        ((7, 2**63), 4001, 1),
        ((5, 6), 2**33 + 2, 5),
        ((1, 2), 5, 0),
    ):
        got = s.backend.random_bits(key, offset, n, s.device.index)
        s.gives(got, philox(key, offset, n), f"words {offset} to {offset + n} of key {key}", "uint64")


# -- errors -----------------------------------------------------------------------------------------------------------


def misfits(s: Subject) -> None:
    """Shapes that do not fit give ShapeError, with both shapes in it, on every backend."""
    x, y = creation.zeros(2, 3, device=s.device), creation.zeros(4, 5, device=s.device)
    for name, f in {"add": ops.add, "matmul": ops.matmul}.items():
        error = raises(ShapeError, partial(f, x, y), f"{name} of (2, 3) and (4, 5)")
        expect(
            "(2, 3)" in str(error) and "(4, 5)" in str(error), f"{name}: the error does not give both shapes: {error}"
        )
    raises(ShapeError, lambda: ops.reshape(x, (4, 2)), "reshape of (2, 3) to (4, 2)")


def out_of_range(s: Subject) -> None:
    """An axis or an index out of range gives AxisError, which is an IndexError."""
    x = creation.zeros(2, 3, device=s.device)
    raises(AxisError, lambda: ops.sum(x, axis=2), "sum along axis 2 of 2 dimensions")
    raises(AxisError, lambda: x[2], "x[2] of (2, 3)")
    raises(AxisError, lambda: x[:, -4], "x[:, -4] of (2, 3)")
    where = creation.tensor([0, 3], device=s.device)
    raises(AxisError, lambda: ops.take(x, where, axis=1), "take of index 3 along 3 elements")


def wrong_kind(s: Subject) -> None:
    """Integers cannot require gradients; what is no tensor is refused; a scalar must start the way back."""
    raises(DTypeError, lambda: creation.tensor([1, 2], device=s.device, requires_grad=True), "int64 with requires_grad")
    x = creation.tensor([1.0, 2.0], device=s.device, requires_grad=True)
    raises(DTypeError, lambda: ops.add(x, "text"), "a tensor + a text")
    raises(GraphError, lambda: ops.add(x, 1).backward(), "backward from two elements")


def elsewhere(s: Subject) -> None:
    """Tensors on different devices give DeviceError naming both."""
    there = Device(Lean(s.backend), s.device.index + 1, lambda backend, op: None)
    x, y = creation.zeros(2, device=s.device), creation.zeros(2, device=there)
    error = raises(DeviceError, lambda: ops.add(x, y), "add across devices")
    expect(str(s.device) in str(error) and str(there) in str(error), f"the error does not name both devices: {error}")


GROUPS: dict[str, tuple[Check, ...]] = {
    "arrays": (round_trip, odd_numbers, a_copy, host, numpy_arrays),
    "dtypes": (names, promotion, weak, missing, accumulation),
    "devices": (declared, contexts, every_device, transfer),
    "random": (random_words,),
    "errors": (misfits, out_of_range, wrong_kind, elsewhere),
}
