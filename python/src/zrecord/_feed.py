"""Batches for training."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import TracebackType
from typing import Any

import numpy as np

from zrecord._engine import BATCH, END, Engine
from zrecord._location import is_remote, local_path
from zrecord._ragged import Ragged
from zrecord._schema import STORED
from zrecord.errors import FeedError

Array = np.ndarray[Any, Any]
Values = Array | Ragged
_START_SECONDS = 600.0
_BATCH_WORDS = 6
_FIELD_WORDS = 5
_DTYPES = {**STORED, "timestamp": "<M8[us]", "timestamp_ntz": "<M8[us]"}
_PLAIN = frozenset(_DTYPES) - {"date", "bool"} | {"bytes", "utf8"}


class Batch(dict[str, Any]):
    """Values by field: arrays whose first axis counts the records, or ``Ragged`` if lengths differ."""

    __slots__ = ("epoch", "index", "marks", "number")

    def __init__(self, epoch: int, number: int, index: Array) -> None:
        super().__init__()
        #: Counted from 0.
        self.epoch = epoch
        #: Number of batches before this one, since the very beginning of the training.
        self.number = number
        #: The records' indices in the dataset.
        self.index = index
        #: Which values are absent, for fields with absent values.
        self.marks: dict[str, Array] = {}

    def absent(self, field: str) -> Array:
        """Returns which records have no value of a field; such values are zeros, or empty."""
        if field not in self:
            raise KeyError(f"Field '{field}' is not in the batch; its fields are {list(self)}")
        marks = self.marks.get(field)
        return np.zeros(len(self.index), bool) if marks is None else marks


class _Field:
    """Makes arrays of the values of a field."""

    def __init__(self, json: dict[str, Any]) -> None:
        self.name: str = json["name"]
        self._type: str = json["dtype"]
        self._shape: tuple[int, ...] = tuple(json["shape"])
        self._dtype = np.dtype(_DTYPES.get(self._type, "u1"))
        self._element_bytes = self._dtype.itemsize
        self._scale = 0
        self._is_decimal = self._type.startswith("decimal")
        if self._is_decimal:
            precision, self._scale = map(int, self._type[len("decimal(") : -1].split(","))
            self._element_bytes = 4 if precision <= 9 else 8 if precision <= 18 else 16

    def values(self, memory: Array, count: int, at: int, length: int, steps: int, ends_at: int) -> Values:
        """Returns the values that begin at a place: of one shape, padded to a number of steps, or with ends of their own."""
        if steps < 0 and ends_at < 0:
            shape: tuple[int, ...] = (count, *self._shape)
        elif ends_at < 0:
            shape = (count, steps, *self._shape[1:])
        if ends_at < 0 and self._type in _PLAIN:
            return np.ndarray(shape, self._dtype, memory, at)
        raw = memory[at : at + length]
        if ends_at < 0:
            return self._shown(raw).reshape(shape)
        offsets = np.zeros(count + 1, np.int64)
        offsets[1:] = np.ndarray((count,), "<i4", memory, ends_at)
        tail = self._shape[1:]
        step_bytes = self._element_bytes * int(np.prod(tail, dtype=np.int64))
        if step_bytes == 0:
            return Ragged(self._shown(raw).reshape(0, *tail), offsets, self._type)
        return Ragged(self._shown(raw).reshape(-1, *tail), offsets // step_bytes, self._type)

    def _shown(self, raw: Array) -> Array:
        if self._is_decimal:
            decimals = np.empty(len(raw) // self._element_bytes, object)
            data = raw.tobytes()
            for i in range(len(decimals)):
                unscaled = data[i * self._element_bytes : (i + 1) * self._element_bytes]
                decimals[i] = Decimal(f"{int.from_bytes(unscaled, 'little', signed=True)}E-{self._scale}")
            return decimals
        if self._type == "bool":
            return raw != 0
        elements = raw.view(self._dtype)
        return elements.astype("M8[D]") if self._type == "date" else elements


def _checked_indices(indices: Sequence[int] | Array) -> Array:
    """Returns whole numbers; a mask or floats would name other records than meant."""
    found = np.asarray(indices)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and len(found) > 0):
        raise ValueError(
            f"indices are an array of {found.ndim} dimensions of {found.dtype}; give a list of whole numbers,"
            " np.flatnonzero(mask) for a mask"
        )
    return found.astype(np.int64)


class Feed(Iterator[Batch]):
    """Batches one after the other, epoch by epoch. See ``feed``. Belongs to one thread."""

    def __init__(
        self,
        arguments: Sequence[str],
        indices: Sequence[int] | Array | None,
        depth: int,
        timeout: float,
        writable: bool,
    ) -> None:
        self._arguments = list(arguments)
        self._indices = None if indices is None else _checked_indices(indices)
        self._depth = depth
        self._timeout = timeout
        self._writable = writable
        self._engine: Engine | None = None
        self._header: dict[str, Any] = {}
        self._fields: list[_Field] = []
        self._words = struct.Struct("")
        self._loaded: str | None = None
        self._state = b""
        self._is_over = False
        self._is_closed = False

    def __iter__(self) -> Feed:
        return self

    def __next__(self) -> Batch:
        if self._is_over:
            raise StopIteration
        engine = self._engine or self._start()
        kind, payload = engine.message(self._timeout)
        if kind == END:
            self._is_over = True
            engine.close()
            raise StopIteration
        assert kind == BATCH
        return self._batch(engine, payload)

    def _batch(self, engine: Engine, payload: memoryview) -> Batch:
        words = self._words.unpack_from(payload)
        number, count, epoch, before, memory_bytes, index_at = words[:_BATCH_WORDS]
        memory = engine.lease(number, memory_bytes)
        batch = Batch(epoch, before, np.ndarray((count,), np.int64, memory, index_at))
        at = _BATCH_WORDS
        for field in self._fields:
            values_at, length, steps, ends_at, absent_at = words[at : at + _FIELD_WORDS]
            batch[field.name] = field.values(memory, count, values_at, length, steps, ends_at)
            if absent_at >= 0:
                batch.marks[field.name] = np.ndarray((count,), bool, memory, absent_at)
            at += _FIELD_WORDS
        self._state = payload[self._words.size :].tobytes()
        return batch

    def _start(self) -> Engine:
        if self._is_closed:
            raise FeedError("The feed is closed; begin another one")
        with contextlib.ExitStack() as until_header:
            arguments = list(self._arguments)
            if self._loaded is not None:
                arguments += ["--resume", self._loaded]
            if self._indices is not None:
                file = until_header.enter_context(tempfile.NamedTemporaryFile("w", prefix="zrecord-indices-"))
                np.savetxt(file, self._indices, "%d")
                file.flush()
                arguments += ["--indices", file.name]
            engine = Engine(arguments, self._depth, self._writable)
            try:
                # The command line may have to be built first.
                self._header = engine.header(max(self._timeout, _START_SECONDS))
            except BaseException:
                engine.close()
                raise
        self._fields = [_Field(json) for json in self._header["fields"]]
        self._words = struct.Struct(f"<{_BATCH_WORDS + _FIELD_WORDS * len(self._fields)}q")
        self._state = self._header["state"].encode()
        self._engine = engine
        return engine

    @property
    def batches_per_epoch(self) -> int | None:
        """Returns the number of batches of an epoch; ``None`` if the epoch does not end."""
        if not self._header:
            self._start()
        batches: int | None = self._header["batchesPerEpoch"]
        return batches

    def __len__(self) -> int:
        batches = self.batches_per_epoch
        if batches is None:
            raise TypeError("The epochs of this feed do not end; give num_samples")
        return batches

    def state_dict(self) -> dict[str, Any]:
        """Returns the state from which a feed continues after the last batch. Fit for JSON."""
        if not self._state:
            self._start()
        state: dict[str, Any] = json.loads(self._state)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues from a state of ``state_dict``, of this feed or a feed with the same dataset, sampler and seed."""
        self._stop()
        self._loaded = json.dumps(state)
        self._state = self._loaded.encode()
        self._is_over = False

    def _stop(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def close(self) -> None:
        """Ends the engine. Delivered batches stay readable."""
        self._is_closed = True
        self._is_over = True
        self._stop()

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def feed(
    path: str | os.PathLike[str],
    *,
    fields: Sequence[str] | None = None,
    sampler: str = "shuffle",
    seed: int = 42,
    epoch: int = 0,
    num_samples: int | None = None,
    start_position: int = 0,
    rank: int = 0,
    world_size: int = 1,
    remainder: str = "drop",
    from_: int | None = None,
    to: int | None = None,
    step: int | None = None,
    window: int | None = None,
    stride: int | None = None,
    block_length: int | None = None,
    mixed: int | None = None,
    batch_size: int = 256,
    weights_field: str | None = None,
    labels_field: str | None = None,
    indices: Sequence[int] | Array | None = None,
    drop_remainder: bool = False,
    epochs: int | None = 1,
    stop_before_batch: int | None = None,
    pad: Mapping[str, int | str] | None = None,
    bad_records: str = "fail",
    as_completed: bool = False,
    depth: int = 8,
    max_bytes: int | None = None,
    threads: int = 2,
    loader_priority: int | None = None,
    version: int | None = None,
    verify: str = "first",
    timeout: float = 60.0,
    writable: bool = False,
    engine_options: Mapping[str, str] | None = None,
) -> Feed:
    """Batches of a dataset in the order of a sampler, loaded ahead by a process of its own.

    The order depends on the sampler, its parameters and the seed only. Samplers and parameters have the names that
    they have in Spark and Java, parameters in snake case:

    - ``sequential``: ``from_``, ``to``, ``step``, all optional; a negative ``step`` goes backwards
    - ``sliding``: ``window``, ``stride``; once around, or ``num_samples``
    - ``random``: draws with replacement
    - ``global``: as ``random``, but the records of a batch differ
    - ``shuffle``: every record once
    - ``blockShuffle``: ``block_length``, ``mixed``
    - ``weighted``: ``weights_field``; draws with replacement, a record as often as its weight says
    - ``stratified``: ``labels_field``; every record once, the labels of a batch in the proportion of all
    - ``balanced``: ``labels_field``; every label equally often in each batch

    The orders of ``global``, ``stratified`` and ``balanced`` go by batches of ``batch_size`` records of all ranks
    together. With ``indices``, a sampler orders these records only.

    :param path: the dataset; a URL is for the engine, which knows other storages than ``open``
    :param fields: by default all
    :param seed: seed of the order; any number
    :param epoch: the first epoch
    :param num_samples: records of an epoch, of all ranks together; without it, epochs of ``random``, ``global``,
        ``weighted`` and ``balanced`` do not end
    :param start_position: leaves out this many records of the first epoch, of all ranks together
    :param rank: rank of this process among ``world_size`` processes that share the records
    :param remainder: records of an epoch that do not divide by the ranks: ``drop``, ``pad`` (repeat some) or ``uneven``
    :param batch_size: records of a batch
    :param drop_remainder: whether records at the end of an epoch that do not fill a batch are left out
    :param epochs: number of epochs from ``epoch`` on, including epochs before a resumed state; ``None``: no end
    :param stop_before_batch: ends before the batch of this ``number``
    :param pad: fields whose values are made equally long: as the ``"longest"`` of the batch, a number, or ``"cut:100"``
    :param bad_records: damaged records make it ``fail``, ``drop_batch``, ``skip_record``, or ``substitute`` another one
    :param as_completed: whether the batch that is ready first comes first; states are exact then as well
    :param depth: batches in memory at a time, including batches that are still referenced
    :param max_bytes: stored bytes of batches in memory at a time; by default no bound
    :param threads: number of threads that load
    :param loader_priority: priority of these threads, 1 to 10; many systems ignore it
    :param verify: when checksums are compared: ``first`` (when a value is first touched), ``always`` or ``never``
    :param timeout: seconds to wait for a batch
    :param writable: whether arrays may be written to, which changes nothing but the batch
    :param engine_options: options of the engine's storage of a URL, such as ``endpoint``, ``cache.directory`` and
        ``cache.bytes``. Others on this machine can see them: credentials are those of the environment

    Arrays are memory that is shared with the engine: copy the arrays that a fork of this process keeps. A feed with a
    state from ``load_state_dict`` begins there, whatever ``epoch`` and ``start_position`` say.

    The Java feed does more. Python does not offer

    - the sampler ``mix``, and several groups in one feed: open a feed for each, and keep the state of each
    - passes of a validation in the stream: open another feed for each pass, such as ``sampler="sequential"``
    - transforms: change the arrays of a batch, with ``writable=True`` in place
    - padding with another value than zero
    - sinks, statistics, hooks of loaders, and a stop at signals
    """
    if epochs is not None and epochs < 1:
        raise ValueError(f"epochs is {epochs}; it must be 1 or more, or None for no end")
    for name in pad or {}:
        if "=" in name:
            raise ValueError(f"Field '{name}' cannot be padded: its name has a '='")
    options: dict[str, Any] = {
        "sampler": sampler,
        "seed": seed,
        "epoch": epoch,
        "num-samples": num_samples,
        "start-position": start_position,
        "rank": rank,
        "world-size": world_size,
        "remainder": remainder,
        "from": from_,
        "to": to,
        "step": step,
        "window": window,
        "stride": stride,
        "block-length": block_length,
        "mixed": mixed,
        "batch-size": batch_size,
        "weights-field": weights_field,
        "labels-field": labels_field,
        "epochs": 0 if epochs is None else epochs,
        "stop-before-batch": stop_before_batch,
        "bad-records": bad_records,
        "depth": depth,
        "max-bytes": max_bytes,
        "threads": threads,
        "loader-priority": loader_priority,
        "version": version,
        "verify": verify,
    }
    is_url = isinstance(path, str) and is_remote(path)
    arguments = ["feed", str(path) if is_url else str(local_path(path).absolute())]
    arguments += [f"--{name}={value}" for name, value in options.items() if value is not None]
    arguments += [f"--storage-option={name}={value}" for name, value in (engine_options or {}).items()]
    arguments += [f"--field={field}" for field in fields or ()]
    arguments += [f"--pad={field}={length}" for field, length in (pad or {}).items()]
    if drop_remainder:
        arguments.append("--drop-remainder")
    if as_completed:
        arguments.append("--as-completed")
    return Feed(arguments, indices, depth, timeout, writable)
