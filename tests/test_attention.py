"""Attention beside its formula in NumPy: masks, broadcasting, pieces of every size, and what nobody should see."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import plugrad as pg
from plugrad_nn import functional as F
from plugrad_numpy.kernels import attention as kernel


def reference(q: Any, k: Any, v: Any, m: Any, scale: float, reach: int | None) -> Any:
    """Row by row, with what takes no part taken out."""
    n, t = q.shape[-2], k.shape[-2]
    batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2], m.shape[:-2])
    q, k, v = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (q, k, v))
    m = np.broadcast_to(m, (*batch, n, t))
    z = np.zeros((*batch, n, v.shape[-1]))
    for place in np.ndindex(*batch, n):
        keep = m[place] if m.dtype == bool else m[place] > -np.inf
        keep = keep & (np.arange(t) <= (t if reach is None else place[-1] + reach))
        if keep.any():
            s = scale * k[place[:-1]][keep] @ q[place] + (0 if m.dtype == bool else m[place][keep])
            e = np.exp(s - s.max())
            z[place] = e / e.sum() @ v[place[:-1]][keep]
    return z


SIZES = st.sampled_from([(), (1,), (3,), (2, 1), (2, 3), (1, 3)])


@st.composite
def problems(draw: Any) -> tuple[Any, ...]:
    n, t, d, e = (draw(st.integers(1, 5)) for _ in range(4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    q, k, v = (
        random.standard_normal((*draw(SIZES), *s)) * draw(st.sampled_from([1, 9])) for s in ((n, d), (t, d), (t, e))
    )
    shape = (*draw(SIZES), draw(st.sampled_from([1, n])), draw(st.sampled_from([1, t])))
    kind = draw(st.sampled_from(["none", "bool", "float", "holes"]))
    m: Any = np.True_ if kind == "none" else random.random(shape) < 0.6
    if kind in ("float", "holes"):
        m = np.where(m if kind == "holes" else True, random.standard_normal(shape), -np.inf)
    return q, k, v, np.asarray(m), draw(st.none() | st.integers(-n, t))


@settings(deadline=None, max_examples=100)
@given(problems(), st.integers(0, 5), st.integers(1, 3))
def test_pieces_of_any_size_add_up(problem: Any, limit: int, rows: int) -> None:
    q, k, v, m, reach = problem
    before, kernel.LIMIT, kernel.ROWS = (kernel.LIMIT, kernel.ROWS), 2**limit, rows
    try:
        check(q, k, v, m, reach)
    finally:
        kernel.LIMIT, kernel.ROWS = before


def check(q: Any, k: Any, v: Any, m: Any, reach: int | None) -> None:
    """Values as the reference has them; gradients as the formula has them."""

    def run(how: str) -> tuple[Any, list[Any]]:
        xs = [pg.tensor(x, requires_grad=True) for x in (q, k, v)]
        mask = None if not m.ndim else pg.tensor(m, requires_grad=m.dtype != bool)
        causal = {} if reach is None else {"is_causal": True, "offset": reach}
        with pg.kernels(how, "attention"):
            z = F.scaled_dot_product_attention(*xs, mask, scale=0.7, **causal)
            learn = xs if mask is None or m.dtype == bool else [*xs, mask]
            weights = pg.tensor(np.linspace(-1, 2, z.size)).reshape(z.shape)
            return z.detach().numpy(), [g.numpy() for g in pg.grad(z, learn, weights)]

    (z, slopes), (same, formulas) = run("force"), run("off")
    want = reference(q, k, v, m, 0.7, reach)
    np.testing.assert_allclose(z, want, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(same, want, rtol=1e-10, atol=1e-12)
    for a, b, x in zip(slopes, formulas, [q, k, v, m], strict=False):
        assert a.shape == x.shape
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
