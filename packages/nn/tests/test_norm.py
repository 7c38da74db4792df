"""Normalisation: statistics, modes, states, and what is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import GraphError, ShapeError
from plugrad_nn import functional as F

X = [[[1.0, 2.0], [10.0, 20.0]], [[3.0, 6.0], [30.0, 0.0]], [[0.0, 0.0], [10.0, 20.0]]]  # (3, 2, 2)


def x() -> Any:
    return pg.tensor(X)


def test_batch_norm_takes_each_channel_over_all_else() -> None:
    layer = nn.BatchNorm1d(2)
    y = layer(x())
    assert y.mean(axis=(0, 2)).tolist() == pytest.approx([0.0, 0.0], abs=1e-6)
    assert y.var(axis=(0, 2), correction=0).tolist() == pytest.approx([1.0, 1.0], rel=1e-4)
    mean, var = x().mean(axis=(0, 2)), x().var(axis=(0, 2))
    assert layer.running_mean.tolist() == pytest.approx((mean * 0.1).tolist())
    assert layer.running_var.tolist() == pytest.approx((var * 0.1 + 0.9).tolist())
    assert layer.num_batches_tracked.tolist() == 1


def test_running_statistics_are_state_and_no_part_of_the_graph() -> None:
    layer = nn.BatchNorm1d(2)
    names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert list(layer.state_dict()) == names
    assert [n for n, _ in layer.named_parameters()] == names[:2]
    assert [n for n, _ in layer.named_buffers()] == names[2:]
    before, saved = layer.running_mean, layer.state_dict()
    twin = copy.deepcopy(layer)
    for _ in range(2):
        layer(x().requires_grad_()).sum().backward()
    assert layer.running_mean is before
    assert layer.running_mean.requires_grad is False
    assert saved["running_mean"].tolist() == twin.running_mean.tolist() == [0.0, 0.0]
    assert saved["num_batches_tracked"].tolist() == twin.num_batches_tracked.tolist() == 0
    other = nn.BatchNorm1d(2)
    other.load_state_dict(layer.state_dict())
    assert other.eval()(x()).tolist() == layer.eval()(x()).tolist()


def test_in_use_the_running_statistics_count_and_stay() -> None:
    layer = nn.BatchNorm1d(2, eps=0.0)
    layer.load_state_dict(
        {"weight": pg.tensor([2.0, 1.0]), "bias": pg.tensor([0.0, 1.0]), "running_mean": pg.tensor([1.0, 10.0]),
         "running_var": pg.tensor([4.0, 25.0]), "num_batches_tracked": pg.tensor(7)}
    )  # fmt: skip
    y = layer.eval()(x())
    assert y[0].tolist() == [[0.0, 1.0], [1.0, 3.0]]
    assert layer(x()[:1, :, :1]).shape == (1, 2, 1)
    assert (layer.running_mean.tolist(), layer.num_batches_tracked.tolist()) == ([1.0, 10.0], 7)


def test_no_momentum_is_the_mean_of_all_batches() -> None:
    layer = nn.BatchNorm1d(2, momentum=None)
    parts = [x(), x() * 3 + 1, x() - 5]
    for part in parts:
        layer(part)
    means = [part.mean(axis=(0, 2)) for part in parts]
    assert layer.running_mean.tolist() == pytest.approx((sum(means[1:], means[0]) / 3).tolist(), rel=1e-5)
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0.0, 0.0]
    assert layer.num_batches_tracked.tolist() == 0


def test_without_running_statistics_use_is_like_training() -> None:
    layer = nn.BatchNorm1d(2, affine=False, track_running_stats=False)
    assert layer.state_dict() == {}
    assert layer(x()).tolist() == layer.eval()(x()).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_keeps_its_statistics_in_float32(dtype: str) -> None:
    layer = nn.BatchNorm1d(2)
    if dtype not in pg.device().xp.dtypes:
        pytest.skip(f"{pg.device()} has no {dtype}")
    y = layer((x() * 1000).astype(dtype))
    assert str(y.dtype) == dtype
    assert str(layer.running_var.dtype) == "float32"
    assert float(layer.running_var.max()) > 65504
    assert str(layer.eval()(x().astype(dtype)).dtype) == dtype
    assert str(nn.InstanceNorm1d(2)(x().astype(dtype)).dtype) == dtype


def test_one_value_has_no_variance_and_none_at_all_changes_nothing() -> None:
    layer = nn.BatchNorm1d(2)
    with pytest.raises(ShapeError, match=r"more than 1 value for each channel.*\(1, 2\)"):
        layer(pg.ones(1, 2))
    with pytest.raises(ShapeError, match="more than 1 spatial element"):
        nn.InstanceNorm1d(2)(pg.ones(3, 2, 1))
    with pytest.raises(ShapeError, match="more than 1 value for each group"):
        nn.GroupNorm(2, 2)(pg.ones(1, 2))
    assert layer.num_batches_tracked.tolist() == 0
    assert layer(pg.ones(0, 2)).shape == (0, 2)
    assert layer.running_var.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("value", [0.1, 100.0, 1e6])
def test_equal_numbers_give_the_bias_itself(value: float) -> None:
    t = pg.full((3, 2, 7), value)
    w, b = pg.tensor([3.0, 3.0]), pg.tensor([0.5, 0.5])
    for y in (F.batch_norm(t, None, None, w, b, True), F.instance_norm(t, None, None, w, b), F.group_norm(t, 1, w, b)):
        assert y.tolist() == [[[0.5] * 7] * 2] * 3


def test_a_large_mean_costs_no_digits() -> None:
    row = [65536.0 + 0.25 * i for i in range(16)]
    for y in (
        F.batch_norm(pg.tensor(row).reshape(16, 1), None, None, training=True).reshape(16),
        F.group_norm(pg.tensor([[row]]), 1).reshape(16),
        F.instance_norm(pg.tensor([[row]])).reshape(16),
    ):
        assert y.tolist()[::15] == pytest.approx([-1.626972, 1.626972], rel=1e-5)


def test_instance_norm_takes_each_sample_alone_with_or_without_a_batch() -> None:
    layer = nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
    y = layer(x())
    assert y[0].tolist() == [pytest.approx([-1.0, 1.0], rel=1e-4)] * 2
    assert layer.running_mean.tolist() == pytest.approx((x().mean(axis=(0, 2)) * 0.1).tolist())
    assert layer.num_batches_tracked.tolist() == 0  # as in PyTorch
    assert layer(x()[0]).tolist() == [pytest.approx([-1.0, 1.0], rel=1e-4)] * 2
    assert layer.eval()(x()[0]).shape == (2, 2)
    assert nn.InstanceNorm1d(2).state_dict() == {}


def test_group_norm_takes_neighbouring_channels_together() -> None:
    t = pg.tensor([[[1.0], [3.0], [10.0], [20.0]], [[0.0], [2.0], [5.0], [5.0]]])
    layer = nn.GroupNorm(2, 4, eps=0.0 + 1e-12)
    with pg.no_grad():
        layer.bias[...] = pg.tensor([0.0, 1.0, 2.0, 3.0])
    assert layer(t).reshape(2, 4).tolist() == [pytest.approx([-1, 2, 1, 4]), pytest.approx([-1, 2, 2, 3])]
    with pytest.raises(ValueError, match="num_groups=3"):
        nn.GroupNorm(3, 4)
    with pytest.raises(ShapeError, match="num_groups=3"):
        F.group_norm(t, 3)


def test_rms_norm_has_a_unit_mean_square_and_takes_0() -> None:
    t = pg.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    y = nn.RMSNorm(2)(t)
    assert y.tolist()[0] == pytest.approx([3 / 12.5**0.5, 4 / 12.5**0.5], rel=1e-5)
    assert y.tolist()[1] == [0.0, 0.0]
    y.sum().backward()
    assert t.grad.isfinite().all().item()
    assert list(nn.RMSNorm(2).state_dict()) == ["weight"]
    assert nn.RMSNorm(2, elementwise_affine=False).state_dict() == {}


def test_local_response_norm_divides_by_the_neighbours() -> None:
    t = pg.tensor([[[1.0], [2.0], [3.0]]])
    y = F.local_response_norm(t, 2, alpha=1.0, beta=1.0, k=1.0)
    assert y.reshape(3).tolist() == pytest.approx([1 / 1.5, 2 / 3.5, 3 / 7.5])
    assert nn.LocalResponseNorm(2, 1.0, 1.0)(t).tolist() == y.tolist()


@pytest.mark.parametrize(
    ("layer", "shape", "takes"),
    [
        (nn.BatchNorm1d(3), (2, 3, 4, 5), "(N, C) or (N, C, L)"),
        (nn.BatchNorm2d(3), (2, 3, 4), "(N, C, H, W)"),
        (nn.BatchNorm3d(3), (2, 3), "(N, C, D, H, W)"),
        (nn.InstanceNorm2d(3), (2, 3), "(C, H, W) or (N, C, H, W)"),
    ],
)
def test_what_a_layer_takes_is_told(layer: Any, shape: tuple[int, ...], takes: str) -> None:
    with pytest.raises(ShapeError) as told:
        layer(pg.ones(shape))
    for part in (type(layer).__name__, str(shape), takes):
        assert part in str(told.value)


def test_other_shapes_are_told() -> None:
    with pytest.raises(ShapeError, match=r"running_mean has shape \(3,\).* 4 channels"):
        nn.BatchNorm1d(3)(pg.ones(2, 4))
    with pytest.raises(ShapeError, match="weight has shape"):
        F.group_norm(x(), 1, pg.ones(3))
    with pytest.raises(ShapeError, match="4 channels, num_features is 3"):
        nn.InstanceNorm1d(3)(pg.ones(2, 4, 5))
    with pytest.raises(ShapeError, match="normalized_shape"):
        nn.RMSNorm(3)(pg.ones(2, 4))
    with pytest.raises(ShapeError, match="local_response_norm"):
        F.local_response_norm(pg.ones(2, 3), 2)
    with pytest.raises(ValueError, match="running_var"):
        F.batch_norm(x(), None, None)


def test_a_recorded_program_does_not_move_statistics_unseen() -> None:
    layer = nn.BatchNorm1d(2)
    with pytest.raises(GraphError, match="cannot change a tensor from outside"):
        pg.compile(lambda t: layer(t))(x())
    assert layer.running_mean.tolist() == [0.0, 0.0]
    layer.eval()
    with pg.no_grad():
        assert pg.compile(lambda t: layer(t))(x()).tolist() == layer(x()).tolist()
