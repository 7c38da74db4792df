"""What this machine has of what CUDA needs: a driver, a device, a CuPy wheel. Imports no CuPy, starts no CUDA."""

from __future__ import annotations

import ctypes
import os
import sys
from importlib import metadata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WHEELS = {12: "cupy-cuda12x", 13: "cupy-cuda13x"}  # major version of CUDA -> distribution
NVML = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"


class Found(NamedTuple):
    """trouble: why the driver does not answer; cuda: the newest CUDA it can run; wheels: installed, by CUDA major."""

    trouble: str = ""
    cuda: tuple[int, int] = (0, 0)
    devices: int = 0
    hidden: bool = False
    wheels: tuple[int, ...] = ()


def look(load: Callable[[str], Any] = ctypes.CDLL) -> Found:
    """Ask the driver through its management library, which makes no context and is safe before a fork."""
    wheels = tuple(major for major, name in WHEELS.items() if is_installed(name))
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1")
    try:
        nvml = load(NVML)
    except OSError:
        return Found(f"no NVIDIA driver ({NVML} is not there)", hidden=hidden, wheels=wheels)
    if code := nvml.nvmlInit_v2():
        return Found(f"the NVIDIA driver does not answer: {error(nvml, code)}", hidden=hidden, wheels=wheels)
    try:
        version, devices = number(nvml.nvmlSystemGetCudaDriverVersion_v2), number(nvml.nvmlDeviceGetCount_v2)
    finally:
        nvml.nvmlShutdown()
    return Found("", (version // 1000, version % 1000 // 10), devices, hidden, wheels)


def number(ask: Callable[[Any], int]) -> int:
    """The integer that an NVML function writes; 0 where it fails."""
    answer = ctypes.c_int(0)
    return 0 if ask(ctypes.byref(answer)) else answer.value


def error(nvml: Any, code: int) -> str:
    nvml.nvmlErrorString.restype = ctypes.c_char_p
    return str(nvml.nvmlErrorString(code).decode())


def is_installed(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def missing(found: Found) -> list[str]:
    """What CUDA would lack here, in words; nothing when driver, device and wheel are there and fit."""
    if found.trouble:
        return [found.trouble, *wheel(found)]
    driver = f"the driver runs CUDA {found.cuda[0]}.{found.cuda[1]}"
    if not found.devices:
        return [f"{driver}, but there is no GPU", *wheel(found)]
    if found.hidden:
        return [f"{driver}, but CUDA_VISIBLE_DEVICES hides all {found.devices} GPUs", *wheel(found)]
    return wheel(found)


def wheel(found: Found) -> list[str]:
    newest = found.cuda[0]
    if not found.wheels:
        return ["CuPy is not installed"]
    if newest and min(found.wheels) > newest:
        return [f"{WHEELS[min(found.wheels)]} is installed, but the driver runs CUDA {newest} at most"]
    return []


def extra(found: Found) -> str:
    """The extra that suits the driver; the older one where there is none to ask."""
    return "cuda13x" if found.cuda[0] >= 13 else "cuda12x"


def report(found: Found) -> tuple[str, str]:
    """Reason and next step, both for a person."""
    lacks = missing(found)
    here = "; on this machine: " + "; ".join(lacks) if lacks else "; driver, GPU and CuPy are there"
    step = "Use pg.device('cpu'), and a later release of plugrad-cuda for the GPU"
    if "CuPy is not installed" in lacks and found.devices:
        step += f" with its extra: pip install 'plugrad[{extra(found)}]'"
    return "this release of plugrad-cuda has no kernels yet and only reports" + here, step
