"""Records a second of a shuffled epoch, delivered to Python as NumPy arrays: zrecord beside others, on the same records.

    benchmarks/python/run [DIRECTORY [SECONDS [PERCENT]]]

Each contestant delivers for so many seconds, or its epoch if that is shorter, beginning with the opening of its iterator. They take
turns, each in a process of its own, which first reads its files and delivers once without being counted. PERCENT is how many of
the records there are. Prints a Markdown table of medians. Those that are not installed are left out.
"""

from __future__ import annotations

import importlib.metadata
import os
import statistics
import subprocess
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


def turn(directory: Path, seconds: float, records: Records, name: str) -> None:
    """Prints the rate of a contestant in a process of its own, so that no threads of another go on meanwhile."""
    contestant = next(c for c in ALL if c.name == name)(records, directory)
    contestant.warm()
    rate(contestant, 0, seconds)
    print(rate(contestant, 1, seconds))


def measure(directory: Path, seconds: float, percent: int, value: str, name: str) -> float | None:
    """Takes a turn; ``None`` if it fails, as where something is not installed."""
    command = [sys.executable, __file__, str(directory), str(seconds), str(percent), value, name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return float(done.stdout.split()[-1])


def main(directory: Path, seconds: float, percent: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for package in VERSIONS:
        try:
            print(package, importlib.metadata.version(package), end="; ")
        except importlib.metadata.PackageNotFoundError:
            print("no", package, end="; ")
    print(f"{os.cpu_count()} cores\n\n| value | contestant | records/s | GiB/s | of np.memmap |\n|---|---|---|---|---|")
    for value in CASES:
        records = case(value, percent)
        records.make(directory, (1,))
        rates: dict[str, list[float]] = {contestant.name: [] for contestant in ALL}
        for _ in range(ROUNDS):
            for name in list(rates):
                found = measure(directory, seconds, percent, value, name)
                if found is None:
                    del rates[name]
                else:
                    rates[name].append(found)
        base = statistics.median(rates["np.memmap"])
        for name, found_rates in rates.items():
            median = statistics.median(found_rates)
            gib = median * records.width / 2**30
            print(f"| {value} | {name.strip()} | {median:,.0f} | {gib:.2f} | {median / base:.2f} |", flush=True)


def case(value: str, percent: int) -> Records:
    return Records(CASES[value].shape, CASES[value].count * percent // 100)


if __name__ == "__main__":
    work, duration, share = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    if len(sys.argv) > 4:
        turn(work, duration, case(sys.argv[4], share), sys.argv[5])
    else:
        main(work, duration, share)
