"""The plugin as core sees it: installed, and unavailable for a reason."""

from __future__ import annotations

import subprocess
import sys

import pytest

import plugrad as pg
from plugrad.errors import UnavailableError


@pytest.mark.parametrize("name", ["cuda", "cuda:0"])
def test_asking_for_the_device_is_refused_with_the_reason_and_the_next_step(name: str) -> None:
    with pytest.raises(UnavailableError, match=r"cuda.*has no kernels yet.*Use pg\.device\('cpu'\)"):
        pg.device(name)


def test_the_backend_is_refused_even_where_availability_was_not_asked() -> None:
    from plugrad_cuda._plugin import plugrad_backend

    with pytest.raises(UnavailableError, match="no kernels yet"):
        plugrad_backend()


def run(*args: str) -> str:
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_listing_says_why() -> None:
    (line,) = [line for line in run("-m", "plugrad").splitlines() if line.split()[:1] == ["cuda"]]
    assert "unavailable" in line
    assert "no kernels yet" in line


def test_asking_imports_neither_cupy_nor_numpy() -> None:
    code = "import sys, plugrad_cuda._plugin as p; p.plugrad_available(); print({'cupy', 'numpy'} & set(sys.modules))"
    assert run("-c", code).strip() == "set()"


def test_a_tensor_is_not_swapped_to_another_device() -> None:
    with pytest.raises(UnavailableError, match="no kernels yet"):
        pg.zeros(2, device="cuda")
