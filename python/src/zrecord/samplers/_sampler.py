"""What all samplers do, and what they are composed to (SAMPLERS.md sections 1 and 10)."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, SupportsIndex

import numpy as np

from zrecord._crc32c import crc32c
from zrecord.samplers._checks import MAX_LENGTH, Floats, in_range
from zrecord.samplers._mixing import Indices, Words

#: Length of an epoch that does not end.
ENDLESS = 2**63 - 1
#: What ranks do with the last positions of an epoch that do not divide by the number of ranks.
Remainder = Literal["drop", "pad", "uneven"]

_DIGESTED = 64
_FARTHEST_DIGESTED = 2**20
_PASS_BITS = 32
#: Positions and words are worked on in parts, which bounds the memory for what is made on the way.
_TOGETHER = 2**16


class Sampler(ABC):
    """Orders records: says which index is at which position of an epoch.

    A sampler is a pure function of its seed, the epoch and the position, and remembers nothing between calls. So any
    position is reached at once, and every thread, rank and process sees the same order. Immutable; pickles.
    """

    @property
    @abstractmethod
    def length(self) -> int:
        """Returns the number of positions of an epoch, or ``ENDLESS``."""

    @property
    @abstractmethod
    def bound(self) -> int:
        """Returns a number that is above every index."""

    @property
    def seed(self) -> int:
        """Returns the seed of the order; 0 for an order without one."""
        return 0

    @property
    def is_endless(self) -> bool:
        """Tells whether an epoch has no end."""
        return self.length == ENDLESS

    def __len__(self) -> int:
        """Returns the number of positions of an epoch; raises ``TypeError`` if an epoch has no end."""
        if self.is_endless:
            raise TypeError(f"Epochs of {self!r} do not end; take(n) positions of it")
        return self.length

    def __bool__(self) -> bool:
        return True

    def indices(self, epoch: SupportsIndex, start: SupportsIndex, stop: SupportsIndex) -> Indices:
        """Returns the indices at the positions from ``start`` to ``stop`` of an epoch, as an array of int64.

        Raises ``IndexError`` if the epoch is not in ``[0, 2⁶³)`` or ``[start, stop)`` is not within ``[0, length)``. Ask for 256
        indices or more in a call: a call takes some 30 µs, and each index some 20 ns.
        """
        first, last, number = start.__index__(), stop.__index__(), epoch.__index__()
        if not 0 <= number < 2**63 or not 0 <= first <= last <= self.length:
            raise IndexError(
                f"Cannot give positions {first} to {last} in epoch {number} of {self!r}: positions are in [0, {self.length}], "
                "epochs in [0, 2⁶³); ask for fewer, or go on in the next epoch"
            )
        found = np.empty(last - first, np.int64)
        for at in range(0, found.size, _TOGETHER):
            count = min(_TOGETHER, found.size - at)
            found[at : at + count] = self._fill(number, first + at, 1, count)
        return found

    @abstractmethod
    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        """Returns the indices at ``start``, ``start + step``, …, at least one of them, all within the epoch."""

    def digest(self) -> str:
        """Returns eight hexadecimal digits that tell orders apart by their length and some indices of epoch 0, as in Java."""
        parts = [np.array([self.length])]
        for step in (1, min(self.length, _FARTHEST_DIGESTED) // _DIGESTED):
            if step and self.length:
                parts.append(self._fill(0, 0, step, min(_DIGESTED, self.length // step)))
        return f"{crc32c(np.concatenate(parts).astype('>i8').tobytes()):08x}"

    def definition(self) -> str:
        """Returns 16 hexadecimal digits that tell orders apart by all that defines them, such as the labels of each record."""
        return hashlib.sha256(self._text().encode("ascii")).hexdigest()[:16]

    @abstractmethod
    def _text(self) -> str:
        """Returns the order in the form of SAMPLERS.md section 1."""

    def _parts(self) -> Sequence[Sampler]:
        """Returns the orders that this one is made of."""
        return ()

    def skip(self, count: SupportsIndex) -> Sampler:
        """Returns this order without its first positions, in every epoch."""
        first = in_range("count to skip", count, 0, self.length, "skip at most an epoch")
        return _Slice(self, first, ENDLESS if self.is_endless else self.length - first)

    def take(self, count: SupportsIndex) -> Sampler:
        """Returns the first positions of this order, in every epoch."""
        return _Slice(self, 0, in_range("count to take", count, 0, self.length, "take at most an epoch, or repeat() first"))

    def repeat(self, times: SupportsIndex | None = None) -> Sampler:
        """Joins several epochs into one: pass ``p`` of epoch ``e`` is epoch ``e·times + p`` of this order.

        Without a number the joined epoch does not end: pass ``p < 2³²`` of epoch ``e < 2³¹`` is epoch ``e·2³² + p``.
        """
        if times is None:
            return self if self.is_endless or self.length == 0 else _Repeat(self, 0)
        most = MAX_LENGTH // self.length if 0 < self.length < ENDLESS else 2**63 - 1
        passes = in_range("times", times, 1, most, "repeat() without a number is endless")
        return self if self.is_endless else _Repeat(self, passes)

    def with_epoch(self, epoch: SupportsIndex) -> Sampler:
        """Returns the order of one epoch for all epochs, such as for a validation."""
        return _FixedEpoch(self, in_range("epoch", epoch, 0, 2**63 - 1, "count epochs from 0"))

    def share(self, rank: SupportsIndex, world_size: SupportsIndex, remainder: Remainder = "drop") -> Share:
        """Returns the share of one of several processes: positions ``rank``, ``rank + world_size``, … of this order.

        :param remainder: what becomes of the last positions if the length is no multiple of ``world_size``: ``drop`` leaves
            them out, ``pad`` begins the epoch again until every rank has as many, and ``uneven`` gives them to the first ranks
        """
        return Share(self, rank, world_size, remainder)


def array_text(values: Indices | Floats) -> str:
    """Returns the number of the values and a digest of them."""
    words = values.dtype.newbyteorder(">")
    found = hashlib.sha256()
    for at in range(0, values.size, _TOGETHER):
        found.update(values[at : at + _TOGETHER].astype(words).tobytes())
    return f"{values.size}:{found.hexdigest()[:16]}"


def endless_epoch(order: Sampler, epoch: int, number: int) -> int:
    """Returns the epoch of what is repeated that is a pass of an epoch without end; raises ``ValueError`` beyond the last one."""
    if epoch >= 2 ** (_PASS_BITS - 1) or number >= 2**_PASS_BITS:
        raise ValueError(
            f"Cannot give pass {number} of epoch {epoch} of {order!r}: passes are below 2³² and epochs below 2³¹; "
            "begin the next epoch"
        )
    return epoch << _PASS_BITS | number


def places(start: int, step: int, count: int) -> Words:
    """Returns ``start``, ``start + step``, …"""
    rising = np.arange(count, dtype=np.uint64)
    if step != 1:
        rising *= np.uint64(step)
    rising += np.uint64(start)
    return rising


class _Composed(Sampler):
    """An order of the indices of another one."""

    def __init__(self, base: Sampler) -> None:
        self._base = base

    @property
    def bound(self) -> int:
        return self._base.bound

    def _parts(self) -> Sequence[Sampler]:
        return (self._base,)

    @property
    def seed(self) -> int:
        return self._base.seed


class _Slice(_Composed):
    """Gives a run of positions of another order."""

    def __init__(self, base: Sampler, first: int, length: int) -> None:
        super().__init__(base)
        self._first = first
        self._length = length

    @property
    def length(self) -> int:
        return self._length

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        return self._base._fill(epoch, self._first + start, step, count)

    def _text(self) -> str:
        return f"{self._base._text()}.slice({self._first},{self._length})"

    def __repr__(self) -> str:
        if self._length == self._base.length - self._first or self.is_endless:
            return f"{self._base!r}.skip({self._first})"
        return f"{self._base!r}.take({self._length})"


class _Repeat(_Composed):
    """Gives epochs of another order one after the other; ``times`` is 0 for an epoch without end."""

    def __init__(self, base: Sampler, times: int) -> None:
        super().__init__(base)
        self._times = times

    @property
    def length(self) -> int:
        return self._base.length * self._times if self._times else ENDLESS

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        parts = []
        while count:
            at, inside = divmod(start, self._base.length)
            run = min(count, -(-(self._base.length - inside) // step))
            parts.append(self._base._fill(self._epoch(epoch, at), inside, step, run))
            start += run * step
            count -= run
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _epoch(self, epoch: int, number: int) -> int:
        if not self._times:
            return endless_epoch(self, epoch, number)
        joined = epoch * self._times + number
        if joined >= 2**63:
            raise ValueError(
                f"Cannot give pass {number} of epoch {epoch} of {self!r}: that is epoch {joined} of what is repeated, and "
                "epochs are below 2⁶³; begin at an earlier epoch"
            )
        return joined

    def _text(self) -> str:
        return f"{self._base._text()}.repeat({self._times or ''})"

    def __repr__(self) -> str:
        return f"{self._base!r}.repeat({self._times or ''})"


class _FixedEpoch(_Composed):
    """Gives one epoch of another order in every epoch."""

    def __init__(self, base: Sampler, epoch: int) -> None:
        super().__init__(base)
        self._epoch = epoch

    @property
    def length(self) -> int:
        return self._base.length

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        return self._base._fill(self._epoch, start, step, count)

    def _text(self) -> str:
        return f"{self._base._text()}.withEpoch({self._epoch})"

    def __repr__(self) -> str:
        return f"{self._base!r}.with_epoch({self._epoch})"


class Share(_Composed):
    """The share of one rank of an order that all ranks agree on.

    A run resumes from a position in the order of all ranks, which does not depend on their number: ``global_position``
    returns it, and ``resume_at`` goes on from it with any number of ranks.
    """

    def __init__(self, base: Sampler, rank: SupportsIndex, world_size: SupportsIndex, remainder: Remainder = "drop") -> None:
        super().__init__(base)
        if remainder not in ("drop", "pad", "uneven"):
            raise ValueError(f"Cannot sample: remainder is {remainder!r}; give 'drop', 'pad' or 'uneven'")
        self._world_size = in_range("world_size", world_size, 1, 2**31 - 1, "give the number of processes")
        self._rank = in_range("rank", rank, 0, self._world_size - 1, "ranks count from 0")
        self._remainder: Remainder = remainder

    @property
    def length(self) -> int:
        """Returns the positions of this rank in an epoch, or ``ENDLESS``."""
        if self._base.is_endless:
            return ENDLESS
        each, left = divmod(self._base.length, self._world_size)
        return each + {"drop": 0, "pad": int(left > 0), "uneven": int(self._rank < left)}[self._remainder]

    def global_position(self, position: SupportsIndex) -> int:
        """Returns how far the order of all ranks is consumed when every rank has consumed ``position`` of its own."""
        own = in_range("position", position, 0, self.length, "give a position of this share")
        return min(own * self._world_size, self._base.length)

    def resume_at(self, global_position: SupportsIndex) -> Share:
        """Returns the share of what is left of an epoch, whatever number of ranks consumed the positions before.

        Use it for that epoch only: it leaves out the consumed positions in every epoch.
        """
        return self._base.skip(global_position).share(self._rank, self._world_size, self._remainder)

    def _fill(self, epoch: int, start: int, step: int, count: int) -> Indices:
        first, stride = start * self._world_size + self._rank, step * self._world_size
        last = first + (count - 1) * stride
        if last < self._base.length:
            return self._base._fill(epoch, first, stride, count)
        repeated = self._base._fill(epoch, last % self._base.length, 1, 1)
        return repeated if count == 1 else np.concatenate([self._base._fill(epoch, first, stride, count - 1), repeated])

    def _text(self) -> str:
        return f"{self._base._text()}.share({self._rank},{self._world_size},{self._remainder})"

    def __repr__(self) -> str:
        return f"{self._base!r}.share({self._rank}, {self._world_size}, {self._remainder!r})"
