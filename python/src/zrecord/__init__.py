"""zrecord datasets as NumPy arrays: ``zrecord.open(path)["image"][[5, 1, 5]]``.

The files are specified in ``docs/FORMAT.md``.
"""

from zrecord.errors import ZrecordError

__version__ = "0.1.0.dev0"

__all__ = ["ZrecordError"]
