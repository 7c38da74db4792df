"""Case rows of convolutions."""

from __future__ import annotations

from functools import partial as so
from typing import Any

from plugrad.testing.case import case, real

from .. import functional as F
from .. import ops
from .door import through

conv, biased, patches, add = ops.Conv, ops.BiasedConv, ops.Patches, ops.AddPatches
spread, spread_biased, weight = ops.ConvTranspose, ops.BiasedConvTranspose, ops.ConvWeight
c1, c2, c3 = F.conv1d, F.conv2d, F.conv3d
t1, t2, t3 = F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d
axes: Any = {"stride": (1, 2), "padding": (2, 0), "dilation": (1, 2)}
more: Any = {"stride": (3, 1), "padding": (1, 2), "output_padding": (2, 1), "groups": 2, "dilation": (1, 2)}
third, line = weight((2, 1), ((1, 0), (0, 2)), (1, 2), 2), weight((3,), ((0, -1),), (1,), 1)

ROWS = [
    case(conv, c1, real(2, 3, 5), real(4, 3, 2)),
    case(conv, so(c1, stride=3), real(1, 1, 7), real(1, 1, 2), label="stride beyond the kernel"),
    case(conv, so(c1, padding="same"), real(1, 2, 4), real(1, 2, 4), label="same"),
    case(conv, so(c1, padding=4, stride=2), real(1, 2, 3), real(1, 2, 2), label="wide padding"),
    case(conv, so(c1, padding=2, stride=3), real(1, 1, 1), real(2, 1, 1), label="padding alone"),
    case(conv, so(c2, stride=2), real(2, 1, 4, 6), real(2, 1, 3, 3), label="remainder"),
    case(conv, so(c2, **axes), real(1, 2, 3, 6), real(2, 2, 3, 2), label="axes"),
    case(conv, so(c2, groups=2), real(1, 4, 2, 3), real(6, 2, 1, 2), label="groups"),
    case(conv, so(c2, padding=1, groups=3), real(2, 3, 3, 4), real(3, 1, 3, 2), label="depthwise"),
    case(conv, so(c2, stride=2, padding=1, groups=2), real(1, 2, 5, 6), real(4, 1, 3, 2), label="two from each"),
    case(conv, c2, real(2, 3, 2, 4), real(5, 3, 1, 1), label="pointwise"),
    case(conv, so(c2, stride=(2, 3)), real(1, 3, 3, 4), real(2, 3, 1, 1), label="pointwise, strided"),
    case(conv, c2, real(2, 2, 3, 4), real(3, 2, 3, 4), label="one place"),
    case(conv, c2, real(1, 1, 7, 3), real(2, 1, 2, 3), label="one column"),
    case(conv, so(c3, stride=(1, 2, 1), padding=(1, 0, 1)), real(1, 2, 2, 3, 2), real(1, 2, 2, 2, 1), label="3d"),
    case(conv, c2, real(0, 2, 3, 4), real(3, 2, 2, 2), label="no batch"),
    case(conv, c1, real(2, 0, 3), real(3, 0, 2), label="no channels"),
    case(biased, c1, real(2, 3, 5), real(4, 3, 2), real(4)),
    case(biased, so(c2, stride=2, padding=1, groups=2), real(2, 2, 4, 3), real(4, 1, 3, 2), real(4), label="groups"),
    case(biased, so(c2, padding=1), real(2, 1, 3, 4), real(2, 1, 3, 3), real(2), label="padding"),
    case(biased, c2, real(2, 3, 2, 3), real(2, 3, 1, 1), real(2), label="pointwise"),
    case(spread, t1, real(2, 3, 4), real(3, 2, 3)),
    case(spread, so(t1, stride=2), real(1, 1, 3), real(1, 1, 1), label="stride beyond the kernel"),
    case(spread, so(t1, stride=2, padding=1, output_padding=1), real(1, 2, 3), real(2, 1, 3), label="longer"),
    case(spread, so(t2, **more), real(1, 4, 2, 3), real(4, 1, 2, 3), label="axes"),
    case(spread, so(t2, stride=2, padding=1, groups=3), real(2, 3, 2, 3), real(3, 1, 3, 3), label="depthwise"),
    case(spread, t2, real(2, 3, 2, 3), real(3, 4, 1, 1), label="pointwise"),
    case(spread, so(t3, stride=2, output_padding=(0, 1, 0)), real(1, 1, 2, 1, 2), real(1, 2, 1, 2, 3), label="3d"),
    case(spread, t1, real(0, 2, 3), real(2, 3, 2), label="no batch"),
    case(spread_biased, so(t1, stride=2, output_padding=1), real(2, 2, 3), real(2, 3, 3), real(3)),
    case(spread_biased, so(t2, stride=2, groups=2), real(1, 4, 2, 3), real(4, 1, 3, 4), real(2), label="groups"),
    case(weight, through(third), real(2, 2, 4, 5), real(2, 4, 2, 3)),
    case(weight, through(line), real(1, 2, 6), real(1, 1, 2), label="remainder"),
    case(patches, so(F.unfold, kernel_size=(2, 3), dilation=(1, 2), padding=(1, 2), stride=(2, 1)), real(2, 2, 3, 4)),
    case(patches, so(F.unfold, kernel_size=2, stride=2), real(1, 1, 5, 4), label="remainder"),
    case(add, so(F.fold, output_size=(3, 4), kernel_size=2, padding=1), real(2, 4, 20)),
    case(add, so(F.fold, output_size=(5, 4), kernel_size=(2, 3), stride=(3, 1)), real(1, 12, 4), label="axes"),
]
