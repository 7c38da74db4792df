"""Case rows of attention: masks of each kind, rows that no key is left to."""

from math import inf

from plugrad.testing.case import case, exactly, real

from .. import functional as F
from .. import ops
from .door import through

Attention, Weights, Rotary = ops.Attention, ops.AttentionWeights, ops.Rotary
attention, weights = F.scaled_dot_product_attention, F.attention_weights
QKV = real(2, 3, 5), real(2, 4, 5), real(2, 4, 6)
KEEP = exactly([[True, False, True, True], [False, False, False, False], [False, True, True, False]], "bool")
LOW = exactly([[0.5, -inf, 0.0, -1.0], [-inf, -inf, -inf, -inf], [-inf, 0.25, 0.0, 2.0]])

ROWS = [
    case(Attention, attention, *QKV),
    case(Attention, attention, real(3, 5), real(4, 5), real(4, 2), label="one head"),
    case(Attention, attention, *QKV, KEEP, label="mask"),
    case(Attention, attention, *QKV, LOW, label="-∞"),
    case(Attention, attention, *QKV, real(2, 3, 4), label="bias"),
    case(Attention, lambda q, k, v, m: attention(q, k, v, m, 0.0, True, 0.7), *QKV, real(1, 4), label="causal bias"),
    case(Attention, lambda q, k, v: attention(q, k, v, is_causal=True), *QKV, label="causal"),
    case(Attention, lambda q, k, v: attention(q, k, v, is_causal=True, offset=1), *QKV, label="offset"),
    case(Attention, lambda q, k, v: attention(q, k, v, is_causal=True, offset=-1), *QKV, label="none for the first"),
    case(Attention, attention, real(2, 1, 3, 5), real(2, 4, 5), real(3, 1, 1, 4, 2), label="batches"),
    case(
        Attention,
        lambda q, k, v, m: attention(q, k, v, m, is_causal=True, enable_gqa=True),
        real(2, 6, 3, 2), real(2, 2, 4, 2), real(2, 2, 4, 3), real(6, 3, 4), label="groups",
    ),
    case(Attention, attention, real(2, 0, 5), real(2, 4, 5), real(2, 4, 6), label="no queries"),
    case(Attention, attention, real(2, 3, 5), real(2, 0, 5), real(2, 0, 6), label="no keys"),
    case(Attention, attention, real(0, 3, 5), real(0, 4, 5), real(0, 4, 6), label="no batch"),
    case(Weights, weights, *QKV[:2]),
    case(Weights, weights, *QKV[:2], KEEP, label="mask"),
    case(Weights, weights, *QKV[:2], LOW, label="-∞"),
    case(Weights, lambda q, k, m: weights(q, k, m, True, 0.7, offset=1), *QKV[:2], real(2, 1, 4), label="causal bias"),
    case(Weights, weights, real(2, 1, 3, 5), real(3, 4, 5), label="batches"),
    case(Weights, weights, real(2, 3, 5), real(2, 0, 5), label="no keys"),
    case(Rotary, through(Rotary(False)), real(2, 3, 6), real(3, 3), real(3, 3)),
    case(Rotary, through(Rotary(True)), real(2, 3, 6), real(3, 3), real(3, 3), label="interleaved"),
    case(Rotary, through(Rotary(False)), real(2, 3, 7), real(3, 2), real(3, 2), label="partial"),
    case(Rotary, through(Rotary(True)), real(3, 7), real(2, 3, 2), real(2, 3, 2), label="partial, interleaved"),
    case(Rotary, through(Rotary(True)), real(2, 0, 4), real(0, 2), real(0, 2), label="no places"),
]  # fmt: skip
