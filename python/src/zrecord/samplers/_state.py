"""What is stored to resume a run (SAMPLERS.md section 1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FORMAT = 1
_MEMBERS = ("format", "datasetVersion", "seed", "epoch", "position")


@dataclass(frozen=True)
class SamplerState:
    """How far a run came, whatever the number of ranks and of batches loaded ahead. The same in Java."""

    dataset_version: int | None  #: the newest version of a table that changed records; ``None`` for a dataset without versions
    seed: int
    epoch: int  #: from 0
    position: int  #: number of positions of the epoch that are consumed, in the order of all ranks together

    def __post_init__(self) -> None:
        for name, value in zip(_MEMBERS[1:], (self.dataset_version, self.seed, self.epoch, self.position)):
            if not (_is_number(value) or (name == "datasetVersion" and value is None)):
                raise ValueError(f"Cannot make a state: {name} is {value!r}, which is no signed number of 64 bits")
        if self.epoch < 0 or self.position < 0 or (self.dataset_version or 0) < 0:
            raise ValueError(
                f"Cannot make a state of version {self.dataset_version}, epoch {self.epoch} and position {self.position}: "
                "none may be negative"
            )

    def to_dict(self) -> dict[str, int | None]:
        """Returns the members of the JSON."""
        return {
            "format": _FORMAT,
            "datasetVersion": self.dataset_version,
            "seed": self.seed,
            "epoch": self.epoch,
            "position": self.position,
        }

    def to_json(self) -> str:
        """Returns one line of JSON with a format version."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> SamplerState:
        """Reads what ``to_json`` wrote, here or in Java. Raises ``ValueError`` for anything else, or a newer format."""
        try:
            members = json.loads(text, object_pairs_hook=_unique)
        except ValueError as e:
            raise _damaged(text, str(e)) from None
        return cls.from_dict(members)

    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> SamplerState:
        """Reads the members of the JSON. Raises ``ValueError`` if they are not those of a state of a known format."""
        if not isinstance(members, Mapping):
            raise _damaged(members, "it is no object")
        if members.get("format", _FORMAT) != _FORMAT:
            raise ValueError(
                f"Cannot read a sampler state of format {members['format']!r}: only {_FORMAT} is known; "
                "upgrade zrecord or start anew"
            )
        if sorted(members) != sorted(_MEMBERS):
            raise _damaged(members, f"its members are not {', '.join(_MEMBERS)}")
        for name in _MEMBERS:
            value = members[name]
            if not _is_number(value) and not (name == "datasetVersion" and value is None):
                raise _damaged(members, f"{name} is no 64-bit number")
        return cls(*(members[name] for name in _MEMBERS[1:]))


def _is_number(value: object) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member appears twice")
    return members


def _damaged(state: object, reason: str) -> ValueError:
    return ValueError(f"Cannot read the sampler state {str(state)[:200]}: {reason}; give the line that to_json() made")
