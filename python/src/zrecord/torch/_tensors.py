"""Makes tensors of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from zrecord.torch._batch import Batch


def collate(batch: Any) -> Any:
    """Turns the NumPy arrays of a batch to tensors, which share their memory where they can; ``collate_fn`` of ``DataLoader``.

    Text, bytes, decimals, dates and times, and what PyTorch has no dtype for, stay as they are. Lists of arrays become lists of
    tensors. A batch whose values are tensors passes through.
    """
    if not isinstance(batch, Batch):
        raise TypeError(
            f"collate takes a batch of zrecord.torch.Dataset, not {type(batch).__name__}; use the dataset's own collation"
        )
    import torch

    for name, value in batch.items():
        batch[name] = _bfloat16(torch, value) if name in batch.bfloat16 else _tensor(torch, value)
    for name, absent in batch.marks.items():
        batch.marks[name] = _tensor(torch, absent)
    batch.bfloat16 = frozenset()
    return batch


def _tensor(torch: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_tensor(torch, each) for each in value]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufc":
        return value
    try:
        return torch.from_numpy(value if value.flags.writeable else value.copy())
    except TypeError:  # a dtype that this PyTorch lacks, such as uint32 before 2.3
        return value


def _bfloat16(torch: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_bfloat16(torch, each) for each in value]
    return value if value is None else _tensor(torch, np.asarray(value).view(np.int16)).view(torch.bfloat16)
