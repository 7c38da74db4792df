"""What the plugin says on machines with and without each part, the driver's library being played by an object."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from plugrad_cuda import _probe
from plugrad_cuda._probe import Found, look, missing, report


def error_string(code: int) -> bytes:
    return {9: b"Driver Not Loaded"}[code]


class Nvml:
    """The five functions of the driver's library that the probe calls."""

    def __init__(self, cuda: int = 13000, devices: int = 1, init: int = 0, ask: int = 0) -> None:
        self.cuda, self.devices, self.init, self.ask, self.open = cuda, devices, init, ask, 0
        self.nvmlErrorString = error_string

    def nvmlInit_v2(self) -> int:
        self.open += not self.init
        return self.init

    def nvmlShutdown(self) -> int:
        self.open -= 1
        return 0

    def write(self, answer: Any, value: int) -> int:
        ctypes.cast(answer, ctypes.POINTER(ctypes.c_int)).contents.value = value
        return self.ask

    def nvmlSystemGetCudaDriverVersion_v2(self, answer: Any) -> int:
        return self.write(answer, self.cuda)

    def nvmlDeviceGetCount_v2(self, answer: Any) -> int:
        return self.write(answer, self.devices)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No CuPy and no setting of the machine that the tests happen to run on."""
    monkeypatch.setattr(_probe, "is_installed", lambda name: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_no_driver() -> None:
    def load(name: str) -> Any:
        raise OSError(name)

    found = look(load)
    assert f"no NVIDIA driver ({_probe.NVML} is not there)" == found.trouble
    assert [found.trouble, "CuPy is not installed"] == missing(found)


def test_a_driver_that_does_not_answer_is_quoted_and_not_shut_down() -> None:
    nvml = Nvml(init=9)
    assert look(lambda name: nvml).trouble == "the NVIDIA driver does not answer: Driver Not Loaded"
    assert nvml.open == 0


@pytest.mark.parametrize(("raw", "cuda"), [(12080, (12, 8)), (13000, (13, 0)), (13010, (13, 1))])
def test_version_and_devices_come_from_the_driver(raw: int, cuda: tuple[int, int]) -> None:
    nvml = Nvml(raw, devices=2)
    assert Found("", cuda, 2) == look(lambda name: nvml)
    assert nvml.open == 0


def test_a_question_that_fails_counts_as_nothing() -> None:
    assert Found() == look(lambda name: Nvml(ask=3))


@pytest.mark.parametrize("value", ["", "-1"])
def test_hidden_devices_are_told_from_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    found = look(lambda name: Nvml(devices=2))
    assert missing(found)[0] == "the driver runs CUDA 13.0, but CUDA_VISIBLE_DEVICES hides all 2 GPUs"


@pytest.mark.parametrize(
    ("found", "lacks"),
    [
        (Found(cuda=(12, 8)), ["the driver runs CUDA 12.8, but there is no GPU", "CuPy is not installed"]),
        (Found(cuda=(12, 8), devices=1), ["CuPy is not installed"]),
        (
            Found(cuda=(12, 8), devices=1, wheels=(13,)),
            ["cupy-cuda13x is installed, but the driver runs CUDA 12 at most"],
        ),
        (Found(cuda=(12, 8), devices=1, wheels=(12,)), []),
        (Found(cuda=(13, 0), devices=1, wheels=(12,)), []),
        (Found(cuda=(13, 0), devices=1, wheels=(13,)), []),
    ],
)
def test_each_missing_part_is_named(found: Found, lacks: list[str]) -> None:
    assert lacks == missing(found)
    assert all(lack in report(found)[0] for lack in lacks)


@pytest.mark.parametrize(("cuda", "extra"), [((12, 8), "cuda12x"), ((13, 0), "cuda13x")])
def test_the_next_step_names_the_extra_for_the_driver(cuda: tuple[int, int], extra: str) -> None:
    assert f"pip install 'plugrad[{extra}]'" in report(Found(cuda=cuda, devices=1))[1]


def test_a_complete_machine_is_told_the_truth_too() -> None:
    reason, step = report(Found(cuda=(13, 0), devices=1, wheels=(13,)))
    assert "has no kernels yet and only reports; driver, GPU and CuPy are there" in reason
    assert "pip install" not in step
