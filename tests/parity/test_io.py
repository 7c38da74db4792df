"""Files that PyTorch writes are read without it, value for value; files written here are read by PyTorch."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import safetensors.torch
import torch

import plugrad as pg
import plugrad_io as io
import plugrad_nn as nn
from plugrad import dtypes

if TYPE_CHECKING:
    from pathlib import Path

OLDER = pytest.mark.parametrize("older", [False, True], ids=["zip", "older"])


def write(path: Path, data: Any, older: bool, **how: Any) -> None:
    torch.save(data, path, _use_new_zipfile_serialization=not older, **how)


def agree(ours: Any, theirs: Any) -> None:
    """The same data, tensors in dtype, shape and every bit."""
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, pg.Tensor)
        assert (str(ours.dtype), ours.shape) == (str(theirs.dtype).removeprefix("torch."), tuple(theirs.shape))
        assert ours.tolist() == theirs.tolist()
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            agree(ours[key], theirs[key])
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            agree(a, b)
    else:
        assert ours == theirs


def every_dtype() -> dict[str, torch.Tensor]:
    return {t.name: torch.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(torch, t.name)) for t in dtypes.ALL}


@OLDER
def test_every_dtype_is_read(tmp_path: Path, older: bool) -> None:
    data = every_dtype()
    write(tmp_path / "f", data, older)
    agree(io.load(tmp_path / "f"), data)


@OLDER
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(tmp_path: Path, older: bool, protocol: int) -> None:
    data = {
        "w": torch.arange(6.0).reshape(2, 3),
        "long text": "x" * 300,
        "big": 2**70,
        "neg": -1,
        "set": {1},
        "b": b"\0\xff",
    }
    write(tmp_path / "f", data, older, pickle_protocol=protocol)
    agree(io.load(tmp_path / "f"), data)


@OLDER
def test_strided_and_shared_tensors(tmp_path: Path, older: bool) -> None:
    base = torch.arange(24.0).reshape(4, 6)
    data = {
        "t": base.T, "rows": base[1:3], "columns": base[:, 2:5], "step": base[::2, ::3], "diagonal": base.diagonal(),
        "expanded": torch.arange(3.0).expand(4, 3), "0d": base[2, 3], "none": base[:0], "base": base,
        "flat": base.view(-1), "windows": base.reshape(-1).unfold(0, 5, 2),
        "permuted": base.reshape(2, 3, 4).permute(2, 0, 1),
    }  # fmt: skip
    write(tmp_path / "f", data, older)
    agree(io.load(tmp_path / "f"), data)


@OLDER
def test_tied_weights_stay_tied(tmp_path: Path, older: bool) -> None:
    embed, head = torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5)
    head.weight = embed.weight
    model = torch.nn.Sequential(embed, head)
    write(tmp_path / "f", model.state_dict(), older)
    found = io.load(tmp_path / "f")
    agree(found, dict(model.state_dict()))
    assert found["0.weight"] is found["1.weight"]
    assert io.tied(found) == [["0.weight", "1.weight"]]


@OLDER
def test_a_training_run(tmp_path: Path, older: bool) -> None:
    """State dicts of model, optimizer and schedule, numbers and random states beside them."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.LSTM(3, 2, 2))
    optimizer = torch.optim.AdamW([{"params": model[0].parameters()}, {"params": model[1].parameters(), "lr": 0.1}])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    model[1](model[0](torch.randn(5, 4))).square().sum().backward()
    optimizer.step()
    schedule.step()
    data = {
        "model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
        "epoch": 3, "rng": torch.get_rng_state(), "best": np.float64(0.25), "size": torch.Size([2, 3]),
        "parameters": [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2), requires_grad=False)],
    }  # fmt: skip
    write(tmp_path / "f", data, older)
    found = io.load(tmp_path / "f")
    agree(found, data)
    assert type(found["model"]) is dict
    ours = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    ours.load_state_dict({k: v for k, v in found["model"].items() if not k.startswith("2.")})
    agree(dict(ours.state_dict()), {k: v for k, v in model.state_dict().items() if not k.startswith("2.")})


@OLDER
def test_words_that_are_no_tensors(tmp_path: Path, older: bool) -> None:
    x = torch.nn.Parameter(torch.arange(3.0))
    x.tag = "kept by PyTorch"
    data = {"dtype": torch.bfloat16, "device": torch.device("cuda", 1), "cpu": torch.device("cpu"), "x": x}
    write(tmp_path / "f", data, older)
    found = io.load(tmp_path / "f")
    assert (found["dtype"], found["device"], found["cpu"]) == (pg.bfloat16, "cuda:1", "cpu")
    assert found["x"].tolist() == [0, 1, 2]


@OLDER
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (torch.nn.Linear(2, 3), "torch.nn.modules.linear.Linear.*save model.state_dict"),
        ({"x": torch.zeros(2, dtype=torch.complex64)}, "torch.ComplexFloatStorage.*complex numbers"),
        ({"x": torch.zeros(2).to(torch.float8_e4m3fn)}, "float8_e4m3fn.*8-bit floats"),
        ({"x": torch.eye(3).to_sparse()}, "sparse tensor; save x.to_dense"),
        ({"x": torch.zeros(2, device="meta")}, "_rebuild_meta_tensor_no_storage"),
        ({"x": torch.zeros(2, dtype=torch.complex64).conj().imag}, "the marks|complex numbers"),
        ({"x": torch.zeros(2).untyped_storage()}, "as a value"),
    ],
    ids=["model", "complex", "float8", "sparse", "meta", "negative bit", "storage"],
)
def test_what_is_refused(tmp_path: Path, data: Any, message: str, older: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, on writing models and sparse tensors
        write(tmp_path / "f", data, older)
    with pytest.raises(io.FileFormatError, match=message):
        io.load(tmp_path / "f")


def test_programs_are_refused(tmp_path: Path) -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, against its own programs
        torch.jit.save(torch.jit.trace(Twice(), torch.ones(2)), tmp_path / "f")
    with pytest.raises(io.FileFormatError, match="a program of torch"):
        io.load(tmp_path / "f")


@pytest.mark.parametrize("mmap", [False, True])
def test_pytorch_reads_what_is_written(tmp_path: Path, mmap: bool) -> None:
    w = pg.arange(6.0).reshape(2, 3)
    data = {
        **{t.name: pg.tensor([[0, 1, 1], [1, 0, 1]], dtype=t) for t in dtypes.ALL},
        "w": w, "tied": w, "t": w.mT, "0d": pg.tensor(2.5), "none": pg.zeros((0, 3)), "array": np.arange(3),
        "state": {0: {"step": 3, "lr": 0.1, "big": 2**80}}, "groups": [{"betas": (0.9, 0.999), "x": None, "yes": True}],
        "bytes": b"\0\xff", "text": "naïve ☂", "scalar": np.float32(0.5),
    }  # fmt: skip
    io.save_torch(tmp_path / "f", data)
    theirs = torch.load(tmp_path / "f", weights_only=True, mmap=mmap)
    arrays = {k: pg.tensor(v) if isinstance(v, np.ndarray) else v for k, v in data.items()}
    agree(arrays, theirs)
    assert theirs["w"].data_ptr() == theirs["tied"].data_ptr()
    assert theirs["t"].is_contiguous()
    agree(io.load(tmp_path / "f"), theirs)


def test_a_model_goes_there_and_back(tmp_path: Path) -> None:
    ours = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    theirs = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
    io.save(tmp_path / "f.pth", ours.state_dict())
    theirs.load_state_dict(torch.load(tmp_path / "f.pth", weights_only=True))
    x = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
    right = theirs.eval()(torch.from_numpy(x)).detach().numpy()
    assert np.allclose(ours.eval()(pg.tensor(x)).detach().numpy(), right, atol=1e-6)


def test_dtypes_are_written_as_words(tmp_path: Path) -> None:
    io.save_torch(tmp_path / "f", {"a": pg.bfloat16, "b": pg.uint16})
    assert torch.load(tmp_path / "f", weights_only=True) == {"a": torch.bfloat16, "b": torch.uint16}


def test_safetensors_both_ways(tmp_path: Path) -> None:
    theirs = every_dtype() | {"t": torch.arange(6.0).reshape(2, 3).T.contiguous(), "0d": torch.tensor(2.5)}
    safetensors.torch.save_file(theirs, tmp_path / "theirs", {"format": "pt"})
    agree(OrderedDict(sorted(io.load(tmp_path / "theirs").items())), OrderedDict(sorted(theirs.items())))
    ours = {name: pg.tensor(x.tolist(), dtype=str(x.dtype).removeprefix("torch.")) for name, x in theirs.items()}
    io.save_safetensors(tmp_path / "ours", ours, {"format": "pt"})
    agree(
        OrderedDict(sorted(ours.items())), OrderedDict(sorted(safetensors.torch.load_file(tmp_path / "ours").items()))
    )


def test_tied_weights_in_safetensors_both_ways(tmp_path: Path) -> None:
    """`save_model` and `load_model` of the format's library keep one of the names and tell the others."""

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.head = torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5)
            self.head.weight = self.embed.weight

    model, other = Model(), Model()
    safetensors.torch.save_model(model, tmp_path / "f")
    found = io.load_safetensors(tmp_path / "f", tied=True)
    assert found["embed.weight"] is found["head.weight"]
    agree(dict(sorted(found.items())), dict(sorted(model.state_dict().items())))
    io.save_safetensors(tmp_path / "g", found, tied=True)
    safetensors.torch.load_model(other, tmp_path / "g")
    assert torch.equal(other.embed.weight, model.embed.weight)
    assert torch.equal(other.head.bias, model.head.bias)
