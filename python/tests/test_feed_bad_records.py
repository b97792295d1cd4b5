"""What a feed says of records that it cannot deliver, and of padding."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import feeds
from tests.conftest import Once
from tests.feeds import RECORDS
from zrecord import _launcher

# One checksum covers a unit of 4 KiB, and 342 images of 12 bytes touch this unit.
LOST = 342


@pytest.fixture(scope="module")
def damaged(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return feeds.damaged(data, tmp_path_factory.mktemp("bad"))


def options(policy: str) -> dict[str, Any]:
    return {"batch_size": 50, "sampler": "sequential", "bad_records": policy}


def test_skipped_records_are_named_counted_and_logged(damaged: Path, caplog: pytest.LogCaptureFixture) -> None:
    named: list[zrecord.BadRecord] = []
    with caplog.at_level(logging.WARNING, "zrecord.feed"), zrecord.feed(damaged, **options("skip_record")) as feed:
        found: list[int] = []
        for batch in feed:
            found += batch.index.tolist()
            assert batch.bad_record_count == len(batch.bad_records)
            named += batch.bad_records
        statistics = feed.statistics()
    lost = sorted(set(range(RECORDS)) - set(found))
    assert len(lost) == LOST
    # Batches whose records are all bad are left out, and what was bad in them belongs to no batch.
    whole = [first for first in range(0, RECORDS, 50) if set(range(first, first + 50)) <= set(lost)]
    assert [record.index for record in named] == [i for i in lost if i // 50 * 50 not in whole]
    assert all(record.field == "image" and "checksum" in record.reason for record in named)
    assert (statistics.bad_records, statistics.dropped_batches, statistics.records) == (LOST, len(whole), len(found))
    lines = [record.getMessage() for record in caplog.records]
    assert f"Bad record of {damaged}: index {lost[0]}, field 'image', skip_record: " in lines[0]
    assert any(line.startswith("and ") and "more bad records" in line for line in lines)


def test_records_that_others_take_the_place_of_are_named(damaged: Path) -> None:
    with zrecord.feed(damaged, **options("substitute")) as feed:
        for batch in feed:
            assert len(batch.index) == min(50, RECORDS - batch.number * 50)
            planned = set(range(batch.number * 50, batch.number * 50 + len(batch.index)))
            assert planned - set(batch.index.tolist()) == {record.index for record in batch.bad_records}


def test_batches_that_are_left_out_are_counted(damaged: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "zrecord.feed"), zrecord.feed(damaged, **options("drop_batch")) as feed:
        length = len(feed)
        batches = [(batch.number, batch.bad_record_count) for batch in feed]
        statistics = feed.statistics()
        assert (length, len(batches)) == (21, statistics.batches)
        assert statistics.dropped_batches == 21 - len(batches)
        assert statistics.bad_records == LOST
        assert {bad for _, bad in batches} == {0}
        assert len(caplog.records) >= 10
        with pytest.raises(zrecord.FeedError, match="The training is over"):
            iter(feed)


def test_epochs_whose_ends_are_left_out_are_one_for_each(damaged: Path) -> None:
    # The damage is in the middle: backwards from there, the last batches of an epoch are left out.
    with zrecord.feed(damaged, **options("skip_record")) as feed:
        lost = sorted(set(range(RECORDS)) - {int(i) for batch in feed for i in batch.index})
    good = list(range(200))
    bad_last = {**options("drop_batch"), "indices": good + lost[:120], "epochs": 3}
    with zrecord.feed(damaged, **bad_last) as feed:
        epochs = [[int(i) for batch in feed for i in batch.index] for _ in feed.remaining_epochs()]
        assert epochs == [good, good, good]
    with zrecord.feed(damaged, **bad_last) as feed:
        batches = [next(feed) for _ in range(4)]
        assert len(feed) == 3  # as planned
        feed.load_state_dict(batches[-1].state)
        # Nothing is left of the epoch but what is left out.
        assert [batch.epoch for batch in feed] == [1] * 4


def test_a_rank_fails_rather_than_to_drop_a_batch(damaged: Path) -> None:
    with (
        zrecord.feed(damaged, **{**options("substitute"), "batch_size": 10}, rank=0, world_size=2) as feed,
        pytest.raises(zrecord.CorruptDataError, match="checksum"),
    ):
        for _ in feed:
            pass


@pytest.fixture(scope="module")
def texts(command_line: Path, once: Once) -> Path:
    def write(directory: Path) -> None:
        path = directory / "store"
        fields = {"tokens": "i32:-1", "pairs": "f32:-1,2", "text": "utf8", "flags": "bool:-1", "image": "u8:2,3", "label": "i64"}
        _launcher.run(["create", str(path), *(f"--field={name}:{dtype}" for name, dtype in fields.items())])
        lines = ""
        for i in range(10):
            tokens = "null" if i == 4 else str([i] * (i % 6))
            flags = str([True] * (i % 3)).lower()
            lines += f'{{"tokens": {tokens}, "pairs": {[[i, i]] * (i % 4)}, "text": "{"ä" * i}", "flags": {flags},'
            lines += f' "image": [[1, 2, 3], [4, 5, 6]], "label": {i}}}\n'
        (directory / "lines").write_text(lines, encoding="utf-8")
        _launcher.run(["append", str(path), "--jsonl", str(directory / "lines")])

    return once("texts", write) / "store"


def test_padding_gives_lengths_and_a_mask(texts: Path) -> None:
    expected = {
        "tokens": [0 if i == 4 else i % 6 for i in range(10)],
        "pairs": [i % 4 for i in range(10)],
        "text": [2 * i for i in range(10)],
        "flags": [i % 3 for i in range(10)],
        "image": [2] * 10,
    }
    pad: dict[str, int | str] = {"tokens": "longest", "pairs": 3, "text": "cut:8", "flags": "longest"}
    with zrecord.feed(texts, sampler="sequential", batch_size=10, pad=pad) as feed:
        batch = next(feed)
        for field, lengths in expected.items():
            steps = np.asarray(batch[field]).shape[1]
            shown = [min(length, steps) for length in lengths]
            assert batch.lengths(field).dtype == np.int64
            assert batch.lengths(field).tolist() == shown, field
            mask = batch.mask(field)
            assert mask.dtype == bool
            assert mask.tolist() == [[step < length for step in range(steps)] for length in shown]
        assert not np.asarray(batch["tokens"])[~batch.mask("tokens")].any()
        with pytest.raises(ValueError, match="'label' has single values"):
            batch.mask("label")
        with pytest.raises(KeyError, match="no-such"):
            batch.lengths("no-such")
    with zrecord.feed(texts, sampler="sequential", batch_size=10) as feed:
        batch = next(feed)
        assert {field: batch.lengths(field).tolist() for field in expected} == expected
        with pytest.raises(ValueError, match=r"'tokens' is not padded.*pad=\{'tokens': 'longest'\}"):
            batch.mask("tokens")
