"""Batches for training."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zrecord._epochs import Feed
from zrecord._feed_arguments import FeedArguments
from zrecord._indexing import names_of
from zrecord._location import is_remote, local_path

Array = np.ndarray[Any, Any]


def _checked_indices(indices: Sequence[int] | Array) -> Array:
    """Returns whole numbers; a mask or floats would name other records than meant."""
    found = np.asarray(indices)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and len(found) > 0):
        raise ValueError(
            f"indices are an array of {found.ndim} dimensions of {found.dtype}; give a list of whole numbers,"
            " np.flatnonzero(mask) for a mask"
        )
    return found.astype(np.int64)


def _require_equal_ranks(world_size: int | None, remainder: str | None, bad_records: str) -> None:
    """Refuses what gives some ranks fewer batches than others, which would then wait for each other for ever."""
    if world_size is None or world_size <= 1:
        return
    if remainder is not None and remainder.lower() == "uneven":
        raise ValueError(
            f"remainder is 'uneven' with world_size {world_size}, so some ranks would have a batch less, and the others"
            " wait for them without an end; use 'drop' or 'pad', or, where ranks do not wait for each other, give each the"
            " indices of its own records, without rank"
        )
    if bad_records.lower() in ("drop_batch", "skip_record"):
        raise ValueError(
            f"bad_records is '{bad_records}' with world_size {world_size}: a rank that leaves out a batch has fewer"
            " than the others, which wait for it without an end; use 'substitute', which keeps the number of batches, or 'fail'"
        )


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
    :param remainder: records of an epoch that do not divide by the ranks: ``drop`` or ``pad`` (repeat some); ``uneven`` is
        for one rank, as several ranks must give equally many batches
    :param batch_size: records of a batch
    :param drop_remainder: whether records at the end of an epoch that do not fill a batch are left out
    :param epochs: number of epochs from ``epoch`` on, including epochs before a resumed state; ``None``: no end
    :param stop_before_batch: ends before the batch of this ``number``
    :param pad: fields whose values are made equally long: as the ``"longest"`` of the batch, a number, or ``"cut:100"``
    :param bad_records: damaged records make it ``fail``, ``drop_batch``, ``skip_record``, or ``substitute`` another one. They are
        in ``batch.bad_records``, in ``feed.statistics()`` and, by ``logging``, in the log ``zrecord.feed``. Several ranks must
        give equally many batches, so ``drop_batch`` and ``skip_record`` are for one rank
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

    ``for batch in feed`` gives the rest of the current epoch, and the next ``for`` gives the next epoch:
    ``for epoch in feed.remaining_epochs(): for batch in feed: …`` goes over all of them, also after a resume.

    The Java feed does more. Python does not offer

    - the sampler ``mix``, and several groups in one feed: open a feed for each, and keep the state of each
    - passes of a validation in the stream: open another feed for each pass, such as ``sampler="sequential"``
    - transforms: change the arrays of a batch, with ``writable=True`` in place
    - padding with another value than zero
    - sinks, hooks of loaders, and a stop at signals: an interrupt of Python loses no batch
    """
    if epochs is not None and epochs < 1:
        raise ValueError(f"epochs is {epochs}; it must be 1 or more, or None for no end")
    for name in pad or {}:
        if "=" in name:
            raise ValueError(f"Field '{name}' cannot be padded: its name has a '='")
    _require_equal_ranks(world_size, remainder, bad_records)
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
    arguments += [f"--field={field}" for field in names_of(fields or ())]
    arguments += [f"--pad={field}={length}" for field, length in (pad or {}).items()]
    if drop_remainder:
        arguments.append("--drop-remainder")
    if as_completed:
        arguments.append("--as-completed")
    return Feed(
        FeedArguments(
            arguments,
            None if indices is None else _checked_indices(indices),
            epochs,
            depth,
            timeout,
            writable,
            as_completed,
            bad_records,
            is_one_of_ranks=world_size is not None and world_size > 1,
        )
    )
