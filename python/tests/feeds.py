"""What tests of feeds share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import zrecord
from zrecord import _launcher

RECORDS = 1003
LABELS = (np.arange(RECORDS) % 7).astype(np.int32)


def write(directory: Path, images: np.ndarray[Any, Any]) -> None:
    """Makes the dataset ``data`` of a directory, with the fields image and label."""
    np.save(directory / "image.npy", images)
    np.save(directory / "label.npy", LABELS)
    _launcher.run(["import", "npy", str(directory / "image.npy"), str(directory / "label.npy"), str(directory / "data")])


def indices(feed: zrecord.Feed) -> list[int]:
    """Returns the indices of the records of all batches that are left, of all epochs."""
    return [int(i) for _ in feed.remaining_epochs() for batch in feed for i in batch.index]


def damaged(data: Path, directory: Path) -> Path:
    """Returns a copy of the dataset in which one bit of one value is another."""
    copy = directory / "damaged"
    subprocess.run(["cp", "-r", data, copy], check=True)
    (chunk,) = copy.glob("shard/*/*.zr")
    content = bytearray(chunk.read_bytes())
    content[len(content) // 2] ^= 1
    chunk.write_bytes(content)
    return copy


def run(program: str, *arguments: object, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Runs a program in a Python of its own; returns what it said."""
    words = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout)
