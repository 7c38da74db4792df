"""What attention remembers of the tokens before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.call import wrap
from plugrad.context import current, nullcontext
from plugrad.errors import DeviceError, DTypeError, ShapeError

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["KVCache"]


class KVCache:
    """Keys and values of all tokens so far, for one attention layer of a model that makes one token after another.

        cache = nn.KVCache()                                            one for each layer
        q, k = rotary(q, len(cache)), rotary(k, len(cache))             (..., heads, n, d), of the new tokens
        k, v = cache.append(k, v)                                       (..., heads, t, d), of all tokens
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True, offset=len(cache) - n)

    capacity    room for so many tokens from the start; it doubles where there is no more

    Where nothing is recorded (`no_grad`) new tokens are written behind the old ones, which stay where they are. With
    gradients they are joined as by `concat`, and the way back goes through all of them.
    """

    def __init__(self, capacity: int = 0) -> None:
        self.capacity = capacity
        self.reset()

    def reset(self) -> None:
        """Forget everything, the dtype and the device too."""
        self._held: tuple[Tensor, ...] = ()
        self._rooms: tuple[Any, ...] = ()
        self._used = 0  # tokens in the rooms that somebody may look at

    def __len__(self) -> int:
        """How many tokens there are: the position of the next one."""
        return self._held[0].shape[-2] if self._held else 0

    @property
    def keys(self) -> Tensor | None:
        """(..., t, d); None before the first."""
        return _own(self._held[0]) if self._held else None

    @property
    def values(self) -> Tensor | None:
        """(..., t, e); None before the first."""
        return _own(self._held[1]) if self._held else None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Put n tokens, key (..., n, d) and value (..., n, e), behind those that are there; returns all of them."""
        new = key, value
        self._check(new)
        state = current.get()
        if state.watchers or (state.recording and any(x.requires_grad for x in (*self._held, *new))):
            pairs = zip(self._held, new, strict=True) if self._held else [(x,) for x in new]
            self._held, self._rooms = tuple([pg.concat(xs, axis=-2) for xs in pairs]), ()
        else:
            with key.device.backend.guard(key.device.index) or nullcontext:
                self._held = self._written(new)
        return _own(self._held[0]), _own(self._held[1])

    def crop(self, length: int) -> None:
        """Keep the first `length` tokens (-n: all but the last n), as if the others had never come."""
        t = len(self)
        keep = max(t + length, 0) if length < 0 else length
        if keep > t:
            raise ShapeError(f"KVCache.crop: there are {t} tokens, of which {length} cannot be kept")
        self._held = tuple([x[..., :keep, :] for x in self._held])

    def _written(self, new: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """All tokens, the new ones written into room that nobody looks at yet."""
        start, stop = len(self), len(self) + new[0].shape[-2]
        if not self._rooms or stop > self._rooms[0].shape[-2] or start < self._used:
            self._rooms = tuple([self._room(i, x, stop) for i, x in enumerate(new)])
        for room, x in zip(self._rooms, new, strict=True):
            room[..., start:stop, :] = x.data
        self._used = stop
        return tuple([wrap(room[..., :stop, :], x.device) for room, x in zip(self._rooms, new, strict=True)])

    def _room(self, i: int, x: Tensor, stop: int) -> Any:
        """Twice the room there was, with the tokens so far."""
        size = self._rooms[i].shape[-2] if self._rooms else 0
        size = size if stop <= size else max(2 * size, stop, self.capacity)
        room = x.device.xp.zeros((*x.shape[:-2], size, x.shape[-1]), dtype=x.data.dtype)
        if self._held:
            room[..., : len(self), :] = self._held[i].data
        return room

    def _check(self, new: tuple[Tensor, ...]) -> None:
        """The new tokens are as many keys as values, and like the old ones."""
        key, value = new
        if min(key.ndim, value.ndim) < 2 or key.shape[:-1] != value.shape[:-1]:
            raise ShapeError(f"KVCache: key {key.shape} and value {value.shape}; they are (..., n, d) and (..., n, e)")
        for name, x, old in zip(("key", "value"), new, self._held, strict=False):
            if (*x.shape[:-2], x.shape[-1]) != (*old.shape[:-2], old.shape[-1]):
                raise ShapeError(f"KVCache: {name} {x.shape} behind {old.shape}; only axis -2, the tokens, may differ")
            if x.dtype is not old.dtype:
                raise DTypeError(f"KVCache: {name} is {x.dtype}, what it holds {old.dtype}; cast it, or reset() first")
            if x.device is not old.device:
                raise DeviceError(f"KVCache: {name} is on {x.device}, what it holds on {old.device}; reset() first")


def _own(x: Tensor) -> Tensor:
    """The same value as a tensor of its own: `k *= 2` outside does not reach what is held."""
    return wrap(x.data, x.device, x.node)  # type: ignore[no-any-return]
