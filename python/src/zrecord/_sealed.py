"""JSON that ends with its own checksum (FORMAT.md section 2), and reading its members without trusting them."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable
from typing import Any

from zrecord._crc32c import crc32c
from zrecord._files import read_bytes
from zrecord._location import Location
from zrecord.errors import CorruptDataError, FormatError

MAX_BYTES = 64 << 20
MAX_LONG = 2**63 - 1
FORMAT_VERSION = 2
_MAX_DEPTH = 32
_MAX_STRING = 1 << 20
_MAX_NAME = 1 << 10
_MAX_DIGITS = 1000
_SEAL = re.compile(rb',"crc32c":"([0-9a-f]{8})"\}\n')
_SEAL_BYTES = 22
_FEATURE = re.compile("[a-z][a-z0-9-]{0,63}", re.ASCII)


class JsonObject:
    """An object of a file. A missing, mistyped or out-of-range member is a ``CorruptDataError`` that names both."""

    def __init__(self, path: Location, members: dict[str, Any], size: int = 0) -> None:
        self.path = path
        self.members = members
        self.size = size  # bytes of the file, of the whole object of a file only

    @classmethod
    def read(cls, path: Location, most: int = MAX_BYTES) -> JsonObject:
        """Reads a sealed file of this version of the format, of at most a number of bytes."""
        return cls.parse(path, read_bytes(path, most))

    @classmethod
    def parse(cls, path: Location, content: bytes) -> JsonObject:
        """Reads sealed JSON that is the content of a file, or a part of one."""
        seal = _SEAL.fullmatch(content[-_SEAL_BYTES:])
        if not seal:
            raise corrupt(path, "it does not end with its checksum")
        if crc32c(content[:-_SEAL_BYTES]) != int(seal[1], 16):
            raise corrupt(path, f"its content has not the checksum {seal[1].decode()}")
        try:
            parsed = json.loads(
                content.decode("utf-8"),
                object_pairs_hook=_without_duplicates,
                parse_constant=_refuse,
                parse_int=_parse_int,
                parse_float=_parse_float,
            )
        except (ValueError, RecursionError) as e:
            raise corrupt(path, f"not valid JSON: {e}") from e
        if not isinstance(parsed, dict):
            raise corrupt(path, "it is not one object")
        broken = _broken_limit(parsed)
        if broken is not None:
            raise corrupt(path, broken)
        sealed = cls(path, parsed, len(content))
        require_version(path, sealed.integer("format", 1, 2**31 - 1))
        feature = sealed.unknown_feature()
        if feature is not None:
            raise unsupported(path, path, feature)
        return sealed

    def unknown_feature(self) -> str | None:
        """Returns a feature that a reader of this object must know; this release knows none."""
        self.features("write")
        return min(self.features("read"), default=None)

    def features(self, kind: str) -> list[str]:
        """Returns the names of the features that ``read``ers, or only those who ``write``, must know."""
        features = self.object("features") if "features" in self.members else None
        if features is None or kind not in features.members:
            return []
        names = features._list(kind)
        if len(names) > 64 or not all(isinstance(name, str) and _FEATURE.fullmatch(name) for name in names):
            raise self._unexpected(kind, names, "at most 64 names of features")
        return names

    def integer(self, name: str, low: int = 0, high: int = MAX_LONG) -> int:
        return self._integer(name, self.members.get(name), low, high)

    def string(self, name: str) -> str:
        value = self.members.get(name)
        if not isinstance(value, str):
            raise self._unexpected(name, value, "a string")
        return value

    def matching(self, name: str, pattern: str) -> str:
        """Returns a string that a whole pattern matches."""
        value = self.string(name)
        if not re.fullmatch(pattern, value, re.ASCII):
            raise self._unexpected(name, value, pattern)
        return value

    def uuid(self, name: str) -> uuid.UUID:
        return uuid.UUID(self.matching(name, "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"))

    def object(self, name: str) -> JsonObject:
        value = self.members.get(name)
        if not isinstance(value, dict):
            raise self._unexpected(name, value, "an object")
        return JsonObject(self.path, value)

    def objects(self, name: str) -> list[JsonObject]:
        found = self._list(name)
        if not all(isinstance(element, dict) for element in found):
            raise self._unexpected(name, found, "a list of objects")
        return [JsonObject(self.path, element) for element in found]

    def integers(self, name: str, low: int, high: int) -> list[int]:
        return [self._integer(name, element, low, high) for element in self._list(name)]

    def tuples(self, name: str, least: int, most: int | None = None) -> list[list[int]]:
        """Returns a list of lists, each with ``least`` to ``most`` integers that are not negative."""
        most = least if most is None else most
        found = self._list(name)
        if not all(isinstance(element, list) and least <= len(element) <= most for element in found):
            width = least if least == most else f"{least} to {most}"
            raise self._unexpected(name, found, f"a list of lists of {width} integers")
        return [[self._integer(name, n, 0, MAX_LONG) for n in element] for element in found]

    def mixed(self, name: str, sizes: tuple[int, ...]) -> list[MixedTuple]:
        """Returns a list of lists, each with one of these numbers of elements of any kinds."""
        return [MixedTuple(self, name, element, sizes) for element in self._list(name)]

    def mixed_one(self, name: str, sizes: tuple[int, ...]) -> MixedTuple:
        """Returns a list with one of these numbers of elements of any kinds."""
        return MixedTuple(self, name, self.members.get(name), sizes)

    def texts(self, name: str) -> list[str]:
        """Returns a list of strings."""
        found = self._list(name)
        if not all(isinstance(element, str) for element in found):
            raise self._unexpected(name, found, "a list of strings")
        return found

    def strings(self, name: str) -> dict[str, str]:
        """Returns an object of strings; empty if the member is missing."""
        found = self.object(name).members if name in self.members else {}
        if not all(isinstance(value, str) for value in found.values()):
            raise self._unexpected(name, found, "an object of strings")
        return found

    def corrupt(self, reason: str) -> CorruptDataError:
        return corrupt(self.path, reason)

    def _list(self, name: str) -> list[Any]:
        value = self.members.get(name)
        if not isinstance(value, list):
            raise self._unexpected(name, value, "a list")
        return value

    def _integer(self, name: str, value: Any, low: int, high: int) -> int:
        if type(value) is not int or not low <= value <= high:
            raise self._unexpected(name, value, f"an integer from {low} to {high}")
        return value

    def _unexpected(self, name: str, value: Any, expected: str) -> CorruptDataError:
        found = repr(value)
        return self.corrupt(f"member '{name}' is {found[:80]}{'…' * (len(found) > 80)}, expected {expected}")


class MixedTuple:
    """A list whose elements mean different things."""

    def __init__(self, owner: JsonObject, name: str, value: Any, sizes: tuple[int, ...]) -> None:
        if not isinstance(value, list) or len(value) not in sizes:
            raise owner._unexpected(name, value, f"a list of {' or '.join(map(str, sizes))} elements")
        self.size = len(value)
        self._elements = JsonObject(owner.path, {f"{name}[{i}]": element for i, element in enumerate(value)})
        self._name = name

    def integer(self, i: int, low: int = 0, high: int = MAX_LONG) -> int:
        return self._elements.integer(f"{self._name}[{i}]", low, high)

    def uuid(self, i: int) -> uuid.UUID:
        return self._elements.uuid(f"{self._name}[{i}]")

    def objects(self, i: int) -> list[JsonObject]:
        return self._elements.objects(f"{self._name}[{i}]")

    def matching(self, i: int, pattern: str) -> str:
        return self._elements.matching(f"{self._name}[{i}]", pattern)


def corrupt(path: Location, reason: str) -> CorruptDataError:
    """Returns the error for a file whose content breaks a rule."""
    return CorruptDataError(f"Cannot read {path}: {reason}; restore it from a copy", path)


def require_version(path: Location, version: int) -> None:
    """Refuses a file of another version of the format."""
    if version > FORMAT_VERSION:
        raise FormatError(f"Cannot read {path}: format version {version} is newer than {FORMAT_VERSION}; upgrade zrecord", path)
    if version < 1:
        raise corrupt(path, f"there is no format version {version}")
    if version < FORMAT_VERSION:
        raise FormatError(f"Cannot read {path}: format version {version} was never released; write the dataset again", path)


def unsupported(path: object, what: object, feature: str) -> FormatError:
    """Returns the error for what uses a feature of a later release."""
    reason = f"it uses the feature '{feature}', which this release does not know; upgrade zrecord"
    return FormatError(f"Cannot read {what}: {reason}", path)


def require_plain(path: Location, header: bytes, length: int, *reserved: tuple[int, int]) -> None:
    """Refuses a header of another length, and reserved bytes that are not zero: a later release may own them."""
    found = int.from_bytes(header[12:16], "little")
    if found != length:
        raise unsupported(path, path, f"header of {found} bytes")
    for start, end in reserved:
        if any(header[start:end]):
            raise unsupported(path, path, f"bytes {start} to {end} of the header")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has two members of one name")
    if any(_is_longer(name, _MAX_NAME) for name in members):
        raise ValueError(f"the name of a member has more than {_MAX_NAME} characters")
    return members


def _is_longer(text: str, most: int) -> bool:
    """Tells whether a text has more UTF-16 units than are allowed."""
    return 2 * len(text) > most and len(text.encode("utf-16-le", "surrogatepass")) > 2 * most


def _parse_int(number: str) -> int:
    _require_digits(number)
    return int(number)


def _parse_float(number: str) -> float:
    _require_digits(number)
    return float(number)


def _require_digits(number: str) -> None:
    if len(number) > _MAX_DIGITS and sum(map(str.isdigit, number)) > _MAX_DIGITS:
        raise ValueError(f"a number has more than {_MAX_DIGITS} digits")


def _refuse(number: str) -> Any:
    raise ValueError(f"{number} is not JSON")


def _broken_limit(value: Any) -> str | None:
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if any(isinstance(child, str) and _is_longer(child, _MAX_STRING) for child in level):
            return f"a string has more than {_MAX_STRING} characters"
        if not level:
            return None
    return f"it has more than {_MAX_DEPTH} levels"


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
