"""Values of different lengths of one field in one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

Array = np.ndarray[Any, Any]


class Ragged(Sequence[Any]):
    """Values that follow each other in ``values``: value ``i`` is ``values[offsets[i]:offsets[i + 1]]``.

    ``ragged[i]`` is an array without a copy. For a field of bytes it is ``bytes`` and for text ``str``, and ``values``
    are of ``uint8``. An absent value is empty.
    """

    __slots__ = ("dtype", "offsets", "values")

    def __init__(self, values: Array, offsets: Array, dtype: str) -> None:
        self.values = values
        self.offsets = offsets
        self.dtype = dtype

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        value = self.values[self.offsets[at] : self.offsets[at + 1]]
        if self.dtype == "bytes":
            return value.tobytes()
        return value.tobytes().decode("utf-8") if self.dtype == "utf8" else value

    def to_arrow(self, absent: Array | None = None) -> Any:
        """Returns the values as a ``pyarrow.Array`` of lists, strings or binary; numbers and texts are not copied.

        ``absent`` tells which values are absent, as ``batch.absent`` does; they are null. Needs pyarrow.
        """
        # A module above this one: imported when it is needed.
        from zrecord._arrow import ragged

        return ragged(self.values, self.offsets, self.dtype, absent)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Ragged({len(self)} values of {self.dtype})"
