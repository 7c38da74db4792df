"""Pictures turned, cut, padded, resized, erased: arrays and tensors alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError
from plugrad_data import transforms as T

BYTES = np.arange(2 * 5 * 7, dtype=np.uint8).reshape(2, 5, 7)


def kinds() -> list[Any]:
    return [BYTES, BYTES.astype(np.float32), pg.tensor(BYTES), pg.tensor(BYTES, dtype="float32")]


def host(x: Any) -> np.ndarray:
    return x.numpy() if isinstance(x, pg.Tensor) else np.asarray(x)


def test_to_tensor() -> None:
    x = T.ToTensor()(BYTES.transpose(1, 2, 0))
    assert x.shape == (2, 5, 7)
    assert x.dtype is pg.float32
    np.testing.assert_allclose(x.numpy(), BYTES / 255, rtol=1e-6)
    assert T.ToTensor()(BYTES[0]).shape == (1, 5, 7)
    assert T.ToTensor()(np.full((2, 2), 3.5)).tolist() == [[[3.5, 3.5], [3.5, 3.5]]]
    with pytest.raises(ShapeError, match=r"not \(7,\)"):
        T.ToTensor()(BYTES[0, 0])
    with pytest.raises(DTypeError, match="int64"):
        T.ToTensor()(np.zeros((2, 2), dtype=np.int64))


def test_normalize() -> None:
    f = T.Normalize([1.0, 2.0], [2.0, 4.0])
    for x in kinds()[1::2]:
        z = f(x)
        np.testing.assert_allclose(z.numpy()[1], (BYTES[1] - 2.0) / 4, rtol=1e-6)
    with pytest.raises(DTypeError, match="ToTensor"):
        f(BYTES)
    with pytest.raises(ShapeError, match="2 channels"):
        f(BYTES[:1])
    with pytest.raises(ValueError, match="std more than 0"):
        T.Normalize([0.0], [0.0])


@pytest.mark.parametrize("x", kinds())
def test_flips(x: Any) -> None:
    assert (host(T.RandomHorizontalFlip(1.0)(x)) == BYTES[:, :, ::-1]).all()
    assert (host(T.RandomVerticalFlip(1.0)(x)) == BYTES[:, ::-1]).all()
    assert (host(T.RandomVerticalFlip(0.0)(x)) == BYTES).all()
    g = pg.Generator(0)
    flipped = sum(host(T.RandomHorizontalFlip(0.3, generator=g)(x))[0, 0, 0] != 0 for _ in range(200))
    assert 35 < flipped < 85


@pytest.mark.parametrize("x", kinds())
def test_padding_and_cropping(x: Any) -> None:
    assert (host(T.Pad((1, 2, 3, 4), fill=9)(x)) == np.pad(BYTES, ((0, 0), (2, 4), (1, 3)), constant_values=9)).all()
    assert (host(T.Pad((1, 2), padding_mode="reflect")(x)) == np.pad(BYTES, ((0, 0), (2, 2), (1, 1)), "reflect")).all()
    assert (host(T.Pad(1, padding_mode="edge")(x)) == np.pad(BYTES, ((0, 0), (1, 1), (1, 1)), "edge")).all()
    assert (host(T.CenterCrop((3, 3))(x)) == BYTES[:, 1:4, 2:5]).all()
    assert (host(T.CenterCrop((7, 3))(x)) == np.pad(BYTES, ((0, 0), (1, 1), (0, 0)))[:, :, 2:5]).all()
    whole = T.RandomCrop((5, 7))(x)
    assert (host(whole) == BYTES).all()
    with pytest.raises(ShapeError, match=r"\(6, 7\) out of a picture of \(5, 7\)"):
        T.RandomCrop((6, 7))(x)
    assert T.RandomCrop((6, 9), pad_if_needed=True)(x).shape == (2, 6, 9)


def test_crops_reach_every_place() -> None:
    f = T.RandomCrop((3, 5), generator=pg.Generator(1))
    corners = {int(f(BYTES)[0, 0, 0]) for _ in range(300)}
    assert corners == {7 * top + left for top in range(3) for left in range(3)}


@pytest.mark.parametrize("x", kinds())
def test_resize(x: Any) -> None:
    assert T.Resize((3, 4))(x).shape == (2, 3, 4)
    assert T.Resize(10)(x).shape == (2, 10, 14)
    assert T.Resize((3, 4))(x).dtype == x.dtype
    assert (host(T.Resize((5, 7))(x)) == BYTES).all()
    flat = x * 0 + 7
    np.testing.assert_allclose(host(T.Resize((11, 3))(flat)), 7, rtol=1e-6)


@pytest.mark.parametrize("x", kinds())
def test_random_resized_crop(x: Any) -> None:
    f = T.RandomResizedCrop((4, 6), generator=pg.Generator(3))
    found = [host(f(x)) for _ in range(20)]
    assert {z.shape for z in found} == {(2, 4, 6)}
    assert all(BYTES[0].min() <= z[0].min() and z[0].max() <= BYTES[0].max() for z in found)
    assert len({z.tobytes() for z in found}) > 10
    odd = T.RandomResizedCrop((2, 2), scale=(1.0, 1.0), ratio=(9.0, 9.0))  # fits nowhere: the middle
    assert (host(odd(x))[:, 0] < host(odd(x))[:, 1] + 1).all()


@pytest.mark.parametrize("x", kinds())
def test_erasing(x: Any) -> None:
    g = pg.Generator(2)
    z = host(T.RandomErasing(1.0, value=(200, 100), generator=g)(x))
    gone = z[0] == 200
    assert 0 < gone.sum() < 35
    assert (z[1][gone] == 100).all()
    assert (z[:, ~gone] == BYTES[:, ~gone]).all()
    rows, columns = np.where(gone)
    assert gone.sum() == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    assert (host(x) == BYTES).all()


def test_composing_and_showing() -> None:
    f = T.Compose([T.Resize((4, 4)), T.RandomHorizontalFlip(1.0, generator=pg.Generator(0)), T.ToTensor()])
    assert repr(f) == "Compose([Resize(size=(4, 4), antialias=True), RandomHorizontalFlip(p=1.0), ToTensor()])"
    assert repr(T.RandomCrop(3, 1)) == (
        "RandomCrop(size=(3, 3), padding=1, pad_if_needed=False, fill=0, padding_mode='constant')"
    )


def test_one_seed_one_picture() -> None:
    def run() -> list[Any]:
        g = pg.Generator(11)
        f = T.Compose([
            T.RandomCrop(4, generator=g), T.RandomVerticalFlip(generator=g), T.RandomErasing(generator=g),
        ])  # fmt: skip
        return [f(BYTES).tolist() for _ in range(5)]

    assert run() == run()
    pg.manual_seed(4)
    a = T.RandomCrop(3)(BYTES)
    pg.manual_seed(4)
    assert (T.RandomCrop(3)(BYTES) == a).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: T.RandomHorizontalFlip(1.5), lambda: T.Pad(-1), lambda: T.Pad((1, 2, 3)), lambda: T.CenterCrop(0),
        lambda: T.Pad(1, padding_mode="wrap"), lambda: T.RandomErasing(-0.1),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(make: Any) -> None:
    with pytest.raises(ValueError, match=r"from|none of|numbers"):
        make()
