"""A program of typical use. mypy and pyright check that its types are known; test_typed_use.py runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np

import zrecord
import zrecord.torch
from zrecord import samplers

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:
        return value


Record = dict[str, Any]


def explore(path: str) -> int:
    with zrecord.open(path, verify="always") as data:
        assert_type(data, zrecord.Dataset)
        assert_type(data["i64"], zrecord.Field)
        assert_type(data[5], Record)
        assert_type(data[np.int64(5)], Record)
        for part in (data[[5, 1, 5]], data[1:3], data[np.array([1, 2])], data[range(3)], data[...]):
            assert_type(part, Record)
        assert_type(data.gather([5], ["i64"]), Record)
        assert_type(data.gather(5), Record)
        assert_type(iter(data), Iterator[Record])
        for record in data:
            assert_type(record, Record)
        assert_type(list(data), list[Record])
        assert_type(dict(data), dict[str, zrecord.Field])
        assert_type([name for name in data.keys()], list[str])  # noqa: SIM118
        for name, field in data.items():
            assert_type(name, str)
            assert_type(field, zrecord.Field)
        assert_type({name: spec.shape for name, spec in data.fields.items()}, dict[str, tuple[int, ...]])
        return len(data)


def choose(data: zrecord.Dataset) -> zrecord.Dataset:
    few = data.where((data["i64"] > 0) & ~data["utf8"].is_absent() | data["i32"].isin([1, 2]) | (data["bool"] == True))  # noqa: E712
    assert_type(data["i64"] == 3, zrecord.Condition)
    assert_type(few, zrecord.Dataset)
    assert_type(few.indices.tolist(), Any)
    odd = data.where(lambda batch: batch["i64"] % 2 == 1, ["i64"])
    assert_type(odd.take(slice(0, 100)).select(["i64", "image"]), zrecord.Dataset)
    return odd.take([0, 1])


def look_back(path: str) -> list[int]:
    assert_type(zrecord.open(path, tag="first").version, int | None)
    zrecord.open(path, at=datetime.now(timezone.utc))
    zrecord.open(path, at="2027-01-01T00:00:00Z")
    data = zrecord.open(path, version=1)
    assert_type(data.versions(), list[zrecord.Version])
    assert_type(data.tags(), list[zrecord.Tag])
    return [version.number for version in data.versions() if "first" in version.tags]


def train(data: zrecord.Dataset) -> int:
    torch_data = data.to_torch(["i64"])
    assert_type(torch_data, zrecord.torch.Dataset)
    batches = zrecord.torch.BatchSampler(torch_data, 16, sampler=samplers.Shuffle(len(data), 42), epochs=1)
    seen = 0
    for indices in batches:
        assert_type(indices, zrecord.torch.BatchIndices)
        seen += len(torch_data[indices]["i64"])
    order = samplers.shuffle(np.int64(len(data)), 42, np.int64(0))
    return seen + len(order)


def main(path: str) -> list[int]:
    data = zrecord.open(path)
    image = data["image"]
    shapes = [np.asarray(image[1:5, 2]).ndim, np.asarray(image[..., 0]).ndim, len(image.validity()), np.asarray(image).ndim]
    return [explore(path), len(choose(data)), *look_back(path), train(data), *shapes]


if __name__ == "__main__":
    print(main(sys.argv[1]))
