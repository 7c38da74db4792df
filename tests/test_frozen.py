"""A plugin written against interface 1.0 and never touched since: it loads and computes, whatever core has become."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TEXT = (Path(__file__).parent / "frozen" / "plugrad_frozen.txt").read_bytes()
SEAL = "e8995838deebc787f0e78d1ff094cf3e3e21d135ccd63c91700951dd8fa388f4"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run code in an interpreter in which the plugin is installed."""
    site = tmp_path_factory.mktemp("frozen")
    (site / "plugrad_frozen.py").write_bytes(TEXT)
    info = site / "plugrad_frozen-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugrad-frozen\nVersion: 1.0\n")
    groups = "[plugrad.backends]\nfrozen = plugrad_frozen\n[plugrad.extensions]\nfrozen = plugrad_frozen\n"
    (info / "entry_points.txt").write_text(groups)

    def start(code):
        start = f"import sys; sys.path.append({str(site)!r})\nimport plugrad as pg\n"
        command = [sys.executable, "-W", "error", "-c", start + textwrap.dedent(code)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=site, timeout=300)
        assert done.returncode == 0, done.stderr + done.stdout[-3000:]
        return done.stdout.split("\n")[:-1]

    return start


def test_nobody_has_touched_it():
    """It stands for plugins that nobody can edit: a change of core that it does not survive needs interface 2.0."""
    assert hashlib.sha256(TEXT).hexdigest() == SEAL


def test_its_devices_compute_and_differentiate(run):
    out = run("""
        print(pg.devices()[-1] is not None, pg.device("frozen:1"))
        x = pg.tensor([[1.0, 2.0], [3.0, 4.0]], device="frozen:1", requires_grad=True)
        y = (x @ x.mT + pg.expm1(x * 0)).sum()
        y.backward()
        print(y.item(), x.grad.tolist(), x.grad.device)
    """)
    assert out == ["True frozen:1", "52.0 [[8.0, 12.0], [8.0, 12.0]] frozen:1"]


def test_its_op_and_its_kernel(run):
    out = run("""
        from plugrad import frozen
        x = pg.tensor([1.0, -2.0], device="frozen", requires_grad=True)
        frozen.cube(x).sum().backward()
        print(x.grad.tolist(), frozen.calls)
        (first,) = pg.grad(frozen.cube(x).sum(), x, create_graph=True)
        (second,) = pg.grad(first.sum(), x)
        print(second.tolist(), frozen.calls)
        with pg.kernels("force", "cube"):
            try:
                frozen.cube(x.detach().astype("float64"))
            except pg.errors.KernelError as error:
                print("it takes float32, not float64" in str(error))
    """)
    assert out == ["[3.0, 12.0] ['forward', 'backward']", "[6.0, -12.0] ['forward', 'backward', 'forward']", "True"]


def test_it_passes_the_suite(run):
    out = run("""
        from plugrad.testing import check_backend
        report = check_backend("frozen", only="[!v]*")  # values are compared with NumPy itself here
        print(report)
        print(report.ok)
    """)
    assert out[-1] == "True", "\n".join(out)
    assert any("kernels" in line and "2/2" in line for line in out)
