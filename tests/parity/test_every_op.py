"""Every differentiable op is held to something that is not ours: a closed form in its case rows, or PyTorch here."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from plugrad.testing.cases import every

HERE = Path(__file__).parent


def parity_rows():
    """Names of the case rows that the files of this folder compare with PyTorch."""
    names = set()
    for path in sorted(HERE.glob("test_*.py")):
        if path != Path(__file__):
            spec = spec_from_file_location(f"parity_{path.stem}", path)
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            names |= set(getattr(module, "ROWS", ()))
    return {name if name.startswith("plugrad") else f"plugrad.{name}" for name in names}


COMPARED = parity_rows()
CASES = every()
DIFFERENTIABLE = sorted({c.op.key for c in CASES if c.order})


@pytest.mark.parametrize("key", DIFFERENTIABLE)
def test_it_is_compared(key):
    rows = [c for c in CASES if c.op.key == key]
    assert any(c.closed or c.name in COMPARED for c in rows), (
        f"{key} has neither a closed form nor a row against PyTorch: give its case `closed=`, or add it to a ROWS here"
    )


def test_rows_against_pytorch_are_rows():
    assert not COMPARED - {c.name for c in CASES}
