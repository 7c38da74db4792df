"""Every registered kernel against `op.forward`, on every case row of its op: values, gradients, forced mode."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .. import plugins
from ..apply import state
from ..context import switch
from ..errors import KernelError
from ..kernel import kernels
from ..op import Op
from .compare import EPS, Shot, agree, expect, same, shots
from .rows import gradients, tensors, values
from .subject import Excused, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .case import Case

ROUNDING = {"float64": 1e-10, "float32": 2e-5, "float16": 2 * EPS["float16"], "bfloat16": 2 * EPS["bfloat16"]}


def registered(backend: str) -> list[str]:
    """Keys of the ops that have a kernel on a backend."""
    return sorted(op for name, op in plugins.kernel_table() if name == backend)


def parity(key: str, rows: Iterable[Case]) -> Callable[[Subject], None]:
    own = [row for row in rows if row.op.key == key]

    def check(s: Subject) -> None:
        """Kernel on and kernel off give the same values and gradients; where it is forced it runs or says why not."""
        package = key.partition(".")[0]
        if key not in Op.catalogue and find_spec(package) is None:
            raise Excused(f"{package}, whose op the kernel is for, is not installed")
        expect(key in Op.catalogue, f"a kernel is registered for {key}, and no op of that name is known")
        expect(bool(own), f"the kernel for {key} has no case row: it is held to nothing. Add one for this op")
        able = [row for row in own if set(row.needs) <= s.backend.capabilities]
        if not able:
            raise Excused(f"every row of {key} needs a capability that the backend lacks")
        runs = [_row(s, row, dtype) for row in able for dtype in s.floats]
        expect(any(runs), f"the kernel for {key} declines every case row: {_reason(s, able[0])}")

    return check


def _row(s: Subject, c: Case, dtype: str) -> bool:
    """One row in one dtype; True where the kernel ran."""
    what = f"{c.name} in {dtype}"
    xs = tensors(c, s.device, dtype, dtype)
    rel = ROUNDING[dtype] * c.tol
    _both(lambda: shots(c.f(*xs)), f"{what}: kernel beside formula", rel)
    if c.order:
        _both(lambda: values(gradients(c, xs)), f"{what}: gradient of the kernel beside the formula's", 4 * rel)
    return _forced(c, xs)


def _both(run: Callable[[], list[Shot]], what: str, rel: float) -> None:
    with kernels("prefer"):
        got = run()
    with kernels("off"):
        want = run()
    agree(got, want, what, rel)
    same([g.dtype for g in got], [w.dtype for w in want], f"{what}: dtype")


def _forced(c: Case, xs: list[Any]) -> bool:
    """Does the kernel run where it is forced? If not, it must say why."""
    try:
        with kernels("force", c.op.name):
            c.f(*xs)
    except KernelError as error:
        expect("declined" in str(error) and len(str(error)) > 40, f"{c.name}: forced, without a reason: {error}")
        return False
    return True


def _reason(s: Subject, c: Case) -> str:
    try:
        with switch(kernels="force", forced=frozenset([c.op.name])):
            c.f(*tensors(c, s.device, s.widest, s.widest))
    except KernelError as error:
        return str(error)
    return f"it ran after all under {state().kernels!r}"
