"""Fields and their types (FORMAT.md sections 3 and 8)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from zrecord._nested import NestedType, UnknownTypeError, read_type
from zrecord._sealed import JsonObject, unsupported
from zrecord.errors import FormatError

CODECS = ("raw", "flate", "zstd", "lz4")
LAYOUTS = ("entries", "runs")
_MAX_WIDTH = 2**31 - 1
_MAX_RANK = 16
_MAX_DEFAULT_TEXT = 1 << 16
DEFAULT_EXPRESSION = "default-expression"
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
_SHOWN_AS_STORED = {"timestamp": "<M8[us]", "timestamp_ntz": "<M8[us]"}
_VARIABLE = ("bytes", "utf8", "nested")
_DECIMAL = re.compile(r"decimal\(([1-9]\d?),(0|[1-9]\d?)\)", re.ASCII)


@dataclass(frozen=True)
class FieldSpec:
    """A field: its number, name, type and shape (FORMAT.md section 8), and the compression of its values."""

    id: int
    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    codec: str = "raw"
    attributes: dict[str, str] = field(default_factory=dict, compare=False)
    nested: NestedType | None = None  #: the type of nested values
    initial: bytes | None = None  #: the value of records in shards that lack the field
    nullable: bool = True  #: whether values may be absent
    comment: str = ""
    default: str | None = None  #: the text, in SQL, of the value that writers give to a record which says nothing of the field

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
        """The number of bytes of an element; ``None`` for bytes, text and nested values."""
        decimal = _DECIMAL.fullmatch(self.dtype)
        if decimal:
            precision = int(decimal[1])
            return 4 if precision <= 9 else 8 if precision <= 18 else 16
        return None if self.dtype in _VARIABLE else self.stored_dtype.itemsize

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


@dataclass(frozen=True)
class UnreadableField:
    """A field that uses a feature of a later release."""

    id: int
    name: str
    feature: str

    def error(self, path: object) -> FormatError:
        return unsupported(path, f"field '{self.name}' of {path}", self.feature)


def read_fields(jsons: Iterable[JsonObject]) -> tuple[list[FieldSpec], list[UnreadableField]]:
    """Returns the fields of a manifest, and those that cannot be read."""
    fields: list[FieldSpec] = []
    unreadable: list[UnreadableField] = []
    for json in jsons:
        unknown = read_unreadable(json)
        if unknown is None:
            fields.append(read_field(json))
        else:
            unreadable.append(unknown)
    return fields, unreadable


def read_unreadable(json: JsonObject) -> UnreadableField | None:
    """Returns the field if it names a feature, or has a dtype, codec or layout, that this release does not know."""
    feature = json.unknown_feature()
    if feature is None:
        feature = _unknown_value(json)
    return None if feature is None else UnreadableField(json.integer("id", 1, 2**31 - 1), _read_name(json), feature)


def _unknown_value(json: JsonObject) -> str | None:
    dtype, codec = json.string("dtype"), json.string("compress")
    layout = json.string("layout") if "layout" in json.members else LAYOUTS[0]
    if not _is_known_dtype(dtype):
        return f"dtype {dtype[:64]}"
    try:
        _read_nested(json, dtype)
    except UnknownTypeError as e:
        return f"type {e}"
    if codec not in CODECS:
        return f"compress {codec[:64]}"
    return None if layout in LAYOUTS else f"layout {layout[:64]}"


def _is_known_dtype(dtype: str) -> bool:
    decimal = _DECIMAL.fullmatch(dtype)
    if decimal:
        return int(decimal[1]) <= 38 and int(decimal[2]) <= int(decimal[1])
    return dtype in STORED or dtype in _VARIABLE


def _read_nested(json: JsonObject, dtype: str) -> NestedType | None:
    if dtype != "nested":
        return None
    if "type" not in json.members or "shape" in json.members:
        raise json.corrupt("a nested field has no type, or a shape")
    try:
        return read_type(json.members["type"], _leaf)
    except ValueError as e:
        raise json.corrupt(f"the type of a field is invalid: {e}") from e


def _leaf(dtype: str) -> tuple[np.dtype[Any] | None, int | None]:
    """Returns the stored elements of a leaf of nested values, and the scale of a decimal."""
    if dtype == "nested" or not _is_known_dtype(dtype):
        raise UnknownTypeError(dtype[:64])
    spec = FieldSpec(1, "leaf", dtype)
    if spec.element_bytes is None:
        return None, None
    if spec.scale is not None:
        return np.dtype(f"V{spec.element_bytes}"), spec.scale
    return np.dtype(_SHOWN_AS_STORED.get(dtype) or STORED[dtype]), None


def _read_name(json: JsonObject) -> str:
    name = json.string("name")
    units = len(name.encode("utf-16-le", "surrogatepass")) // 2
    if not 1 <= units <= 1024 or "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
        raise json.corrupt(f"{name[:40]!r} is not allowed as the name of a field")
    return name


def read_field(json: JsonObject) -> FieldSpec:
    """Returns the field that an object of a manifest or of a shard's meta file describes, if it can be read."""
    name = _read_name(json)
    dtype = json.string("dtype")
    codec = json.string("compress")
    try:
        nested = _read_nested(json, dtype)
    except UnknownTypeError as e:
        raise json.corrupt(f"the type of field '{name}' is unknown: {e}") from e
    number, attributes = json.integer("id", 1, 2**31 - 1), json.strings("attributes")
    nullable = json.members.get("nullable", True)
    if not isinstance(nullable, bool):
        raise json.corrupt(f"the member 'nullable' of field '{name}' is neither true nor false")
    comment = json.string("comment") if "comment" in json.members else ""
    initial = _default(json, "initial")
    write, text = _default(json, "write"), _default_text(json)
    if text is not None and write is None and DEFAULT_EXPRESSION not in json.features("write"):
        raise json.corrupt(f"the default of field '{name}' is no constant, but its features lack '{DEFAULT_EXPRESSION}'")
    spec = FieldSpec(number, name, dtype, _shape(json, dtype), codec, attributes, nested, initial, nullable, comment, text)
    if initial is not None and spec.width is not None and len(initial) != spec.width:
        raise json.corrupt(f"the initial default of field '{name}' has {len(initial)} bytes instead of {spec.width}")
    if prod(max(1, abs(d)) for d in spec.shape) * (spec.element_bytes or 1) > _MAX_WIDTH:
        raise json.corrupt(f"values of field '{name}' would have more than {_MAX_WIDTH} bytes: {dtype}{list(spec.shape)}")
    return spec


def _default(json: JsonObject, member: str) -> bytes | None:
    if member not in json.members:
        return None
    digits = json.string(member)
    if re.fullmatch("([0-9a-f]{2}){0,65536}", digits) is None:
        raise json.corrupt(f"the member '{member}' is not 0 to 65,536 bytes in hexadecimal digits")
    return bytes.fromhex(digits)


def _default_text(json: JsonObject) -> str | None:
    if "default" not in json.members:
        return None
    text = json.string("default")
    is_valid = "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
    if not is_valid or not 1 <= len(text.encode("utf-16-le", "surrogatepass")) // 2 <= _MAX_DEFAULT_TEXT:
        raise json.corrupt(f"the member 'default' is not 1 to {_MAX_DEFAULT_TEXT} characters of valid Unicode")
    return text


def _shape(json: JsonObject, dtype: str) -> tuple[int, ...]:
    if "shape" not in json.members:
        return ()
    shape = json.integers("shape", -1, 2**31 - 1)
    if not 1 <= len(shape) <= _MAX_RANK or -1 in shape[1:] or (shape[0] == -1 and 0 in shape) or dtype in _VARIABLE:
        raise json.corrupt(f"a value of dtype {dtype} cannot have the shape {shape[:20]}")
    return tuple(shape)
