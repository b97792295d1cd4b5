"""Records a second of a shuffled epoch, delivered to Python as NumPy arrays: zrecord beside others, on the same records.

    benchmarks/python/run [DIRECTORY [SECONDS [PERCENT]]]

Each contestant delivers for so many seconds, or its epoch if that is shorter, beginning with the opening of its iterator. They take
turns, before each of which its files are read, and one round is not counted. PERCENT is how many of the records there are.
Prints a Markdown table of medians. Those that are not installed are left out.
"""

from __future__ import annotations

import importlib.metadata
import os
import statistics
import sys
import time
from pathlib import Path

from contestants import ALL, Contestant
from records import Records

ROUNDS = 5
CASES = {"784 B": Records((28, 28), 1_000_000), "64 KiB": Records((65536,), 30_000)}
VERSIONS = ["numpy", "torch", "datasets", "array-record", "grain", "mosaicml-streaming"]


def rate(contestant: Contestant, seed: int, seconds: float) -> float:
    """Records a second."""
    delivered = labels = 0
    start = time.perf_counter()
    for images, found in contestant.epoch(seed):
        assert images.shape[1:] == contestant.records.shape
        delivered += len(found)
        labels += int(found.sum())
        if time.perf_counter() - start > seconds:
            break
    taken = time.perf_counter() - start
    if delivered == contestant.records.count:
        assert labels == int(contestant.labels.sum()), contestant.name
    return delivered / taken


def main(directory: Path, seconds: float, percent: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for package in VERSIONS:
        try:
            print(package, importlib.metadata.version(package), end="; ")
        except importlib.metadata.PackageNotFoundError:
            print("no", package, end="; ")
    print(f"{os.cpu_count()} cores\n\n| value | contestant | records/s | GiB/s | of np.memmap |\n|---|---|---|---|---|")
    for value, all_records in CASES.items():
        records = Records(all_records.shape, all_records.count * percent // 100)
        records.make(directory, (1,))
        contestants = []
        for contestant in ALL:
            try:
                contestants.append(contestant(records, directory))
            except ImportError as e:
                print(f"{contestant.name}: {e}", file=sys.stderr)
        rates: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
        for seed in range(ROUNDS + 1):
            for contestant in contestants:
                contestant.warm()
                found = rate(contestant, seed, seconds)
                if seed:
                    rates[contestant.name].append(found)
        base = statistics.median(rates["np.memmap"])
        for name, found_rates in rates.items():
            median = statistics.median(found_rates)
            gib = median * records.width / 2**30
            print(f"| {value} | {name.strip()} | {median:,.0f} | {gib:.2f} | {median / base:.2f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
