"""A plugin written against interface 1.0 and never touched since: it loads and computes, whatever core has become."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TEXTS = {path.stem: path.read_bytes() for path in sorted((Path(__file__).parent / "frozen").glob("*.txt"))}
SEALS = {
    "plugrad_cubes": "9bd210a1facb228c3a6243567a7d3ca6d0a417d1a0124386ba3a7dc61b2ca030",
    "plugrad_frozen": "e6cd4eabf10f3dcecea181df229339d7f900454713e35616075c96ac8a2252dc",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run code in an interpreter in which the plugin is installed."""
    site = tmp_path_factory.mktemp("frozen")
    for name, text in TEXTS.items():
        (site / f"{name}.py").write_bytes(text)
    info = site / "plugrad_frozen-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugrad-frozen\nVersion: 1.0\n")
    groups = "[plugrad.backends]\nfrozen = plugrad_frozen\n[plugrad.extensions]\ncubes = plugrad_cubes\n"
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
    assert {name: hashlib.sha256(text).hexdigest() for name, text in TEXTS.items()} == SEALS


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
        from plugrad import cubes
        import plugrad_frozen
        x = pg.tensor([1.0, -2.0], device="frozen", requires_grad=True)
        cubes.cube(x).sum().backward()
        print(x.grad.tolist(), plugrad_frozen.calls)
        (first,) = pg.grad(cubes.cube(x).sum(), x, create_graph=True)
        (second,) = pg.grad(first.sum(), x)
        print(second.tolist(), plugrad_frozen.calls)
        with pg.kernels("force", "cube"):
            try:
                cubes.cube(x.detach().astype("float64"))
            except pg.errors.KernelError as error:
                print("it takes float32, not float64" in str(error))
    """)
    assert out == ["[3.0, 12.0] ['forward', 'backward']", "[6.0, -12.0] ['forward', 'backward', 'forward']", "True"]


def test_the_suite_finds_nothing_wrong_with_it(run):
    out = run("""
        from plugrad.testing import check_backend
        groups = "functions operators arrays devices random errors kernels".split()
        for only in [*(f"{group}/*" for group in groups), "*/plugrad_cubes.Cube"]:
            report = check_backend("frozen", only=only)
            print(report if not report.ok else report.score)
    """)
    assert all(line.startswith("(") for line in out), "\n".join(out)
    assert out[-2] == "(2, 2)"
