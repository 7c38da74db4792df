"""Small data sets that are ready at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg

from .dataset import TensorDataset

if TYPE_CHECKING:
    from plugrad import Device

__all__ = ["digits", "iris"]


def digits(device: str | Device | None = None) -> TensorDataset:
    """1,797 handwritten digits, as scikit-learn ships them: images (8, 8) from 0 to 1 in float32, classes in int64.

    Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998.
    """
    found = _sklearn("digits")
    return _dataset(found.images / 16.0, found.target, device)


def iris(device: str | Device | None = None) -> TensorDataset:
    """150 flowers of three kinds, as scikit-learn ships them: four lengths in cm in float32, classes in int64.

    Fisher, The use of multiple measurements in taxonomic problems, 1936.
    """
    found = _sklearn("iris")
    return _dataset(found.data, found.target, device)


def _dataset(x: Any, y: Any, device: str | Device | None) -> TensorDataset:
    return TensorDataset(pg.tensor(x, dtype=pg.float32, device=device), pg.tensor(y, dtype=pg.int64, device=device))


def _sklearn(name: str) -> Any:
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ImportError(
            f"{name}: it comes with scikit-learn, which is not installed; pip install scikit-learn", name="sklearn"
        ) from error
    return getattr(datasets, f"load_{name}")()
