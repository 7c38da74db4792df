"""Plugin modules are light: asking what is installed imports no array library."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

OWN = {"plugrad", "plugrad-numpy", "plugrad-cuda", "plugrad-nn", "plugrad-optim", "plugrad-data", "plugrad-io"}
GROUPS = ("plugrad.backends", "plugrad.extensions")
OURS = [ep for group in GROUPS for ep in entry_points(group=group) if ep.dist.name in OWN]


@pytest.mark.parametrize("module", sorted({ep.value for ep in OURS}))
def test_a_plugin_module_brings_in_no_array_library(module):
    code = f"import sys, {module}; print(sorted({{'numpy', 'cupy', 'torch', 'scipy', 'sklearn'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_packages_are_seen():
    assert {ep.dist.name for ep in OURS} == OWN
