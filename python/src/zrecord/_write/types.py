"""The types that columns are written as, in the words of ``docs/reference/types.md``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zrecord._schema import STORED, FieldSpec

Array = np.ndarray[Any, Any]
_WORDS = re.compile(r"([a-z][a-z0-9_]*(?:\(\d+, ?\d+\))?) ?(?:\[(-?\d+(?:, ?\d+)*)\])?(?::([a-z0-9]+(?::\d+)?))?")
_OF_NUMPY = {np.dtype(stored).str: name for name, stored in STORED.items() if name not in ("bool", "bf16", "date")}
_OF_NUMPY |= {np.dtype(stored).str: name for name, stored in STORED.items() if name in ("u8", "u16", "i32", "i64")}
_TIMES = ("timestamp", "timestamp_ntz")
LENGTHS_DIFFER = ("bytes", "utf8")


@dataclass(frozen=True)
class ColumnType:
    """The type of a field, and how it is compressed: ``None`` leaves that to the table."""

    type: str
    shape: tuple[int, ...] = ()
    codec: str | None = None
    nullable: bool = True
    nested: bool = False

    @cached_property
    def spec(self) -> FieldSpec:
        return FieldSpec(1, "value", self.type, self.shape)

    @property
    def is_variable(self) -> bool:
        """Whether values differ in length."""
        return self.type in LENGTHS_DIFFER or -1 in self.shape

    @property
    def is_time(self) -> bool:
        return self.type in _TIMES

    def is_same(self, other: ColumnType) -> bool:
        return (self.type, self.shape) == (other.type, other.shape)

    def json(self, name: str) -> dict[str, Any]:
        return {"name": name, "type": self.type, "shape": list(self.shape), "codec": self.codec}

    def __str__(self) -> str:
        return self.type + (f"[{','.join(map(str, self.shape))}]" if self.shape else "")


def parse(name: str, words: str) -> ColumnType:
    """Returns the type that words such as ``u8[28,28]`` or ``utf8:zstd:9`` name."""
    found = _WORDS.fullmatch(words.strip()) if isinstance(words, str) else None
    if found is None or not _is_known(found[1].replace(" ", "")):
        raise ValueError(
            f"Field '{name}' has the type {words!r} in the schema; write a type, a shape and a codec, such as 'i32',"
            f" 'f32[-1,3]', 'decimal(10,2)' or 'utf8:zstd'. Types are {', '.join(STORED)}, decimal(p,s), bytes and utf8"
        )
    shape = tuple(int(n) for n in found[2].split(",")) if found[2] else ()
    return ColumnType(found[1].replace(" ", ""), shape, found[3])


def _is_known(name: str) -> bool:
    return name in STORED or name in LENGTHS_DIFFER or name.startswith("decimal(")


def parse_schema(schema: Mapping[str, str] | None) -> dict[str, ColumnType]:
    """Returns the types of a schema, by field."""
    if schema is not None and not isinstance(schema, Mapping):
        raise TypeError(f"A schema is a mapping of fields to types, such as {{'image': 'u8[28,28]'}}, not {type(schema).__name__}")
    return {name: parse(name, words) for name, words in (schema or {}).items()}


def of_json(fields: list[dict[str, Any]]) -> dict[str, ColumnType]:
    """Returns the types of the fields of a table, as the engine says them."""
    return {
        field["name"]: ColumnType(field["type"], tuple(field["shape"]), None, field["nullable"], field["nested"])
        for field in fields
    }


def of_dtype(name: str, dtype: np.dtype[Any]) -> str:
    """Returns the type of elements of a dtype of NumPy. Raises ``ValueError`` with the remedy if there is none."""
    if dtype.kind == "b":
        return "bool"
    if dtype.kind in "iuf" and (known := _OF_NUMPY.get(dtype.newbyteorder("<").str if dtype.itemsize > 1 else dtype.str)):
        return known
    if dtype.name == "bfloat16":
        return "bf16"
    if dtype.kind == "M":
        return "date" if np.datetime_data(dtype)[0] in ("D", "W", "M", "Y") else "timestamp_ntz"
    if dtype.kind in "SU":
        return "bytes" if dtype.kind == "S" else "utf8"
    raise ValueError(f"Field '{name}' has the dtype {dtype}, which the format does not have; {_remedy(dtype)}")


def _remedy(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "c":
        return "write np.stack([x.real, x.imag], -1), or both as fields of their own"
    if dtype.kind == "m":
        return "write x.astype('timedelta64[us]').astype(np.int64), or another unit, as whole numbers"
    if dtype.names:
        return "write each of its members as a field: {member: x[member] for member in x.dtype.names}"
    if dtype.kind == "f":
        return "write x.astype(np.float64)"
    return "write a list of bytes, of str, or of arrays"
