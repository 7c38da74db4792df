"""The ops of losses against PyTorch: each case row in float32, values and gradients."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from against_torch import against
from torch.nn import functional as TF

if TYPE_CHECKING:
    import torch

none = {"reduction": "none"}
ce, bce, kl = (partial(f, **none) for f in (TF.cross_entropy, TF.binary_cross_entropy, TF.kl_div))
many, multi = (partial(f, **none) for f in (TF.multilabel_margin_loss, TF.multi_margin_loss))


def plain_nll(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return TF.nll_loss(x, y, reduction="none")


def shared_bce(x: torch.Tensor, t: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return TF.binary_cross_entropy_with_logits(x, t, pos_weight=p.detach(), reduction="none")


#: name of the case → the same in PyTorch
ROWS = {
    "plugrad_nn.CrossEntropy": ce,
    "plugrad_nn.CrossEntropy/vector": ce,
    "plugrad_nn.CrossEntropy/places": ce,
    "plugrad_nn.CrossEntropy/far out": ce,
    "plugrad_nn.CrossEntropy/smooth": partial(ce, label_smoothing=0.2),
    "plugrad_nn.CrossEntropy/smooth far out": partial(ce, label_smoothing=0.2),
    "plugrad_nn.NLL": plain_nll,
    "plugrad_nn.NLL/vector": plain_nll,
    "plugrad_nn.NLL/images": plain_nll,
    "plugrad_nn.SoftCrossEntropy": ce,
    "plugrad_nn.SoftCrossEntropy/places": ce,
    "plugrad_nn.BCEWithLogits": shared_bce,
    "plugrad_nn.BinaryCrossEntropy": bce,
    "plugrad_nn.KLDiv": kl,
    "plugrad_nn.KLDiv/logs": partial(kl, log_target=True),
    "plugrad_nn.SquaredError": partial(TF.mse_loss, **none),
    "plugrad_nn.AbsoluteError": partial(TF.l1_loss, **none),
    "plugrad_nn.Huber": partial(TF.huber_loss, delta=0.7, **none),
    "plugrad_nn.Huber/smooth": partial(TF.smooth_l1_loss, beta=0.5, **none),
    "plugrad_nn.PoissonNLL": partial(TF.poisson_nll_loss, **none),
    "plugrad_nn.PoissonNLL/full": partial(TF.poisson_nll_loss, log_input=False, full=True, eps=0.01, **none),
    "plugrad_nn.GaussianNLL": partial(TF.gaussian_nll_loss, eps=0.25, **none),
    "plugrad_nn.GaussianNLL/full": partial(TF.gaussian_nll_loss, eps=0.25, full=True, **none),
    "plugrad_nn.GaussianNLL/held": partial(TF.gaussian_nll_loss, eps=0.25, **none),
    "plugrad_nn.HingeEmbedding": partial(TF.hinge_embedding_loss, margin=1.5, **none),
    "plugrad_nn.MarginRanking": partial(TF.margin_ranking_loss, margin=0.3, **none),
    "plugrad_nn.SoftMargin": lambda x, t: TF.soft_margin_loss(x, t.detach(), **none),
    "plugrad_nn.MultiMargin": partial(multi, margin=0.9),
    "plugrad_nn.MultiMargin/squared": partial(multi, p=2, margin=1.1),
    "plugrad_nn.MultiMargin/vector": partial(multi, margin=0.9),
    "plugrad_nn.MultiLabelMargin": many,
    "plugrad_nn.MultiLabelMargin/vector": many,
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])
