"""Records a second of shuffled epochs, delivered to Python as NumPy arrays: zrecord and others, on the same records.

    benchmarks/python/run [DIRECTORY [SECONDS [PERCENT]]]

Each contestant delivers one epoch after the other: for SECONDS that do not count, then for as many seconds that count.
Also measures the time from the opening of the iterator to the first batch, including the start of processes, and how much
of a processor this process, which would train, spends on loading. The contestants take turns, each in its own process,
which reads the files first. PERCENT is the percentage of the records. Prints a Markdown table of medians. Contestants that
are not installed are left out.
"""

from __future__ import annotations

import importlib.metadata
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from contestants import ALL, BATCH, Contestant
from records import Records

ROUNDS = 2
CASES = {"784 B": Records((28, 28), 1_000_000), "64 KiB": Records((65536,), 30_000)}
VERSIONS = ["numpy", "torch", "datasets", "array-record", "grain", "mosaicml-streaming"]


class Rate(NamedTuple):
    """The speed of a contestant.

    :param records: records in each second
    :param first: seconds until the first batch
    :param busy: seconds of a processor in each second
    """

    records: float
    first: float
    busy: float


def rate(contestant: Contestant, seconds: float) -> Rate:
    begin = time.perf_counter()
    batches = contestant.epochs(1)
    labels = int(next(batches)[1].sum())
    start = time.perf_counter()
    delivered = last = BATCH
    first = start - begin
    is_counted = False
    busy = time.process_time()
    while (taken := time.perf_counter() - start) < seconds or not is_counted:
        if taken >= seconds:
            start, busy, last, is_counted = time.perf_counter(), time.process_time(), delivered, True
        images, found = next(batches)
        assert images.shape[1:] == contestant.records.shape
        delivered += len(found)
        labels += int(found.sum())
        if delivered == contestant.records.count:
            assert labels == int(contestant.labels.sum()), contestant.name
    return Rate((delivered - last) / taken, first, (time.process_time() - busy) / taken)


def turn(directory: Path, seconds: float, records: Records, name: str) -> None:
    """Prints the figures of a contestant in its own process, so that no threads of another contestant run meanwhile."""
    contestant = next(c for c in ALL if c.name == name)(records, directory)
    contestant.warm()
    print(*rate(contestant, seconds))


def measure(directory: Path, seconds: float, percent: int, value: str, name: str) -> Rate | None:
    """Takes a turn. Returns ``None`` if the turn fails, for example because something is not installed."""
    command = [sys.executable, __file__, str(directory), str(seconds), str(percent), value, name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return Rate(*map(float, done.stdout.split()[-3:]))


def main(directory: Path, seconds: float, percent: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for package in VERSIONS:
        try:
            print(package, importlib.metadata.version(package), end="; ")
        except importlib.metadata.PackageNotFoundError:
            print("no", package, end="; ")
    columns = "value | contestant | records/s | GiB/s | of np.memmap | first batch (ms) | busy"
    print(f"{os.cpu_count()} cores\n\n| {columns} |\n|{'---|' * 7}")
    for value in CASES:
        case(value, percent).make(directory, (1,))
        rates: dict[str, list[Rate]] = {contestant.name: [] for contestant in ALL}
        for _ in range(ROUNDS):
            for name in list(rates):
                found = measure(directory, seconds, percent, value, name)
                if found is None:
                    del rates[name]
                else:
                    rates[name].append(found)
        base = statistics.median(turn.records for turn in rates["np.memmap"])
        for name, turns in rates.items():
            records, first, busy = map(statistics.median, zip(*turns))
            gib = records * CASES[value].width / 2**30
            shown = f"{records:,.0f} | {gib:.2f} | {records / base:.2f} | {first * 1000:,.1f} | {busy:.2f}"
            print(f"| {value} | {name.strip()} | {shown} |", flush=True)


def case(value: str, percent: int) -> Records:
    return Records(CASES[value].shape, CASES[value].count * percent // 100)


if __name__ == "__main__":
    work, duration, share = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    if len(sys.argv) > 4:
        turn(work, duration, case(sys.argv[4], share), sys.argv[5])
    else:
        main(work, duration, share)
