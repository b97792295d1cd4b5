from __future__ import annotations

import re

import numpy as np
import pytest

from tests import budget
from tests.conftest import ROOT
from zrecord import samplers

VECTOR = re.compile(r"\| `shuffle\((\d+), (-?\d+)\), epochs? (\d+)(?: to (\d+))?` \| ([\d, ]+) \|")


def test_shuffles_are_those_of_the_specification() -> None:
    vectors = VECTOR.findall((ROOT / "docs" / "spec" / "SAMPLERS.md").read_text(encoding="utf-8"))
    assert len(vectors) >= 8
    for length, seed, first, last, indices in vectors:
        found: list[int] = []
        for epoch in range(int(first), int(last or first) + 1):
            found += samplers.shuffle(int(length), int(seed), epoch, stop=min(8, int(length))).tolist()
        assert found == [int(i) for i in indices.split(",")], (length, seed)


@pytest.mark.parametrize("length", [1, 2, 3, 255, 256, 257, 100_000])
def test_every_index_comes_once_and_parts_are_those_of_the_whole(length: int) -> None:
    seed = budget.seed()
    whole = samplers.shuffle(length, seed, 3)
    assert np.array_equal(np.sort(whole), np.arange(length))
    assert np.array_equal(samplers.shuffle(length, seed, 3, length // 3, length // 2), whole[length // 3 : length // 2])


@pytest.mark.parametrize("arguments", [(0, 1), (2**62 + 1, 1), (10, 1, -1), (10, 1, 0, 5, 4), (10, 1, 0, 0, 11)])
def test_what_is_out_of_range_is_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="Cannot shuffle positions"):
        samplers.shuffle(*arguments)
