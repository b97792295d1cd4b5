"""The records that contestants read: random images and labels, as arrays and as tables."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from zrecord import _launcher

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Records:
    """A number of records, each with an image of u8 and an i64 label."""

    shape: tuple[int, ...]
    count: int

    @property
    def width(self) -> int:
        return prod(self.shape)

    def images(self, directory: Path) -> Path:
        return directory / f"{self.width}-{self.count}.npy"

    def labels(self, directory: Path) -> Path:
        return directory / f"{self.width}-{self.count}-labels.npy"

    def table(self, directory: Path, shards: int) -> Path:
        return directory / f"{self.width}-{self.count}-{shards}.zrecord"

    def make(self, directory: Path, shard_counts: tuple[int, ...] = (1, 8)) -> None:
        """Makes the files that do not exist yet."""
        random = np.random.default_rng(self.width)
        if not self.labels(directory).exists():
            images = np.lib.format.open_memmap(self.images(directory), "w+", np.uint8, (self.count, *self.shape))
            for start in range(0, self.count, 4096):
                part = images[start : start + 4096]
                part[:] = random.integers(0, 256, part.shape, dtype=np.uint8)
            images.flush()
            np.save(self.labels(directory), random.integers(0, 1000, self.count))
        for shards in shard_counts:
            if not self.table(directory, shards).exists():
                self._write(directory, shards)

    def _write(self, directory: Path, shards: int) -> None:
        raw = [directory / "images.raw", directory / "labels.raw"]
        np.load(self.images(directory), mmap_mode="r").tofile(raw[0])
        np.load(self.labels(directory)).tofile(raw[1])
        subprocess.run([*_launcher.command(), "--version"], check=True, stdout=subprocess.DEVNULL)  # builds the jar
        jar = next((HERE.parents[1] / "tools" / "target").glob("zrecord-tools-*-cli.jar"))
        java = str(Path(os.environ["JAVA_HOME"]) / "bin" / "java") if "JAVA_HOME" in os.environ else "java"
        arguments = [self.table(directory, shards), *raw, ",".join(map(str, self.shape)), self.count, shards]
        subprocess.run([java, "-cp", str(jar), HERE / "WriteShards.java", *map(str, arguments)], check=True)
        for file in raw:
            file.unlink()
