"""Converts NumPy arrays to datasets, with the command line."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from zrecord._launcher import run

Array = np.ndarray[Any, Any]


def converter(arrays: Array | Mapping[str, Array], path: str | os.PathLike[str], *, align_bytes: int = 8) -> None:
    """Makes a table from an array, whose first dimension counts the records, or from several arrays of one length, by name.

    A single array becomes the field ``data``. The directory must be empty or not exist. An array that maps a ``.npy`` file
    is read from that file; other arrays are written to a temporary file next to the table first. Values of ``align_bytes``
    or more begin at a multiple of it in their file, and so do their views in memory: 64 for SIMD, 4096 for pages.
    Needs Java, see ``LauncherError``.
    """
    named = arrays if isinstance(arrays, Mapping) else {"data": arrays}
    target = Path(path).absolute()
    for name in named:
        if not name or "=" in name:
            raise ValueError(f"A field cannot be named {name!r} here; give it a name without '='")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".zrecord-", dir=target.parent) as scratch:
        inputs = []
        for number, (name, array) in enumerate(named.items()):
            file = _file_of(array)
            if file is None:
                file = Path(scratch) / f"{number}.npy"
                np.save(file, array, allow_pickle=False)
            inputs.append(f"{name}={file}")
        run(["import", "npy", *inputs, str(target), "--align-bytes", str(align_bytes)])


def _file_of(array: Array) -> Path | None:
    """Returns the ``.npy`` file that a whole array maps, if any, and if the array has no changes of its own."""
    if not isinstance(array, np.memmap) or array.filename is None or array.mode not in ("r", "r+"):
        return None
    file = Path(array.filename)
    if file.suffix != ".npy":
        return None
    whole = np.load(file, mmap_mode="r", allow_pickle=False)
    same = (whole.shape, whole.dtype, whole.strides) == (array.shape, array.dtype, array.strides)
    return file.absolute() if same else None
