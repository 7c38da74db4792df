"""Pictures turned, cut, padded, resized, erased: arrays and tensors alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data
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


class Pillow:
    """What has no shape."""


EACH = [
    T.RandomHorizontalFlip(1.0), T.RandomVerticalFlip(1.0), T.Normalize([0.0], [1.0]), T.Pad(1), T.CenterCrop(2),
    T.RandomCrop(2), T.Resize(2), T.RandomResizedCrop(2), T.RandomErasing(1.0),
]  # fmt: skip


@pytest.mark.parametrize("f", EACH)
@pytest.mark.parametrize("x", [Pillow(), np.zeros(3), [[1, 2], [3, 4]]])
def test_what_is_no_picture_yet(f: Any, x: Any) -> None:
    with pytest.raises(DTypeError, match=rf"{type(f).__name__}: a picture is .* put ToTensor\(\) in front"):
        f(x)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "int32", "int64", "bool", "float64", "uint8", "int8"])
def test_resized_in_its_own_dtype(dtype: str) -> None:
    """Nothing is cut off at 255, whole numbers are rounded, large ones are exact."""
    top = 1 if dtype in ("bool", "float64") else min(np.iinfo(dtype).max, 2**50) // 4 * 3
    x = np.array([[[0, 0, top, top], [top, top, top, top]]], dtype)
    for given in (x, pg.tensor(x)):
        z = T.Resize((1, 2), antialias=False)(given)
        assert str(z.dtype) == dtype
        want = [top * 0.5, top] if dtype == "float64" else [round(top * share) for share in (0.5, 1)]
        found = host(z).reshape(-1).tolist()
        assert found[1] == want[1]
        assert abs(found[0] - want[0]) <= (top > 1)


def test_pictures_that_would_come_out_wrong_are_refused() -> None:
    with pytest.raises(DTypeError, match="uint16; bytes or floats are wanted, from 0 to 1"):
        T.ToTensor()(np.zeros((2, 2), np.uint16))
    image = pytest.importorskip("PIL.Image")
    with pytest.raises(DTypeError, match="numbers in a palette"):
        T.ToTensor()(image.fromarray(BYTES[0]).convert("P"))


def test_values_to_erase_with() -> None:
    for x in kinds():
        with pytest.raises(ShapeError, match=r"3 values for a picture of shape \(2, 5, 7\)"):
            T.RandomErasing(1.0, value=(1, 2, 3))(x)
        z = host(T.RandomErasing(1.0, value=np.uint8(77), generator=pg.Generator(1))(x))
        assert (z != BYTES).sum() == (z == 77).sum() > 0
    assert T.RandomErasing(1.0)(BYTES[0]).shape == (5, 7)


@pytest.mark.parametrize("size", [0, -1, 2.5, (1, 2, 3), (0, 2), "ab", None])
def test_sizes(size: Any) -> None:
    for kind in (T.Resize, T.CenterCrop, T.RandomCrop, T.RandomResizedCrop):
        with pytest.raises(ValueError, match=f"{kind.__name__}: size .* is a number of pixels from 1, or two"):
            kind(size)


def test_turned_pictures_through_workers() -> None:
    """Views with negative strides are stacked, and sent, as they read."""
    both = T.Compose([T.RandomHorizontalFlip(1.0), T.RandomVerticalFlip(1.0)])
    want = BYTES[:, ::-1, ::-1]
    for x in (BYTES, pg.tensor(BYTES), np.tile(BYTES, (1, 40, 40))):
        for size in (2, None):
            loader = data.DataLoader(data.MapDataset([x] * 2, both), size, num_workers=1)
            for batch in loader:
                assert (host(batch).reshape(-1, *x.shape)[0][:, -5:, -7:] == want).all()
