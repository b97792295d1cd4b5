"""Batches of indices in the order of a sampler, shared among ranks, which resume exactly."""

from __future__ import annotations

import operator
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sized
from typing import Any, SupportsIndex
from uuid import UUID

from zrecord.errors import FeedError
from zrecord.samplers import ENDLESS, Remainder, Sampler, SamplerState, Share, Shuffle
from zrecord.samplers._checks import in_range
from zrecord.samplers._mixing import Indices
from zrecord.torch._batch import BatchIndices
from zrecord.torch._rest import Rest

_FORMAT = 1
#: Indices are made for some batches at once, as calls of NumPy cost more than a few numbers.
_AHEAD = 8192


class BatchSampler:
    """Gives the batches of a rank as tuples of indices, for ``DataLoader(dataset, batch_sampler=…)``. Belongs to one thread.

    All ranks share one order, and deliver equally many batches. An ``iter`` gives the rest of the current epoch, and the next
    ``iter`` the next epoch. After the last epoch an ``iter`` raises ``FeedError``, as does an ``iter`` while another iterator
    is amid its epoch. An iterator that was dropped, such as by ``break``, leaves the rest of its epoch to the next ``iter``.

    ``len`` is the number of batches of this rank in the iterator that is under way, or else in the next one.

    :param data: the dataset, or its number of records
    :param batch_size: records of a batch of one rank
    :param sampler: the order of all ranks together; by default ``Shuffle(len(data), seed)``
    :param seed: the seed of the default order, 42 if not given; any number of 64 bits
    :param rank: rank of this process among ``world_size`` processes; both by default those of ``torch.distributed`` if it is
        initialized, or else 0 of 1
    :param remainder: records of an epoch that do not divide by the ranks: ``drop`` or ``pad`` (repeat some)
    :param drop_remainder: whether records at the end of an epoch that do not fill a batch are left out
    :param epochs: the number of epochs, counted from epoch 0; ``None``: no end
    """

    def __init__(
        self,
        data: Sized | SupportsIndex,
        batch_size: SupportsIndex = 256,
        *,
        sampler: Sampler | None = None,
        seed: SupportsIndex | None = None,
        rank: SupportsIndex | None = None,
        world_size: SupportsIndex | None = None,
        remainder: Remainder = "drop",
        drop_remainder: bool = False,
        epochs: SupportsIndex | None = None,
    ) -> None:
        length = _length_of(data)
        if sampler is not None and seed is not None:
            raise ValueError(f"seed is {seed!r}, but the sampler {sampler!r} has its own; give one of them")
        if (rank is None) != (world_size is None):
            raise ValueError(f"rank is {rank} and world_size is {world_size}; give both or none")
        self._order = Shuffle(length, 42 if seed is None else seed) if sampler is None else _order_of_all(sampler)
        if self._order.bound > length:
            raise ValueError(
                f"The sampler {self._order!r} has indices up to {self._order.bound - 1}, but there are {length} records; "
                "make it for this dataset"
            )
        self._batch_size = in_range("batch_size", batch_size, 1, 2**31 - 1, "give the records of a batch")
        self._epochs = None if epochs is None else in_range("epochs", epochs, 1, 2**62, "give None for no end")
        self._is_given_ranks = rank is not None
        own, processes = _processes()
        self._world_size = in_range(
            "world_size", processes if world_size is None else world_size, 1, 2**31 - 1, "give the number of processes"
        )
        self._rank = in_range("rank", own if rank is None else rank, 0, self._world_size - 1, "ranks count from 0")
        if remainder not in ("drop", "pad", "uneven"):
            raise ValueError(f"Cannot sample: remainder is {remainder!r}; give 'drop' or 'pad'")
        if remainder == "uneven" and self._world_size > 1:
            raise ValueError("remainder is 'uneven', with which ranks may have different numbers of batches; give 'drop' or 'pad'")
        self._remainder: Remainder = remainder
        self._drop_remainder = drop_remainder
        if self.batches_left(0) == 0:
            raise ValueError(
                f"An epoch of {self._order!r} has no batch: {self._order.length} positions for {self._world_size} ranks, "
                f"batch_size {self._batch_size}, remainder {remainder!r}, drop_remainder {drop_remainder}; give more records "
                "or a smaller batch_size"
            )
        self._records_version = getattr(data, "records_version", None)
        commit = getattr(data, "records_commit", None)
        self._records_commit = None if commit is None else str(commit)
        self._records_digest = getattr(data, "records_digest", None)
        #: Tells whether the dataset has the records of an earlier version; not in pickles.
        self._keeps_records_of: Callable[[int, UUID], bool] | None = getattr(data, "keeps_records_of", None)
        self._identity: dict[str, Any] | None = None
        self._epoch = 0
        self._position = 0
        self._current: weakref.ref[BatchIterator] | None = None

    @property
    def sampler(self) -> Sampler:
        """Returns the order of all ranks together."""
        return self._order

    @property
    def batch_size(self) -> int:
        """Returns the records of a batch."""
        return self._batch_size

    @property
    def epoch(self) -> int:
        """Returns the epoch of the next batch. After the last batch of an epoch it is the epoch after."""
        return self._epoch

    @property
    def position(self) -> int:
        """Returns how many positions of that epoch were given to all ranks together."""
        return self._position

    def __iter__(self) -> BatchIterator:
        """Begins with the rest of the current epoch. Raises ``FeedError`` after the last epoch, or if another iterator is live."""
        if not self._is_given_ranks and _processes() != (self._rank, self._world_size):
            raise FeedError(
                f"This batch sampler was made for rank {self._rank} of {self._world_size}, but torch.distributed now says "
                f"{_processes()[0]} of {_processes()[1]}; make it after init_process_group, or give rank and world_size"
            )
        live = self._live()
        if live is not None and live.is_under_way:
            raise FeedError(
                f"Another iterator is amid epoch {self._epoch}, after {self._position} positions; finish or delete it, or call "
                "load_state_dict, such as with the state of the batch that was used last, which ends it"
            )
        if self._epochs is not None and self._epoch >= self._epochs:
            raise FeedError(
                f"The training is over: epochs is {self._epochs}, and all their batches were given; give more epochs, or "
                "call set_epoch or load_state_dict to go back"
            )
        iterator = BatchIterator(self, self._epoch, self._position)
        self._current = weakref.ref(iterator)
        return iterator

    def __len__(self) -> int:
        live = self._live()
        batches = live.batches if live is not None and live.is_under_way else self.batches_left(self._position)
        if batches == ENDLESS:
            raise TypeError(f"Epochs of {self._order!r} do not end; take(n) positions of it")
        return batches

    def batches_left(self, position: int) -> int:
        """Returns how many batches each rank has from a position of an epoch on, or ``ENDLESS``."""
        records = self._rest(position).length
        if records == ENDLESS:
            return ENDLESS
        return records // self._batch_size if self._drop_remainder else -(-records // self._batch_size)

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Goes to the beginning of an epoch, and ends a live iterator. Does nothing if the epoch is the current one."""
        number = in_range("epoch", epoch, 0, 2**62, "count epochs from 0")
        if number != self._epoch:
            self._go_to(number, 0)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state from which any number of ranks goes on after the batches that were given. Fit for JSON.

        Batches that ``DataLoader`` loads ahead in workers count as given: save ``batch.state`` of the last batch that was used
        then. ``StatefulDataLoader`` saves the right state by itself.
        """
        return self._state(self._epoch, self._position)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state of ``state_dict`` or ``batch.state``, of any number of ranks and any ``batch_size``.

        Ends a live iterator. A state at the end of an epoch goes on with the next epoch. A state of an earlier version fits if
        the table was rebalanced or got fields since, and no record was changed, moved, added or removed; the manifests in
        between are read for that. Raises ``ValueError`` for a state of another order, seed or version of the records, and for
        what is no state.
        """
        found = self._checked(state)
        is_over = self.batches_left(found.position) == 0
        self._go_to(found.epoch + is_over, 0 if is_over else found.position)

    def _go_to(self, epoch: int, position: int) -> None:
        self._current = None
        self._epoch, self._position = epoch, position

    def _live(self) -> BatchIterator | None:
        return None if self._current is None else self._current()

    def _rest(self, position: int) -> Rest:
        return Rest(self._order, position, self._rank, self._world_size, self._remainder)

    def _state(self, epoch: int, position: int) -> dict[str, Any]:
        if self._identity is None:
            records = {"datasetCommit": self._records_commit, "datasetDigest": self._records_digest}
            order = {"sampler": repr(self._order), "order": self._order.digest(), "definition": self._order.definition()}
            self._identity = {"format": _FORMAT, **records, **order}
        return {**self._identity, "state": SamplerState(self._records_version, self._order.seed, epoch, position).to_dict()}

    def _checked(self, state: Mapping[str, Any]) -> SamplerState:
        own = self._state(0, 0)
        if not isinstance(state, Mapping) or state.get("format") != _FORMAT or set(state) != set(own):
            raise ValueError(f"Cannot resume {str(state)[:200]}: it is no state of format {_FORMAT} of a BatchSampler")
        found = SamplerState.from_dict(state["state"])
        records = (found.dataset_version, state["datasetCommit"])
        if records != (self._records_version, self._records_commit) and self._has_records_of(*records):
            records = (self._records_version, self._records_commit)
        for what, theirs, ours, remedy in (
            ("version of the records", records[0], self._records_version, _data_of(found.dataset_version)),
            ("commit of the records", records[1], self._records_commit, "open the dataset that was trained on"),
            ("digest of the records", state["datasetDigest"], self._records_digest, self._of_digest(state["datasetDigest"])),
            ("definition", state["definition"], own["definition"], self._of_order(state["sampler"])),
            ("order", state["order"], own["order"], self._of_order(state["sampler"])),
            ("seed", found.seed, self._order.seed, "use that seed"),
        ):
            if theirs != ours:
                raise ValueError(f"Cannot resume: the state has {what} {theirs}, not {ours}: {remedy}, or start anew")
        in_range("position of the state", found.position, 0, self._order.length, "it is not of this order")
        return found

    def _has_records_of(self, version: int | None, commit: object) -> bool:
        """Tells whether the records are those of an earlier version, in the same order, as after a rebalance."""
        if self._keeps_records_of is None or version is None or not isinstance(commit, str):
            return False
        try:
            return self._keeps_records_of(version, UUID(commit))
        except ValueError:  # no commit
            return False

    def _of_digest(self, theirs: object) -> str:
        """Returns what to do about other records of the same version, or of a store."""
        is_of_part = any("/" in str(digest) for digest in (theirs, self._records_digest))
        if self._records_version is None and not is_of_part:
            return "the store has changed; train on a table"
        return "another part of the dataset was taken; take that part"

    def _of_order(self, theirs: object) -> str:
        """Returns what to do about another order."""
        if theirs == repr(self._order):
            return f"both are {theirs}, but with other indices, labels, weights or sources; use those of the state"
        return f"it was {theirs}, and this is {self._order!r}; use that order"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_current": None, "_keeps_records_of": None}

    def __repr__(self) -> str:
        return f"BatchSampler({self._order!r}, batch_size={self._batch_size}, rank={self._rank}, world_size={self._world_size})"


class BatchIterator(Iterator[BatchIndices]):
    """The batches of the rest of an epoch, as tuples of indices. ``BatchSampler`` makes it.

    ``state_dict`` and ``load_state_dict`` are for ``StatefulDataLoader``: unlike those of the ``BatchSampler``, a state at the end
    of an epoch has the empty rest of that epoch before it.
    """

    def __init__(self, owner: BatchSampler, epoch: int, position: int) -> None:
        self._owner = owner
        self._begin(epoch, position)

    def _begin(self, epoch: int, position: int) -> None:
        self._epoch = epoch
        self._rest = self._owner._rest(position)
        #: The number of batches from the first to the last, or ``ENDLESS``.
        self.batches = self._owner.batches_left(position)
        self._given = 0
        self._ahead: Indices | None = None
        self._ahead_from = 0

    @property
    def is_under_way(self) -> bool:
        """Tells whether some but not all batches were given."""
        return 0 < self._given < self.batches

    def __next__(self) -> BatchIndices:
        owner = self._owner
        if owner._live() is not self:
            raise FeedError("This iterator was ended by another one, by load_state_dict or by set_epoch; use that of the last iter")
        if self._given == self.batches:
            raise StopIteration
        start = self._given * owner._batch_size
        if self._ahead is None or start - self._ahead_from >= self._ahead.size:
            self._read_ahead(start)
        assert self._ahead is not None
        array = self._ahead[start - self._ahead_from :][: owner._batch_size].copy()
        self._given += 1
        if self._given == self.batches:
            owner._epoch, owner._position = self._epoch + 1, 0
        else:
            owner._epoch, owner._position = self._epoch, self._position()
        return BatchIndices(array, self._epoch, owner.state_dict())

    def _read_ahead(self, start: int) -> None:
        batch_size = self._owner._batch_size
        until = start + max(1, _AHEAD // batch_size) * batch_size
        self._ahead = self._rest.indices(self._epoch, start, min(until, self._rest.length))
        self._ahead_from = start

    def _position(self) -> int:
        """Returns the position in the order of all ranks; its length after the last batch."""
        if self._given == self.batches:
            return self._owner._order.length
        return self._rest.global_position(self._given * self._owner._batch_size)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state after the batches that were given."""
        return self._owner._state(self._epoch, self._position())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on with the rest of the epoch of a state, which is empty after its last batch."""
        owner = self._owner
        found = owner._checked(state)
        if owner._epochs is not None and found.epoch >= owner._epochs:
            raise FeedError(f"The state is of epoch {found.epoch}, but epochs is {owner._epochs}; give more epochs")
        self._begin(found.epoch, found.position)
        is_over = self.batches == 0
        owner._go_to(found.epoch + is_over, 0 if is_over else found.position)
        owner._current = weakref.ref(self)


def _length_of(data: object) -> int:
    """Returns the number of records of what a ``BatchSampler`` is made of."""
    if isinstance(data, (str, bytes, os.PathLike)):
        raise TypeError(f"data is {data!r}, which is a path; give zrecord.torch.Dataset(path), or the number of records")
    if not hasattr(data, "records_version"):
        kind = type(data).__name__
        if hasattr(data, "dataset"):
            raise TypeError(
                f"data is a {kind} of another dataset, whose batches would have no state; give the whole zrecord.torch.Dataset to "
                "BatchSampler and DataLoader, with sampler=Listed(indices, Shuffle(len(indices), seed)) of zrecord.samplers"
            )
        if hasattr(data, "datasets"):
            raise TypeError(
                f"data is a {kind} of several datasets, whose batches would have no state; make a BatchSampler and a DataLoader "
                "for each of them"
            )
    if isinstance(data, Sized):
        return len(data)
    try:
        return operator.index(data)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"data is a {type(data).__name__}, which has no length; give zrecord.torch.Dataset(path), or the number of records"
        ) from None


def _order_of_all(sampler: object) -> Sampler:
    """Returns the sampler if it is an order of all ranks."""
    if not isinstance(sampler, Sampler):
        raise TypeError(
            f"sampler is a {type(sampler).__name__}, not an order of zrecord.samplers; give one, such as Listed(indices) for a list"
        )
    todo: list[Sampler] = [sampler]
    while todo:
        part = todo.pop()
        if isinstance(part, Share):
            raise ValueError(
                f"sampler is {sampler!r}, in which {part!r} is the share of one rank, which would be shared once more; give the "
                "order of all ranks, as BatchSampler shares it"
            )
        todo += part._parts()
    return sampler


def _data_of(version: int | None) -> str:
    """Returns what to give a ``BatchSampler`` for the records of a version."""
    if version is None:
        return "the state is of a store or a number of records; give that"
    return f"give Dataset(path, version={version})"


def _processes() -> tuple[int, int]:
    """Returns the rank and the number of processes of ``torch.distributed``, or 0 and 1. Does not import it."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()
