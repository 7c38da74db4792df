"""What it means when a backend's linear algebra gives up."""

from __future__ import annotations

from ..errors import LinAlgError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..op import Op

ENDLESS = "the iteration did not converge: is there a NaN or an infinity? x.isfinite().all() tells"
FAILURES = {
    "solve": "a matrix is singular; use pinv(x) @ y",
    "inv": "a matrix is singular; use pinv(x)",
    "cholesky": "a matrix is not positive definite; add a multiple of the identity, or use eigh(x)",
    "eigh": ENDLESS, "svd": ENDLESS, "pinv": ENDLESS, "cofactor": ENDLESS,
}  # fmt: skip


def factored(op: Op, f: Callable[..., Any], *arrays: Any, **settings: Any) -> Any:
    """What `f` of the backend gives; where it fails, why it did."""
    try:
        return f(*arrays, **settings)
    except Exception as error:
        if not type(error).__name__.endswith("LinAlgError") or op.misfit(*[a.shape for a in arrays]):
            raise
        raise LinAlgError(f"{op.name}: {FAILURES[op.name]}") from error
