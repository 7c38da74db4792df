"""What is checked of every case row, on any backend. Each function is one aspect: `aspect(subject, case)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..call import wrap
from ..grad import grad
from ..ops import creation
from .compare import EPS, TINY, Shot, agree, close, everywhere, flatten, rounded, same, shape_of, shots
from .draw import FLOAT, numbers
from .gradcheck import gradcheck
from .subject import Excused, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..backend import Device
    from .case import Case, Spec

    Aspect = Callable[[Subject, Case], None]


def plain(c: Case, to: str = "float64") -> list[Any]:
    """The inputs of a row as nested lists, floating ones as dtype `to` holds them."""
    return [
        rounded(numbers(spec, i), to) if spec.kind == "float" else numbers(spec, i) for i, spec in enumerate(c.inputs)
    ]


def filled(spec: Spec, host: Any, device: Device, dtype: str) -> Any:
    """A tensor of nested lists; an empty one has the row's shape."""
    made = creation.tensor(host, dtype=FLOAT[spec.kind] or dtype, device=device)
    return made if made.size or spec.values is not None else creation.zeros(spec.shape, dtype=made.dtype, device=device)


def tensors(c: Case, device: Device, dtype: str, to: str = "float64") -> list[Any]:
    """The inputs of a row on a device."""
    return [filled(spec, host, device, dtype) for spec, host in zip(c.inputs, plain(c, to), strict=True)]


def floating(c: Case) -> bool:
    return any(spec.kind == "float" for spec in c.inputs)


def gradients(c: Case, xs: list[Any], dtype: str = "") -> list[Any]:
    """∂/∂x of Σ w · z for the floating inputs, with fixed weights w that are no two the same."""
    xs = [x.detach().requires_grad_() if x.dtype.kind == "float" else x for x in xs]
    out = c.f(*xs)
    zs = [z for z in (out if isinstance(out, (tuple, list)) else [out]) if z.requires_grad]
    ws = [weights(z) for z in zs]
    return list(grad(zs, [x for x in xs if x.requires_grad], ws, allow_unused=True)) if zs else []


def weights(z: Any) -> Any:
    """1, 3/4, 5/4, ... in the shape of z: exact in every floating dtype."""
    steps = [1 + 0.25 * ((i + 1) // 2 % 8) * (-1) ** i for i in range(z.size)]
    made = creation.tensor(steps, dtype=z.dtype, device=z.device)
    return made.reshape(z.shape) if z.shape != made.shape else made


def values(found: list[Any]) -> list[Shot]:
    return [s for g in found if g is not None for s in shots(g)]


def _needs(s: Subject, c: Case, *dtypes: str) -> None:
    s.can(*c.needs)
    s.need(*dtypes, *{FLOAT[spec.kind] for spec in c.inputs} - {None})  # type: ignore[arg-type]


# -- the aspects ----------------------------------------------------------------------------------------------------


def value(s: Subject, c: Case) -> None:
    """In the widest float: equal to the closed form, or to a second way of computing it."""
    _needs(s, c, s.widest)
    got = shots(c.f(*tensors(c, s.device, s.widest, s.widest)))
    rel = (1e-11 if s.widest == "float64" else 2e-5) * c.tol
    if c.closed:
        agree(got, [everywhere(c.closed, plain(c, s.widest))], "closed form", rel, rel * 1e-3)
    else:
        agree(got, _otherwise(s, c), "second way", 100 * rel)


def _otherwise(s: Subject, c: Case) -> list[Shot]:
    device = s.second()
    if device is None:
        raise Excused("no closed form, and plugrad-numpy is not installed to compare with")
    if not set(c.needs) <= device.backend.capabilities:
        raise Excused(f"no closed form, and no second way to do {', '.join(c.needs)}")
    return shots(c.f(*tensors(c, device, "float64", s.widest)))


def single(s: Subject, c: Case) -> None:
    """In float32: within its rounding of float64, values and gradients, and nothing silently wider."""
    _needs(s, c, "float32", "float64")
    narrow, wide = (tensors(c, s.device, t, "float32") for t in ("float32", "float64"))
    got, want = shots(c.f(*narrow)), shots(c.f(*wide))
    _dtypes(got, want, "float32")
    agree(got, want, "float32 beside float64", 2e-5 * c.tol)
    if c.order:
        found, exact = values(gradients(c, narrow)), values(gradients(c, wide))
        _dtypes(found, exact, "float32")
        agree(found, exact, "gradient in float32 beside float64", 1e-4 * c.tol)


def _dtypes(got: list[Shot], wide: list[Shot], dtype: str) -> None:
    same([g.dtype for g in got], [w.dtype.replace("float64", dtype) for w in wide], "dtype")


def half(dtype: str) -> Aspect:
    def check(s: Subject, c: Case) -> None:
        """In half precision: as float32, rounded once."""
        _needs(s, c, dtype, "float32")
        got = shots(c.f(*tensors(c, s.device, dtype, dtype)))
        want = shots(c.f(*tensors(c, s.device, "float32", dtype)))
        same([g.dtype for g in got], [w.dtype.replace("float32", dtype) for w in want], "dtype")
        want = [w._replace(flat=rounded(w.flat, dtype)) if w.dtype == "float32" else w for w in want]
        tiny = 2 * TINY[dtype] if c.op.elementwise else None
        agree(got, want, f"{dtype} beside float32", 2 * EPS[dtype] * c.tol, tiny)

    return check


def gradient(s: Subject, c: Case) -> None:
    """Equal to the slope along a random line, to the row's order (order 1 in float32 where that is the widest)."""
    _needs(s, c, s.widest)
    xs = tensors(c, s.device, s.widest, s.widest)
    if s.widest == "float64":
        gradcheck(c.f, xs, order=c.order, tol=1e-5 * c.tol)
    else:
        gradcheck(c.f, xs, order=1, eps=2e-2, tol=2e-2 * c.tol)


def layout(s: Subject, c: Case) -> None:
    """The same for inputs that are not contiguous: transposed, stepped, reversed."""
    _needs(s, c, s.widest)
    xs = tensors(c, s.device, s.widest, s.widest)
    want, slopes = shots(c.f(*xs)), values(gradients(c, xs)) if c.order else []
    for name, how in LAYOUTS.items():
        odd = [wrap(how(s, x), s.device) for x in xs]
        rel = 1e-10 if s.widest == "float64" else 2e-5
        agree(shots(c.f(*odd)), want, f"{name} inputs", rel)
        agree(values(gradients(c, odd)) if c.order else [], slopes, f"gradient of {name} inputs", rel)


def _transposed(s: Subject, x: Any) -> Any:
    axes = tuple(reversed(range(x.ndim)))
    return s.xp.permute_dims(_fresh(s, s.xp.permute_dims(x.data, axes), x.dtype), axes)


def _stepped(s: Subject, x: Any) -> Any:
    if not x.ndim:
        return x.data
    pairs = s.xp.broadcast_to(s.xp.reshape(x.data, (*x.shape, 1)), (*x.shape, 2))
    return _fresh(s, s.xp.reshape(pairs, (*x.shape[:-1], 2 * x.shape[-1])), x.dtype)[..., ::2]


def _reversed(s: Subject, x: Any) -> Any:
    return _fresh(s, x.data[..., ::-1], x.dtype)[..., ::-1] if x.ndim else x.data


def _fresh(s: Subject, array: Any, dtype: Any) -> Any:
    """The same numbers in memory of their own, row after row."""
    made = s.backend.asarray(s.backend.to_host(array), s.xp.dtype(dtype), s.device.index)
    return made if tuple(made.shape) == tuple(array.shape) else s.xp.zeros(tuple(array.shape), dtype=array.dtype)


LAYOUTS = {"transposed": _transposed, "stepped": _stepped, "reversed": _reversed}


def corners(s: Subject, c: Case) -> None:
    """Elementwise ops take one number, and none: shapes (), (0,) and (2, 0), with gradients of these shapes."""
    _needs(s, c, s.widest)
    want = [shot.flat[:1] for shot in shots(c.f(*[_cut(x, (1,)) for x in tensors(c, s.device, s.widest)]))]
    for shape in ((), (0,), (2, 0)):
        xs = [_cut(x, shape) for x in tensors(c, s.device, s.widest)]
        got = shots(c.f(*xs))
        same([g.shape for g in got], [shape] * len(want), f"inputs of shape {shape}: shape")
        for g, first in zip(got, want, strict=True):
            close(g.flat, [] if 0 in shape else first, f"inputs of shape {shape}", 1e-6)
        if c.order:
            for g in gradients(c, xs):
                same(shape if g is None else g.shape, shape, f"gradient of inputs of shape {shape}: shape")


def _cut(x: Any, shape: tuple[int, ...]) -> Any:
    """The first element of `x` in a shape of one element or none."""
    first = flatten(x.tolist())[0]
    if 0 in shape:
        return creation.zeros(shape, dtype=x.dtype, device=x.device)
    return creation.tensor([first] if shape else first, dtype=x.dtype, device=x.device)


def untouched(s: Subject, c: Case) -> None:
    """Forward and backward leave the inputs as they were."""
    _needs(s, c, s.widest)
    xs = tensors(c, s.device, s.widest)
    before = [repr(x.tolist()) for x in xs]
    c.f(*xs)
    if c.order:
        gradients(c, xs)
    for i, (x, was) in enumerate(zip(xs, before, strict=True)):
        same(repr(x.tolist()), was, f"input {i} afterwards")


def aspects(c: Case) -> Iterator[tuple[str, Aspect]]:
    """What is to be checked of a row."""
    yield "value", value
    yield "untouched", untouched
    yield "layout", layout
    if floating(c):
        yield "float32", single
        yield "float16", half("float16")
        yield "bfloat16", half("bfloat16")
    if c.order:
        yield "gradient", gradient
    if c.op.elementwise and all(spec.values is None or shape_of(spec.values) for spec in c.inputs):
        yield "corners", corners
