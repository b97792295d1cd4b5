"""Orders and their digests are those of the engine, which says them in the states of feeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from zrecord import samplers

LENGTH = 3000


@pytest.fixture(scope="module")
def records(command_line: Path, tmp_path_factory: pytest.TempPathFactory) -> zrecord.Dataset:
    path = tmp_path_factory.mktemp("samplers") / "records"
    r = budget.random()
    labels, weights = r.integers(-3, 4, LENGTH).astype(np.int32), r.random(LENGTH)
    zrecord.create(path, {"label": labels, "weight": weights})
    return zrecord.open(path)


def test_digests_and_batches_are_those_of_feeds(records: zrecord.Dataset) -> None:
    seed, labels, weights = budget.seed(), records["label"][:], records["weight"][:]
    cases: list[tuple[dict[str, Any], samplers.Sampler]] = [
        ({"sampler": "shuffle"}, samplers.Shuffle(LENGTH, seed)),
        ({"sampler": "random"}, samplers.Random(LENGTH, seed)),
        ({"sampler": "global", "num_samples": 2000}, samplers.Global(LENGTH, 64, seed).take(2000)),
        ({"sampler": "sliding", "window": 40, "stride": 30}, samplers.Sliding(LENGTH, 40, 30).one_pass()),
        ({"sampler": "sequential", "from_": LENGTH - 1, "to": -1, "step": -3}, samplers.Sequential(-1, LENGTH - 1, -3)),
        ({"sampler": "blockShuffle", "block_length": 64, "mixed": 5}, samplers.BlockShuffle(LENGTH, 64, 5, seed)),
        ({"sampler": "weighted", "weights_field": "weight"}, samplers.Weighted(weights, seed)),
        ({"sampler": "stratified", "labels_field": "label"}, samplers.Stratified(labels, 64, seed)),
        ({"sampler": "balanced", "labels_field": "label"}, samplers.Balanced(labels, 64, seed)),
    ]
    for arguments, order in cases:
        with zrecord.feed(records.path, fields=["label"], batch_size=64, seed=seed, epoch=1, **arguments) as feed:
            assert feed.state_dict()["groups"][0]["order"] == order.digest(), order
            assert next(feed).index.tolist() == order.indices(1, 0, 64).tolist(), order
