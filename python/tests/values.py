"""Values in a form in which all that differs is unequal."""

from __future__ import annotations

from typing import Any

import numpy as np


def exact(found: Any) -> Any:
    """Returns the bytes, type and shape of an array, the elements of a list, and the text of any other value."""
    if isinstance(found, np.ndarray) and found.dtype != object:
        return found.dtype.str, found.shape, found.tobytes()
    if isinstance(found, np.generic):
        return found.dtype.str, found.tobytes()
    if isinstance(found, list):
        return [exact(value) for value in found]
    return found if isinstance(found, (bytes, str)) else repr(found)
