"""Nested values: lists, maps and structs as one value of a field (FORMAT.md section 8.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_MAX_DEPTH = 8
_MAX_TYPES = 1000
_MAX_VALUE = 2**31 - 1


class UnknownTypeError(Exception):
    """A type of a later release."""


@dataclass(frozen=True)
class NestedType:
    """A type: ``kind`` is ``list``, ``map``, ``struct`` or ``leaf``, and ``names`` are those of a struct's members."""

    kind: str
    children: tuple[NestedType, ...] = ()
    names: tuple[str, ...] = ()
    dtype: str = ""
    shape: tuple[int, ...] = ()
    element: np.dtype[Any] | None = None  #: of the stored elements; ``None`` for text and bytes
    scale: int | None = None  #: fraction digits of a decimal

    @property
    def buffer_count(self) -> int:
        if self.kind == "leaf":
            return 2 if self.element is not None and not self.shape else 3
        own = {"list": 2, "map": 3, "struct": 1}[self.kind]
        return own + sum(child.buffer_count for child in self.children)

    def __str__(self) -> str:
        if self.kind == "leaf":
            return self.dtype + (str(list(self.shape)).replace(" ", "") if self.shape else "")
        if self.kind == "struct":
            return f"struct<{','.join(f'{n}:{c}' for n, c in zip(self.names, self.children))}>"
        return f"{self.kind}<{','.join(map(str, self.children))}>"


def read_type(json: Any, leaf: Callable[[str], tuple[np.dtype[Any] | None, int | None]]) -> NestedType:
    """Returns the type that JSON describes.

    ``leaf`` returns the elements of a dtype, and raises ``UnknownTypeError`` if it does not know the dtype. What breaks a rule
    raises ``ValueError``.
    """
    root = _read_type(json, leaf, 0)
    if root.kind == "leaf" or _count(root) > _MAX_TYPES:
        raise UnknownTypeError("beyond the limits")
    return root


def _count(found: NestedType) -> int:
    return 1 + sum(map(_count, found.children))


def _read_type(json: Any, leaf: Callable[[str], tuple[np.dtype[Any] | None, int | None]], depth: int) -> NestedType:
    if depth > _MAX_DEPTH:
        raise UnknownTypeError(f"with more than {_MAX_DEPTH} levels")
    if isinstance(json, str):
        json = {"dtype": json}
    if not isinstance(json, dict):
        raise ValueError("a type is neither a name nor an object")
    if "dtype" in json:
        return _read_leaf(json, leaf)
    if "list" in json:
        return NestedType("list", (_read_type(json["list"], leaf, depth + 1),))
    if "map" in json:
        if not isinstance(json["map"], list) or len(json["map"]) != 2:
            raise ValueError("a map is no array of two types")
        key, value = (_read_type(child, leaf, depth + 1) for child in json["map"])
        if _has_map(key):
            raise ValueError("a map is in a key of a map")
        return NestedType("map", (key, value))
    if "struct" in json:
        return _read_struct(json["struct"], leaf, depth)
    raise UnknownTypeError(str(json)[:64])


def _has_map(found: NestedType) -> bool:
    return found.kind == "map" or any(map(_has_map, found.children))


def _read_struct(members: Any, leaf: Callable[[str], tuple[np.dtype[Any] | None, int | None]], depth: int) -> NestedType:
    if not isinstance(members, list) or not members or not all(isinstance(member, dict) for member in members):
        raise ValueError("a struct is no array of at least one member")
    names = [member.get("name") for member in members]
    if not all(isinstance(name, str) and 1 <= len(name) <= 1024 and "\0" not in name for name in names):
        raise ValueError("a member of a struct has no allowed name")
    if len(set(names)) != len(names):
        raise ValueError("two members of a struct have one name")
    if not all("type" in member for member in members):
        raise ValueError("a member of a struct has no type")
    children = tuple(_read_type(member["type"], leaf, depth + 1) for member in members)
    return NestedType("struct", children, tuple(str(name) for name in names))


def _read_leaf(json: dict[str, Any], leaf: Callable[[str], tuple[np.dtype[Any] | None, int | None]]) -> NestedType:
    dtype, shape = json["dtype"], json.get("shape", [])
    if not isinstance(dtype, str) or not isinstance(shape, list) or len(shape) > 16:
        raise ValueError("a leaf has no dtype, or a shape that is not allowed")
    if not all(type(n) is int and 1 <= n <= _MAX_VALUE for n in shape):
        raise ValueError(f"dimensions of a nested tensor are at least 1: {shape}")
    element, scale = leaf(dtype)
    if shape and element is None:
        raise ValueError(f"values of {dtype} have no shape")
    if element is not None and prod(shape) * element.itemsize > _MAX_VALUE:
        raise ValueError(f"values of {dtype}{shape} have more than {_MAX_VALUE} bytes")
    return NestedType("leaf", (), (), dtype, tuple(shape), element, scale)


class _Buffers:
    """Takes the buffers of a value one after the other, each checked against the length that the type asks for."""

    def __init__(self, value: Array, count: int) -> None:
        self._value = value
        head = -(-(8 + 4 * count) // 8) * 8
        if len(value) < 8 or int(value[:4].view("<u4")[0]) != count or len(value) < head:
            raise ValueError(f"it does not have the {count} buffers of its type")
        self.elements = int(value[4:8].view("<u4")[0])
        if self.elements > _MAX_VALUE:
            raise ValueError(f"it has {self.elements} elements")
        self._lengths = iter(value[8 : 8 + 4 * count].view("<u4").tolist())
        self._at = 8 + 4 * count
        self._skip(head)

    def take(self, what: str, length: int, may_be_empty: bool = False) -> Array:
        found = next(self._lengths)
        if found != length and not (may_be_empty and found == 0):
            raise ValueError(f"its {what} have {found} bytes instead of {length}")
        start = self._at
        end = start + -(-found // 8) * 8
        if end > len(self._value):
            raise ValueError(f"its {what} end beyond its {len(self._value)} bytes")
        self._at = start + found
        self._skip(end)
        return self._value[start : start + found]

    def bits(self, what: str, count: int, may_be_empty: bool) -> Array | None:
        raw = self.take(what, (count + 7) // 8, may_be_empty)
        if may_be_empty and not len(raw):
            return None
        if count % 8 and raw[-1] >> count % 8:
            raise ValueError(f"its {what} have bits beyond its values")
        return np.unpackbits(raw, count=count, bitorder="little").astype(bool)

    def offsets(self, count: int) -> Array:
        offsets = self.take("offsets", 4 * (count + 1)).view("<i4")
        if offsets[0] != 0 or (np.diff(offsets.astype(np.int64)) < 0).any():
            raise ValueError("its offsets do not begin with 0, or fall")
        return offsets

    def end(self) -> None:
        if self._at != len(self._value):
            raise ValueError(f"it has {len(self._value)} bytes, but its buffers end at {self._at}")

    def _skip(self, end: int) -> None:
        if self._value[self._at : end].any():
            raise ValueError("a byte between its buffers is not zero")
        self._at = end


class NestedArray:
    """The values of one type within a nested value, as an array of Arrow's columnar layout.

    ``values`` are a leaf's elements as a NumPy array without a copy (flags are unpacked from bits); of text and bytes, ``values``
    are all their bytes. ``offsets`` tell where a list, map, text or bytes begins in the children or in ``values``. ``validity``
    tells which values are present; ``None`` if all are. ``children`` are the elements of a list, the keys and values of a map,
    or the members of a struct.
    """

    __slots__ = ("children", "count", "offsets", "type", "validity", "values")

    def __init__(self, found: NestedType, count: int) -> None:
        self.type = found
        self.count = count
        self.validity: Array | None = None
        self.offsets: Array | None = None
        self.values: Array | None = None
        self.children: list[NestedArray] = []

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, member: str) -> NestedArray:
        """Returns the array of a struct's member."""
        if member not in self.type.names:
            raise KeyError(f"{member!r} is no member of {self.type}")
        return self.children[self.type.names.index(member)]

    def is_absent(self, i: int) -> bool:
        return self.validity is not None and not self.validity[i]

    def to_python(self, i: int) -> Any:
        """Returns a value as lists, dicts of structs' members, and lists of pairs of keys and values; ``None`` if absent.

        A tensor is a NumPy array, and a time ``datetime64``. Dates are days since 1970.
        """
        if self.is_absent(i):
            return None
        if self.type.kind == "struct":
            return {name: child.to_python(i) for name, child in zip(self.type.names, self.children)}
        if self.type.kind == "leaf":
            return self._leaf(i)
        assert self.offsets is not None
        span = range(int(self.offsets[i]), int(self.offsets[i + 1]))
        if self.type.kind == "map":
            keys, values = self.children
            return [(keys.to_python(k), values.to_python(k)) for k in span]
        return [self.children[0].to_python(k) for k in span]

    def _leaf(self, i: int) -> Any:
        assert self.values is not None
        if self.offsets is not None:
            raw = self.values[int(self.offsets[i]) : int(self.offsets[i + 1])].tobytes()
            return raw.decode() if self.type.dtype == "utf8" else raw
        value = self.values[i]
        if self.type.scale is not None:
            raw = value.tobytes()
            step = len(raw) // max(1, prod(self.type.shape))
            decimals = [_decimal(raw[at : at + step], self.type.scale) for at in range(0, len(raw), step)]
            return decimals if self.type.shape else decimals[0]
        return value if self.type.shape or isinstance(value, np.datetime64) else value.item()

    def to_arrow(self) -> Any:
        """Returns a ``pyarrow.Array``; numbers, text and bytes are not copied. Needs pyarrow."""
        import pyarrow as pa

        kind = arrow_type(self.type)
        buffers = [None if self.validity is None else pa.py_buffer(np.packbits(self.validity, bitorder="little"))]
        nulls = 0 if self.validity is None else int(self.count - self.validity.sum())
        if self.type.kind == "struct":
            children = [child.to_arrow() for child in self.children]
            return pa.Array.from_buffers(kind, self.count, buffers, nulls, children=children)
        if self.type.kind == "map":
            keys, values = (child.to_arrow() for child in self.children)
            entries = pa.StructArray.from_arrays([keys, values], fields=[kind.key_field, kind.item_field])
            return pa.Array.from_buffers(kind, self.count, [*buffers, pa.py_buffer(self.offsets)], nulls, children=[entries])
        if self.type.kind == "list":
            children = [self.children[0].to_arrow()]
            return pa.Array.from_buffers(kind, self.count, [*buffers, pa.py_buffer(self.offsets)], nulls, children=children)
        assert self.values is not None
        if self.offsets is not None:
            return pa.Array.from_buffers(kind, self.count, [*buffers, pa.py_buffer(self.offsets), pa.py_buffer(self.values)], nulls)
        data = _arrow_data(self.type, self.values)
        if not self.type.shape:
            return pa.Array.from_buffers(kind, self.count, [*buffers, pa.py_buffer(data)], nulls)
        elements = pa.Array.from_buffers(kind.value_type, self.count * prod(self.type.shape), [None, pa.py_buffer(data)])
        return pa.Array.from_buffers(kind, self.count, buffers, nulls, children=[elements])


class Nested:
    """A nested value. ``root`` is an array of this value alone, whose children hold what is in the value.

    ``value.elements`` are the elements of a list, and ``value["name"]`` a member of a struct, as arrays.
    """

    __slots__ = ("root",)

    def __init__(self, root: NestedArray) -> None:
        self.root = root

    @property
    def type(self) -> NestedType:
        return self.root.type

    @property
    def elements(self) -> NestedArray:
        """The elements of a list."""
        if self.type.kind != "list":
            raise TypeError(f"A value of type {self.type} is no list")
        return self.root.children[0]

    def __len__(self) -> int:
        if self.root.offsets is None:
            return len(self.root.children)
        return int(self.root.offsets[1])

    def __getitem__(self, key: int | str) -> Any:
        """Returns element ``key`` of a list in terms of Python, or the array of a struct's member."""
        if isinstance(key, str):
            return self.root[key]
        return self.elements.to_python(range(len(self))[key])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_python())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nested) and repr(self.to_python()) == repr(other.to_python())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Nested({self.to_python()!r})"

    def to_python(self) -> Any:
        """Returns the value as lists, dicts of structs' members, and lists of pairs of keys and values."""
        return self.root.to_python(0)

    def to_arrow(self) -> Any:
        """Returns a ``pyarrow.Array`` that has this value alone. Needs pyarrow."""
        return self.root.to_arrow()


def read_nested(found: NestedType, value: Any) -> Nested:
    """Returns the value that bytes are, as views of them. Raises ``ValueError`` if they are no value of the type."""
    raw = np.frombuffer(value, np.uint8)
    buffers = _Buffers(raw, found.buffer_count - (1 if found.kind == "struct" else 2))
    root = NestedArray(found, 1)
    if found.kind == "struct":
        if buffers.elements != 1:
            raise ValueError(f"it has {buffers.elements} elements, but is one struct")
    else:
        root.offsets = np.array([0, buffers.elements], "<i4")
    if found.kind == "map":
        buffers.take("presence of entries", 0)
    root.children = _children(found, buffers, buffers.elements)
    buffers.end()
    return Nested(root)


def _children(found: NestedType, buffers: _Buffers, count: int) -> list[NestedArray]:
    return [_array(child, buffers, count, found.kind == "map" and k == 0) for k, child in enumerate(found.children)]


def _array(found: NestedType, buffers: _Buffers, count: int, is_key: bool) -> NestedArray:
    array = NestedArray(found, count)
    if is_key:
        buffers.take("presence of keys", 0)
    else:
        array.validity = buffers.bits("presence", count, True)
    if found.kind == "struct":
        array.children = _children(found, buffers, count)
    elif found.kind != "leaf":
        array.offsets = buffers.offsets(count)
        if found.kind == "map":
            buffers.take("presence of entries", 0)
        array.children = _children(found, buffers, int(array.offsets[-1]))
    elif found.element is None:
        array.offsets = buffers.offsets(count)
        array.values = buffers.take("data", int(array.offsets[-1]))
    else:
        if found.shape:
            buffers.take("presence of elements", 0)
        array.values = _elements(found, found.element, buffers, count)
    return array


def _elements(found: NestedType, element: np.dtype[Any], buffers: _Buffers, count: int) -> Array:
    total = count * prod(found.shape)
    if found.dtype == "bool":
        flags = buffers.bits("data", total, False)
        assert flags is not None
        return flags.reshape(count, *found.shape)
    raw = buffers.take("data", total * element.itemsize)
    return raw.view(element).reshape(count, *found.shape)


def _decimal(raw: bytes, scale: int) -> Decimal:
    return Decimal(f"{int.from_bytes(raw, 'little', signed=True)}E-{scale}")


def arrow_type(found: NestedType) -> Any:
    """Returns the ``pyarrow`` type of a type. A tensor is a fixed-size list of all its elements."""
    import pyarrow as pa

    if found.kind == "list":
        return pa.list_(arrow_type(found.children[0]))
    if found.kind == "map":
        return pa.map_(*map(arrow_type, found.children))
    if found.kind == "struct":
        return pa.struct(list(zip(found.names, map(arrow_type, found.children))))
    names = {"utf8": "string", "bytes": "binary", "bool": "bool_", "bf16": "uint16", "date": "date32"}
    times = {"timestamp": ("us", "UTC"), "timestamp_ntz": ("us",)}
    if found.dtype in times:
        element = pa.timestamp(*times[found.dtype])
    elif found.scale is not None:
        element = pa.decimal128(int(found.dtype[len("decimal(") :].split(",")[0]), found.scale)
    elif found.dtype in names:
        element = getattr(pa, names[found.dtype])()
    else:
        letters = {"i": "int", "u": "uint", "f": "float"}
        element = getattr(pa, letters[found.dtype[0]] + found.dtype[1:])()
    return pa.list_(element, prod(found.shape)) if found.shape else element


def _arrow_data(found: NestedType, values: Array) -> Array:
    if found.dtype == "bool":
        return np.packbits(values.reshape(-1), bitorder="little")
    if found.scale is not None and values.dtype.itemsize < 16:
        wide = np.empty((values.size, 2), "<i8")
        wide[:, 0] = values.reshape(-1).view(f"<i{values.dtype.itemsize}")
        wide[:, 1] = wide[:, 0] >> 63
        return wide
    return np.ascontiguousarray(values)
