"""Resampling of pictures against PyTorch's interpolation; PyTorch's data sets as sources of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch.nn import functional as TF

import plugrad as pg
import plugrad_data as data
from plugrad_data import transforms

if TYPE_CHECKING:
    from collections.abc import Iterator

X = np.random.default_rng(0).random((3, 13, 17)).astype("float32")


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", [(5, 6), (13, 40), (31, 3), (1, 1), (13, 17)])
def test_resize(size: tuple[int, int], antialias: bool) -> None:
    want = TF.interpolate(torch.tensor(X[None]), size, mode="bilinear", antialias=antialias)[0].numpy()
    for x in (X, pg.tensor(X)):
        np.testing.assert_allclose(np.asarray(transforms.Resize(size, antialias)(x)), want, rtol=1e-5, atol=1e-6)


class Pairs(torch.utils.data.Dataset):
    """Tensors of PyTorch in a dict, of several dtypes."""

    def __len__(self) -> int:
        return 5

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {"x": torch.full((2, 3), float(i)).T, "y": torch.tensor(i), "b": torch.tensor([i > 2]), "w": f"n{i}"}


class Numbers(torch.utils.data.IterableDataset):
    def __iter__(self) -> Iterator[torch.Tensor]:
        return (torch.tensor([float(i)]) for i in range(5))


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, torch.Tensor):
        return str(ours.dtype) == str(theirs.dtype).removeprefix("torch.") and ours.tolist() == theirs.tolist()
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], v) for k, v in theirs.items())
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


SOURCES = {
    "pairs": Pairs(),
    "stream": Numbers(),
    "tensors": torch.utils.data.TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5)),
    "subset": torch.utils.data.Subset(Pairs(), [3, 1, 4]),
    "joined": torch.utils.data.ConcatDataset([Pairs(), Pairs()]),
}


@pytest.mark.parametrize("size", [2, None])
@pytest.mark.parametrize("name", SOURCES)
def test_data_sets_of_pytorch(name: str, size: int | None) -> None:
    theirs = list(torch.utils.data.DataLoader(SOURCES[name], size))
    assert same(list(data.DataLoader(SOURCES[name], size)), theirs)
    assert same(list(data.DataLoader(SOURCES[name], size, num_workers=1)), theirs)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_pytorch_loads_our_data_sets(n: int) -> None:
    """They have a length and an index, whatever the loader."""
    ours = data.Subset(data.ArrayDataset(np.arange(n), np.ones((n, 2), "float32")), range(n))
    theirs = list(torch.utils.data.DataLoader(ours, 3))
    assert same(list(data.DataLoader(ours, 3)), theirs)
