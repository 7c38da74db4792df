"""Packed and padded sequences against PyTorch: data, batch sizes, orders, lengths, gradients."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import agree, compare
from torch.nn.utils import rnn as theirs

import plugrad as pg
from plugrad_nn.layers import packed as ours


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


ORDERS = [[3, 5, 1, 5], [5, 4, 4, 2], [2, 2, 2, 2]]  # ties too


def fields(p: Any) -> list[Any]:
    return [None if t is None else t.tolist() for t in p]


@pytest.mark.parametrize("trailing", [(), (2,), (2, 3)])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", ORDERS)
def test_packing_and_padding(lengths: list[int], batch_first: bool, trailing: tuple[int, ...]) -> None:
    x = drawn(*((4, 5) if batch_first else (5, 4)), *trailing)
    for enforce in (False, True):
        if enforce and lengths != sorted(lengths, reverse=True):
            continue
        a = ours.pack_padded_sequence(pg.tensor(x), lengths, batch_first, enforce)
        b = theirs.pack_padded_sequence(torch.tensor(x), lengths, batch_first, enforce)
        assert fields(a) == fields(b)
        for options in ({}, {"padding_value": -7.0}, {"total_length": 9, "batch_first": batch_first}):
            p, q = ours.pad_packed_sequence(a, **options), theirs.pad_packed_sequence(b, **options)
            assert fields(p) == fields(q)
        assert fields(ours.unpack_sequence(a)) == fields(theirs.unpack_sequence(b))
    compare(
        lambda x: tuple(ours.unpad_sequence(x, pg.tensor(lengths), batch_first)),
        lambda x: tuple(theirs.unpad_sequence(x.clone(), torch.tensor(lengths), batch_first)),
        x,
    )


@pytest.mark.parametrize("trailing", [(), (3,)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_lists_of_sequences(dtype: str, trailing: tuple[int, ...]) -> None:
    arrays = [(10 * drawn(n, *trailing, seed=n)).astype(dtype) for n in (5, 2, 3)]
    mine, its = [pg.tensor(a) for a in arrays], [torch.tensor(a) for a in arrays]
    for first_, side, value in product([False, True], ["left", "right"], [0.0, 1.0]):
        options = {"batch_first": first_, "padding_value": value, "padding_side": side}
        agree(ours.pad_sequence(mine, **options), theirs.pad_sequence(its, **options))
    a, b = ours.pack_sequence(mine, enforce_sorted=False), theirs.pack_sequence(its, enforce_sorted=False)
    assert fields(a) == fields(b)
    agree(a.data, b.data)
    agree(ours.pad_packed_sequence(a, True, 1.0), theirs.pad_packed_sequence(b, True, 1.0))


def test_gradients_pass_through_packing() -> None:
    x = drawn(5, 4, 2)
    for f in (
        lambda lib: lambda x: lib.pack_padded_sequence(x, [3, 5, 1, 5], enforce_sorted=False).data,
        lambda lib: lambda x: lib.pad_packed_sequence(lib.pack_padded_sequence(x, [5, 5, 3, 1]), False, 2.0, 7)[0],
        lambda lib: lambda x: lib.pad_sequence([x[:, 0], x[:2, 1], x[1:4, 2]], True, 3.0, "left"),
        lambda lib: lambda x: tuple(lib.unpack_sequence(lib.pack_sequence([x[:2, 1], x[:, 0]], False))),
    ):
        compare(f(ours), f(theirs), x)


@pytest.mark.parametrize("name", [n for n in theirs.__all__ if n != "PackedSequence"])
def test_arguments_of_packing(name: str) -> None:
    mine, its = (inspect.signature(getattr(lib, name)).parameters for lib in (ours, theirs))
    assert [(n, p.default) for n, p in mine.items()] == [(n, p.default) for n, p in its.items()]
