"""What core asks this package for; imports NumPy only when a device is wanted, a kernel only when its op first runs."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from plugrad.backend import Unavailable
from plugrad.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad.backend import Backend

#: Name of the op → the file in `kernels` and the name of its kernel there.
KERNELS = {
    "plugrad.Mend": "mend:mend",
    "plugrad.Softmax": "softmax:softmax",
    "plugrad.LogSoftmax": "softmax:log_softmax",
    "plugrad.LogSumExp": "softmax:logsumexp",
    "plugrad_nn.Attention": "attention:attention",
    "plugrad_nn.AttentionWeights": "attention:attention_weights",
    "plugrad_nn.LayerNorm": "norm:layer_norm",
    "plugrad_nn.BatchNorm": "norm:batch_norm",
    "plugrad_nn.RMSNorm": "norm:rms_norm",
    "plugrad_nn.Rescale": "norm:rescaled",
    "plugrad.Gelu": "activation:gelu_exact",
    "plugrad.GeluTanh": "activation:gelu_fit",
    "plugrad.Silu": "activation:silu_alone",
    "plugrad_nn.BiasActivation": "activation:bias_activation",
    "plugrad_nn.Linear": "linear:linear",
    "plugrad_optim.Each": "optim:each",
    "plugrad_nn.RNN": "recurrent:rnn",
    "plugrad_nn.GRU": "recurrent:gru",
    "plugrad_nn.LSTM": "recurrent:lstm",
    "plugrad_nn.ProjectedLSTM": "recurrent:projected_lstm",
    "plugrad_nn.CrossEntropy": "loss:cross_entropy",
    "plugrad_nn.SoftCrossEntropy": "loss:soft_cross_entropy",
    "plugrad_nn.NLL": "loss:nll",
    "plugrad_nn.BCEWithLogits": "loss:bce_with_logits",
    "plugrad_nn.SquaredError": "loss:squared_error",
    "plugrad_nn.Huber": "loss:huber",
    "plugrad_nn.Embedding": "embedding:embedding",
    "plugrad_nn.EmbeddingBag": "embedding:embedding_bag",
    "plugrad_nn.CTC": "ctc:ctc",
    "plugrad_nn.Conv": "conv:conv",
    "plugrad_nn.BiasedConv": "conv:conv",
    "plugrad_nn.ConvTranspose": "conv:conv_transpose",
    "plugrad_nn.BiasedConvTranspose": "conv:conv_transpose",
    "plugrad_nn.ConvWeight": "conv:conv_weight",
    "plugrad_nn.MaxPool": "pool:max_pool",
    "plugrad_nn.AvgPool": "pool:avg_pool",
    "plugrad_nn.AvgSpread": "pool:avg_spread",
}


@hookimpl
def plugrad_available() -> Unavailable | None:
    return None if find_spec("numpy") else Unavailable("NumPy is not installed", "pip install numpy")


@hookimpl
def plugrad_backend() -> Backend:
    from ._backend import NumPyBackend

    return NumPyBackend()


@hookimpl
def plugrad_kernels(register: Callable[..., None]) -> None:
    for op, place in KERNELS.items():
        register("numpy", op, _loader(place))


def _loader(place: str) -> Callable[[], Any]:
    def load() -> Any:
        module, _, name = place.partition(":")
        return getattr(import_module(f"plugrad_numpy.kernels.{module}"), name)

    return load
