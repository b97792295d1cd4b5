"""Random batches as NumPy arrays: zrecord against np.memmap, the same records, in the page cache.

    python/.venv/bin/python benchmarks/python/gather.py [DIRECTORY]

Prints a Markdown table of microseconds for a batch of 256 random records: medians of rounds in which contestants take turns.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from records import Records

import zrecord

BATCH = 256
ROUNDS = 15
CASES = {"784 B": Records((28, 28), 1_000_000), "64 KiB": Records((65536,), 16_000)}


def measure(field: object, records: int, batches: int, random: np.random.Generator) -> float:
    """Returns the seconds for a batch."""
    indices = [random.integers(0, records, BATCH) for _ in range(batches)]
    start = time.perf_counter()
    for batch in indices:
        field[batch]  # type: ignore[index]
    return (time.perf_counter() - start) / batches


def main(directory: Path) -> None:
    print("| value | contestant | µs a batch | GiB/s | of np.memmap |\n|---|---|---|---|---|")
    random = np.random.default_rng(1)
    for name, records in CASES.items():
        records.make(directory)
        contestants = {
            "np.memmap": np.load(records.images(directory), mmap_mode="r"),
            "zrecord": zrecord.open(records.table(directory, 1))["data"],
            "zrecord, 8 shards": zrecord.open(records.table(directory, 8))["data"],
            "zrecord, verified at every read": zrecord.open(records.table(directory, 1), verify="always")["data"],
        }
        for field in contestants.values():  # the page cache, and the checksums
            for start in range(0, records.count, 4096):
                field[np.arange(start, min(records.count, start + 4096))]
        batches = max(20, 20_000_000 // (BATCH * records.width))
        times: dict[str, list[float]] = {contestant: [] for contestant in contestants}
        for _ in range(ROUNDS):
            for contestant, field in contestants.items():
                times[contestant].append(measure(field, records.count, batches, random))
        first = statistics.median(times["np.memmap"])
        for contestant, seconds in times.items():
            median = statistics.median(seconds)
            rate = BATCH * records.width / median / 2**30
            print(f"| {name} | {contestant} | {median * 1e6:.1f} | {rate:.2f} | {first / median:.2f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
