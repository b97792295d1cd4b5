"""Fields and their types (FORMAT.md sections 3 and 8)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from zrecord._sealed import JsonObject

CODECS = ("raw", "flate", "zstd", "lz4")
_MAX_WIDTH = 2**31 - 1
_MAX_RANK = 16
STORED = {
    "bool": "u1",
    "i8": "i1",
    "u8": "u1",
    "i16": "<i2",
    "u16": "<u2",
    "i32": "<i4",
    "u32": "<u4",
    "i64": "<i8",
    "u64": "<u8",
    "f16": "<f2",
    "bf16": "<u2",
    "f32": "<f4",
    "f64": "<f8",
    "date": "<i4",
    "timestamp": "<i8",
    "timestamp_ntz": "<i8",
}
_SHOWN = {"bool": "?", "date": "<M8[D]", "timestamp": "<M8[us]", "timestamp_ntz": "<M8[us]"}
_DECIMAL = re.compile(r"decimal\((\d{1,2}),(\d{1,2})\)", re.ASCII)


@dataclass(frozen=True)
class FieldSpec:
    """A field: its number, name, type and shape (FORMAT.md section 8), and the compression of its values."""

    id: int
    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    codec: str = "raw"
    attributes: dict[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def stored_dtype(self) -> np.dtype[Any]:
        """The dtype of stored elements; bytes, text and decimals are unsigned bytes."""
        return np.dtype(STORED.get(self.dtype, "u1"))

    @cached_property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays that are returned; ``object`` for bytes, text and decimals."""
        shown = _SHOWN.get(self.dtype) or STORED.get(self.dtype)
        return np.dtype(shown or object)

    @cached_property
    def scale(self) -> int | None:
        """The number of fraction digits of a decimal."""
        decimal = _DECIMAL.fullmatch(self.dtype)
        return int(decimal[2]) if decimal else None

    @cached_property
    def element_bytes(self) -> int | None:
        """The number of bytes of an element; ``None`` for bytes and text."""
        decimal = _DECIMAL.fullmatch(self.dtype)
        if decimal:
            precision = int(decimal[1])
            return 4 if precision <= 9 else 8 if precision <= 18 else 16
        return None if self.dtype in ("bytes", "utf8") else self.stored_dtype.itemsize

    @cached_property
    def width(self) -> int | None:
        """The number of bytes of a value, if it is the same for all values."""
        if self.element_bytes is None or -1 in self.shape:
            return None
        return prod(self.shape) * self.element_bytes

    @cached_property
    def is_array(self) -> bool:
        """Tells whether many values make one array; otherwise they make a list."""
        return self.width is not None and self.scale is None


def read_field(json: JsonObject) -> FieldSpec:
    """Returns the field that an object of a manifest or of a shard's meta file describes."""
    name = json.string("name")
    units = len(name.encode("utf-16-le", "surrogatepass")) // 2
    if not 1 <= units <= 1024 or "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
        raise json.corrupt(f"{name[:40]!r} is not allowed as the name of a field")
    dtype = json.string("dtype")
    decimal = _DECIMAL.fullmatch(dtype)
    if decimal:
        if not 1 <= int(decimal[1]) <= 38 or int(decimal[2]) > int(decimal[1]):
            raise json.corrupt(f"field '{name}' has the impossible dtype '{dtype}'")
    elif dtype not in STORED and dtype not in ("bytes", "utf8"):
        raise json.corrupt(f"field '{name}' has the unknown dtype '{dtype[:40]}'")
    codec = json.string("compress")
    if codec not in CODECS:
        raise json.corrupt(f"field '{name}' has the unknown codec '{codec[:40]}'; known are {', '.join(CODECS)}")
    spec = FieldSpec(json.integer("id", 1, 2**31 - 1), name, dtype, _shape(json, dtype), codec, json.strings("attributes"))
    if prod(max(1, abs(d)) for d in spec.shape) * (spec.element_bytes or 1) > _MAX_WIDTH:
        raise json.corrupt(f"values of field '{name}' would have more than {_MAX_WIDTH} bytes: {dtype}{list(spec.shape)}")
    return spec


def _shape(json: JsonObject, dtype: str) -> tuple[int, ...]:
    if "shape" not in json.members:
        return ()
    shape = json.integers("shape", -1, 2**31 - 1)
    if not 1 <= len(shape) <= _MAX_RANK or -1 in shape[1:] or dtype in ("bytes", "utf8"):
        raise json.corrupt(f"a value of dtype {dtype} cannot have the shape {shape[:20]}")
    return tuple(shape)
