"""The conformance suite on `array_api_strict`: what passes here uses the array API standard and nothing else."""

from __future__ import annotations

from pathlib import Path

import plugrad as pg
from plugrad.testing import backend_suite

TestStrict = backend_suite("strict")


def test_the_backend_is_about_twenty_lines():
    lines = (Path(__file__).parent / "strict" / "site" / "plugrad_strict.py").read_text().splitlines()
    code = [line for line in lines if line.strip() and not line.startswith(("from ", "import ", '"""'))]
    assert len(code) <= 25


def test_it_is_the_strict_namespace_that_computes():
    x = pg.tensor([1.0, 2.0], device="strict")
    assert type(pg.exp(x).data).__module__.startswith("array_api_strict")
