"""How far a feed has come: values that are replaced whole, so that an interrupt leaves the one before or the one after."""

from __future__ import annotations

import json
import logging
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from zrecord._batch import FIELD_WORDS, BadRecord, Batch, FieldArrays
from zrecord._engine import Engine

Array = np.ndarray[Any, Any]
_BATCH_WORDS = 9
_ENDLESS = 2**63 - 1
_MOST_LOGGED = 10
_LOG = logging.getLogger("zrecord.feed")


class FeedStatistics(NamedTuple):
    """What a feed did since it was made, or since ``load_state_dict``. ``Feed.statistics`` returns it."""

    #: Batches that were given.
    batches: int = 0
    #: Records in these batches.
    records: int = 0
    #: Bytes of their values, with padding.
    bytes: int = 0
    #: Batches that were left out because of bad records.
    dropped_batches: int = 0
    #: Records that could not be delivered, also those of batches that were left out.
    bad_records: int = 0
    #: Batches that were there when they were asked for.
    ready_batches: int = 0
    #: Seconds that ``next`` waited for batches, in all. About 0 if the feed keeps up; if it is high all the time, raise
    #: ``threads``, if it is high now and then, raise ``depth``.
    wait_seconds: float = 0.0
    #: Seconds that it waited for the last batch.
    last_wait_seconds: float = 0.0


class Place(NamedTuple):
    """Where a feed is, after the batches that were returned."""

    #: The JSON of the state from which a feed continues there.
    state: bytes
    #: The epoch of the next batch.
    epoch: int
    #: The batches left in that epoch; 0 after the last batch of the feed, ``None`` if the epoch does not end.
    left: int | None
    statistics: FeedStatistics

    @staticmethod
    def first(header: dict[str, Any]) -> Place:
        return Place(header["state"].encode(), header["epoch"], _left(header["batchesLeft"]), FeedStatistics())


def _left(batches: int) -> int | None:
    return None if batches == _ENDLESS else batches


@dataclass
class Pending:
    """A batch, or the end, that was taken from the engine and not returned yet. It stays until ``next`` returns it."""

    #: ``None``: the feed has ended.
    batch: Batch | None
    #: Where the feed is after it.
    place: Place
    #: The bad records of the batch and of batches that were left out before it, of which some are named.
    bad: tuple[BadRecord, ...]
    bad_count: int
    #: The number of its memory, and the memory, which stays the engine's and is not used again until it is leased.
    number: int = -1
    memory: Array | None = None
    is_logged: bool = False
    #: What ``next`` returns: the batch, or what is made of it.
    given: Any = None

    def log(self, dataset: str, policy: str) -> None:
        """Logs the bad records, once."""
        if self.is_logged or self.bad_count == 0:
            return
        self.is_logged = True
        for record in self.bad[:_MOST_LOGGED]:
            _LOG.warning(
                "Bad record of %s: index %d, field '%s', %s: %s", dataset, record.index, record.field, policy, record.reason
            )
        if self.bad_count > _MOST_LOGGED:
            _LOG.warning("and %d more bad records of the same batches of %s", self.bad_count - _MOST_LOGGED, dataset)


class Messages:
    """Makes batches of the messages of an engine."""

    def __init__(self, header: dict[str, Any]) -> None:
        self._fields = [FieldArrays(field) for field in header["fields"]]
        self._words = struct.Struct(f"<{_BATCH_WORDS + FIELD_WORDS * len(self._fields)}q")

    def end(self, payload: memoryview, before: Place) -> Pending:
        notes = _Notes(payload)
        statistics = _with_bad(before.statistics, notes)
        return Pending(None, before._replace(left=0, statistics=statistics), notes.dropped, notes.dropped_count)

    def batch(self, engine: Engine, payload: memoryview, before: Place, waited: float) -> Pending:
        words = self._words.unpack_from(payload)
        number, count, epoch, earlier, memory_bytes, index_at, epoch_after, left, state_bytes = words[:_BATCH_WORDS]
        state_end = self._words.size + state_bytes
        state = bytes(payload[self._words.size : state_end])
        notes = _NO_NOTES if len(payload) == state_end else _Notes(payload[state_end:])
        memory = engine.memory(memory_bytes)
        batch = Batch(epoch, earlier, np.ndarray((count,), np.int64, memory, index_at), state)
        batch.bad_records, batch.bad_record_count = notes.own, notes.own_count
        value_bytes = 0
        for i, field in enumerate(self._fields):
            at = _BATCH_WORDS + i * FIELD_WORDS
            field.add(batch, memory, words[at : at + FIELD_WORDS])
            value_bytes += words[at + 1]
        was = before.statistics if notes is _NO_NOTES else _with_bad(before.statistics, notes)
        # By place, as this is made for each batch.
        statistics = FeedStatistics(
            was.batches + 1,
            was.records + count,
            was.bytes + value_bytes,
            was.dropped_batches,
            was.bad_records,
            was.ready_batches + (waited == 0),
            was.wait_seconds + waited,
            waited,
        )
        place = Place(state, epoch_after, _left(left), statistics)
        return Pending(batch, place, notes.dropped + notes.own, notes.dropped_count + notes.own_count, number, memory)


class _Notes:
    """The bad records that a message names."""

    def __init__(self, payload: memoryview) -> None:
        json_notes: dict[str, Any] = json.loads(bytes(payload)) if len(payload) else {}
        dropped: dict[str, Any] = json_notes.get("dropped", {})
        self.own = _records(json_notes)
        self.own_count: int = json_notes.get("count", 0)
        self.dropped = _records(dropped)
        self.dropped_count: int = dropped.get("count", 0)
        self.dropped_batches: int = dropped.get("batches", 0)


def _records(notes: dict[str, Any]) -> tuple[BadRecord, ...]:
    return tuple(BadRecord(record["index"], record["field"], record["reason"]) for record in notes.get("records", ()))


def _with_bad(statistics: FeedStatistics, notes: _Notes) -> FeedStatistics:
    return statistics._replace(
        dropped_batches=statistics.dropped_batches + notes.dropped_batches,
        bad_records=statistics.bad_records + notes.own_count + notes.dropped_count,
    )


_NO_NOTES = _Notes(memoryview(b""))
