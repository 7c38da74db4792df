"""Gradient checks, case rows, and the conformance suite that every backend can borrow.

A whole test module of a backend called "mine":

    from plugrad.testing import backend_suite
    TestMine = backend_suite("mine")

The same without pytest: `python -m plugrad check mine`.
"""

from __future__ import annotations

from .case import Case, Spec, between, bools, case, exactly, ints, positive, real
from .gradcheck import gradcheck, gradgradcheck
from .suite import Report, backend_suite, check_backend

__all__ = [
    "Case", "Report", "Spec", "backend_suite", "between", "bools", "case", "check_backend", "exactly", "gradcheck",
    "gradgradcheck", "ints", "positive", "real",
]  # fmt: skip
