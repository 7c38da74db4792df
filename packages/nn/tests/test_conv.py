"""Convolutions and their layers."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import DTypeError, ShapeError
from plugrad_nn import functional as F


def leaf(values: Any) -> pg.Tensor:
    return pg.tensor(values, requires_grad=True)


def counted(*shape: int) -> pg.Tensor:
    n = 1
    for k in shape:
        n *= k
    return pg.arange(n, dtype="float32").reshape(*shape)


def test_a_stride_that_leaves_entries_unread() -> None:
    x = counted(1, 1, 4, 4).requires_grad_()
    w = leaf([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]])
    y = F.conv2d(x, w, stride=2)
    assert y.tolist() == [[[[303.0]]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[[1, 2, 3, 0], [4, 5, 6, 0], [7, 8, 9, 0], [0, 0, 0, 0]]]]
    assert w.grad.tolist() == [[[[0, 1, 2], [4, 5, 6], [8, 9, 10]]]]
    p = leaf([[[1.0, 2.0, 3.0, 4.0]]])
    q = F.conv1d(p, pg.ones(1, 1, 3), stride=2, padding=1)
    assert q.tolist() == [[[3.0, 9.0]]]
    q.sum().backward()
    assert p.grad.tolist() == [[[1.0, 2.0, 1.0, 1.0]]]


def test_a_stride_beyond_the_kernel() -> None:
    s, k = leaf([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]]), pg.tensor([[[1.0, 10.0]]])
    o = F.conv1d(s, k, stride=3)
    assert o.tolist() == [[[21.0, 54.0]]]
    (o * pg.tensor([[[1.0, 2.0]]])).sum().backward()
    assert s.grad.tolist() == [[[1.0, 10.0, 0.0, 2.0, 20.0, 0.0, 0.0]]]


def test_same_padding() -> None:
    y = F.conv1d(pg.tensor([[[1.0, 2.0, 3.0, 4.0]]]), pg.tensor([[[10.0, 1.0]]]), padding="same")
    assert y.tolist() == [[[12.0, 23.0, 34.0, 40.0]]]
    x = pg.zeros(1, 1, 9, 11)
    x[0, 0, 4, 5] = 1.0
    k = (counted(15) + 1).reshape(1, 1, 3, 5)
    y = F.conv2d(x, k, padding="same", dilation=(2, 1))
    assert y.shape == (1, 1, 9, 11)
    assert [float(y[0, 0, i, j]) for i, j in ((4, 5), (2, 3), (6, 7), (2, 5), (3, 5))] == [8, 15, 1, 13, 0]
    for kernel, dilation in (((3, 5), (2, 3)), ((2, 4), (3, 1)), ((1, 6), 2)):
        y = F.conv2d(pg.zeros(1, 3, 8, 11), pg.zeros(2, 3, *kernel), padding="same", dilation=dilation)
        assert y.shape == (1, 2, 8, 11)


def test_groups_see_their_own_channels() -> None:
    x = pg.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]])
    y = F.conv1d(x, pg.tensor([[[1.0], [10.0]], [[100.0], [1000.0]]]), groups=2)
    assert y.tolist() == [[[31.0, 42.0], [7500.0, 8600.0]]]
    y = F.conv1d(x, pg.tensor([[[1.0]], [[10.0]], [[100.0]], [[1000.0]]]), groups=4)
    assert y.tolist() == [[[1.0, 2.0], [30.0, 40.0], [500.0, 600.0], [7000.0, 8000.0]]]


def test_transposed() -> None:
    x, w = leaf([[[2.0, 5.0]]]), leaf([[[3.0]]])
    y = F.conv_transpose1d(x, w, stride=2)
    assert y.tolist() == [[[6.0, 0.0, 15.0]]]
    y.backward(pg.tensor([[[1.5, 0.0, 0.5]]]))
    assert x.grad.tolist() == [[[4.5, 1.5]]]
    assert w.grad.tolist() == [[[5.5]]]
    a, k = leaf([[[1.0, 2.0]]]), pg.tensor([[[1.0, 10.0, 100.0]]])
    z = F.conv_transpose1d(a, k, stride=2, padding=1, output_padding=1)
    assert z.tolist() == [[[10.0, 102.0, 20.0, 200.0]]]
    (z * pg.tensor([[[1.0, 1.0, 1.0, 1000.0]]])).sum().backward()
    assert a.grad.tolist() == [[[110.0, 100011.0]]]
    s = F.conv_transpose1d(a, k, stride=2, output_padding=1, bias=pg.tensor([7.0]))
    assert s.tolist() == [[[8.0, 17.0, 109.0, 27.0, 207.0, 7.0]]]


def test_a_gradient_penalty() -> None:
    w, s = leaf([[[1.0, 2.0, -1.0]]]), leaf([[[1.0, 0.0, 2.0, 3.0]]])
    (g,) = pg.grad((F.conv1d(s, w) ** 2).sum(), [s], create_graph=True)
    (again,) = pg.grad((g**2).sum(), [w])
    assert again.tolist() == [[[-48.0, 128.0, 16.0]]]


def test_a_transposed_convolution_is_the_adjoint() -> None:
    """⟨conv x, y⟩ = ⟨x, conv_transpose y⟩, with the output padding that makes up for what the stride leaves."""
    pg.manual_seed(0)
    for n, how in ((9, {"stride": 3, "padding": 1}), (8, {"stride": 2, "dilation": 3}), (7, {"padding": 2})):
        x, w = pg.randn(2, 4, n, n + 1, dtype="float64"), pg.randn(6, 2, 2, 3, dtype="float64")
        z = F.conv2d(x, w, groups=2, **how)
        y = pg.randn(*z.shape, dtype="float64")
        least = F.conv_transpose2d(y, w, groups=2, **how)
        extra = tuple(a - b for a, b in zip(x.shape[2:], least.shape[2:], strict=True))
        back = F.conv_transpose2d(y, w, groups=2, output_padding=extra, **how)
        assert float((z * y).sum()) == pytest.approx(float((x * back).sum()), rel=1e-12)


def test_without_a_batch_and_with_an_empty_one() -> None:
    x, w, b = counted(2, 3, 4), counted(2, 2, 2, 3), pg.tensor([1.0, 2.0])
    assert F.conv2d(x, w, b).tolist() == F.conv2d(x.reshape(1, 2, 3, 4), w, b)[0].tolist()
    assert F.conv_transpose2d(x, w, b).tolist() == F.conv_transpose2d(x.reshape(1, 2, 3, 4), w, b)[0].tolist()
    empty = pg.zeros(0, 2, 3, 4, requires_grad=True)
    for f, size in ((F.conv2d, (2, 2)), (F.conv_transpose2d, (4, 6))):
        w = counted(2, 2, 2, 3).requires_grad_()
        z = f(empty, w, b)
        assert z.shape == (0, 2, *size)
        z.sum().backward()
        assert w.grad.tolist() == pg.zeros(2, 2, 2, 3).tolist()
    assert empty.grad.shape == empty.shape


def test_whole_numbers_stay_whole() -> None:
    z = F.conv1d(pg.tensor([[[1, 2, 3]]]), pg.tensor([[[1, 10]]]))
    assert z.dtype is pg.int64
    assert z.tolist() == [[[21, 32]]]
    with pytest.raises(DTypeError):
        F.conv1d(pg.ones(1, 1, 3, dtype="bool"), pg.ones(1, 1, 2, dtype="bool"))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: F.conv2d(pg.ones(1, 1, 2, 2), pg.ones(1, 1, 3, 3)), r"kernel of \(3, 3\).*input of \(2, 2\)"),
        (lambda: F.conv1d(pg.ones(1, 1, 4), pg.ones(1, 1, 3), dilation=2), r"reaches over \(5,\).*has \(4,\)"),
        (lambda: F.conv2d(pg.ones(1, 3, 4, 4), pg.ones(2, 1, 3, 3)), "has 3 channels, weight .* takes 1"),
        (lambda: F.conv2d(pg.ones(1, 3, 4, 4), pg.ones(2, 1, 3, 3), groups=2), "groups=2 must divide the 3 channels"),
        (lambda: F.conv2d(pg.ones(1, 3, 4, 4), pg.ones(2, 3, 3, 3), groups=0), "groups=0"),
        (lambda: F.conv2d(pg.ones(3, 4), pg.ones(2, 3, 3, 3)), r"input of shape \(3, 4\) has 2 axes; 3 or 4"),
        (lambda: F.conv2d(pg.ones(1, 3, 4, 4), pg.ones(2, 3, 3)), r"weight of shape \(2, 3, 3\) has 3 axes; 4"),
        (lambda: F.conv2d(pg.ones(1, 1, 4, 4), pg.ones(2, 1, 3, 3), pg.ones(3)), r"bias has shape \(3,\); 2 output"),
        (lambda: F.conv2d(pg.ones(1, 1, 4, 4), pg.ones(2, 1, 3, 3), stride=0), "stride 0"),
        (lambda: F.conv2d(pg.ones(1, 1, 4, 4), pg.ones(2, 1, 3, 3), stride=(1, 1, 1)), "2 of them"),
        (lambda: F.conv2d(pg.ones(1, 1, 4, 4), pg.ones(2, 1, 3, 3), padding=-1), "padding -1"),
        (lambda: F.conv1d(pg.ones(1, 1, 4), pg.ones(2, 1, 0)), "empty"),
        (lambda: F.conv1d(pg.ones(1, 1, 0), pg.ones(1, 1, 1)), "has "),
        (lambda: F.conv_transpose1d(pg.ones(1, 2, 4), pg.ones(3, 1, 2)), "has 2 channels, weight .* takes 3"),
        (lambda: F.conv_transpose1d(pg.ones(1, 1, 4), pg.ones(1, 1, 2), output_padding=1), "output_padding"),
        (lambda: F.conv_transpose1d(pg.ones(1, 1, 1), pg.ones(1, 1, 2), padding=1), r"output of \(0,\)"),
        (lambda: F.conv_transpose1d(pg.ones(1, 1, 0), pg.ones(1, 1, 3)), "output of"),
        (lambda: F.fold(pg.ones(1, 8, 5), (3, 3), 2), "4 places"),
        (lambda: F.unfold(pg.ones(1, 1, 2, 2), 3), "kernel"),
        (lambda: F.unfold(pg.ones(4, 4), 2), "axes"),
    ],
)
def test_errors_name_the_shapes(call: Any, says: str) -> None:
    with pytest.raises(ShapeError, match=says):
        call()


def test_padding_by_name() -> None:
    x, w = pg.ones(1, 1, 4), pg.ones(1, 1, 2)
    assert F.conv1d(x, w, padding="valid").shape == (1, 1, 3)
    with pytest.raises(ValueError, match="'full' is none of"):
        F.conv1d(x, w, padding="full")
    with pytest.raises(ValueError, match="stride"):
        F.conv1d(x, w, padding="same", stride=2)


def test_unfold_is_what_a_convolution_multiplies() -> None:
    pg.manual_seed(1)
    x, w = pg.randn(2, 3, 5, 6, dtype="float64"), pg.randn(4, 3, 2, 3, dtype="float64")
    how: Any = {"dilation": (2, 1), "padding": 1, "stride": (1, 2)}
    columns = F.unfold(x, (2, 3), **how)
    assert columns.shape == (2, 18, 15)
    left = (w.reshape(4, 18) @ columns).reshape(2, 4, 5, 3)
    assert float((left - F.conv2d(x, w, **how)).abs().max()) < 1e-12
    counts = F.fold(F.unfold(pg.ones(1, 1, 4, 4), 3), 4, 3)
    assert counts.tolist() == [[[[1, 2, 2, 1], [2, 4, 4, 2], [2, 4, 4, 2], [1, 2, 2, 1]]]]


def test_layers_have_their_shapes_and_bounds() -> None:
    pg.manual_seed(0)
    layer = nn.Conv2d(4, 6, (3, 5), stride=(2, 1), padding=(1, 2), groups=2)
    assert {n: t.shape for n, t in layer.state_dict().items()} == {"weight": (6, 2, 3, 5), "bias": (6,)}
    assert layer(pg.ones(2, 4, 7, 8)).shape == (2, 6, 4, 8)
    assert 0.9 / sqrt(30) < float(layer.weight.abs().max()) <= 1 / sqrt(30)
    assert 0 < float(layer.bias.abs().max()) <= 1 / sqrt(30)
    spread = nn.ConvTranspose2d(4, 6, (3, 5), groups=2, bias=False, dtype="float64")
    assert {n: t.shape for n, t in spread.state_dict().items()} == {"weight": (4, 3, 3, 5)}
    assert spread.weight.dtype is pg.float64
    assert spread(pg.ones(4, 2, 2, dtype="float64")).shape == (6, 4, 6)
    assert nn.Conv1d(2, 3, 3)(pg.ones(2, 5)).shape == (3, 3)
    assert nn.Conv3d(2, 3, 2, padding=1)(pg.ones(1, 2, 2, 3, 1)).shape == (1, 3, 3, 4, 2)
    assert nn.ConvTranspose1d(2, 3, 3)(pg.ones(1, 2, 5)).shape == (1, 3, 7)
    assert nn.ConvTranspose3d(2, 1, 2, 2)(pg.ones(1, 2, 1, 2, 3)).shape == (1, 1, 2, 4, 6)


def test_layers_pad_as_told() -> None:
    x = pg.tensor([[[1.0, 2.0, 3.0]]])
    want = {
        "zeros": [0, 1, 2, 3, 0],
        "reflect": [2, 1, 2, 3, 2],
        "replicate": [1, 1, 2, 3, 3],
        "circular": [3, 1, 2, 3, 1],
    }
    for mode, values in want.items():
        layer = nn.Conv1d(1, 1, 1, padding=1, padding_mode=mode, bias=False)
        layer.load_state_dict({"weight": pg.ones(1, 1, 1)})
        assert layer(x).tolist() == [[[float(v) for v in values]]]
    layer = nn.Conv1d(1, 1, 2, padding="same", padding_mode="circular", bias=False)
    layer.load_state_dict({"weight": pg.tensor([[[10.0, 1.0]]])})
    assert layer(x).tolist() == [[[12.0, 23.0, 31.0]]]


def test_the_size_of_a_transposed_output_can_be_said() -> None:
    layer = nn.ConvTranspose2d(2, 3, 3, stride=(2, 3), padding=1, output_padding=1)
    x = pg.ones(1, 2, 4, 5)
    assert layer(x).shape == (1, 3, 8, 14)
    assert layer(x, output_size=(7, 15)).shape == (1, 3, 7, 15)
    assert layer(x, output_size=[1, 3, 8, 13]).shape == (1, 3, 8, 13)
    with pytest.raises(ShapeError, match=r"output_size \(9, 13\).*from \(7, 13\) to \(8, 15\)"):
        layer(x, output_size=(9, 13))
    with pytest.raises(ShapeError, match="output_size"):
        layer(x, output_size=(7,))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "groups=2"),
        (lambda: nn.Conv2d(4, 3, 3, groups=2), "groups=2"),
        (lambda: nn.Conv2d(4, 4, 3, groups=0), "groups=0"),
        (lambda: nn.Conv2d(3, 4, 0), "kernel_size 0"),
        (lambda: nn.Conv2d(3, 4, (3, 3, 3)), "kernel_size"),
        (lambda: nn.Conv2d(3, 4, 3, padding=-1), "padding -1"),
        (lambda: nn.Conv2d(3, 4, 3, padding_mode="mirror"), "'mirror' is none of"),
        (lambda: nn.Conv2d(3, 4, 3, padding="same", stride=2), "stride"),
        (lambda: nn.ConvTranspose2d(3, 4, 3, padding_mode="reflect"), "'reflect' is none of 'zeros'"),
    ],
)
def test_layers_refuse_what_does_not_fit(make: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_layers_say_what_they_are() -> None:
    assert repr(nn.Conv2d(3, 4, 3)) == "Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1))"
    layer = nn.ConvTranspose1d(2, 4, 3, 2, 1, 1, groups=2, bias=False, dilation=2)
    assert repr(layer) == (
        "ConvTranspose1d(2, 4, kernel_size=(3,), stride=(2,), padding=(1,), dilation=(2,), output_padding=(1,), "
        "groups=2, bias=False)"
    )
    assert repr(nn.Unfold(3)) == "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)"
    assert nn.Fold(4, 3)(nn.Unfold(3)(pg.ones(1, 2, 4, 4))).shape == (1, 2, 4, 4)
