"""Training with PyTorch's ``DataLoader``, in any order of ``zrecord.samplers``, without Java.

    data = zrecord.torch.Dataset("/data/train", fields=["image", "label"])
    batches = zrecord.torch.BatchSampler(data, batch_size=256, seed=42)
    loader = DataLoader(data, batch_sampler=batches, collate_fn=zrecord.torch.collate, num_workers=2)

PyTorch itself is imported by ``collate`` only. ``FeedLoader`` takes the place of the ``DataLoader`` where there is Java.
"""

from zrecord.torch._batch import Batch, BatchIndices
from zrecord.torch._batches import BatchIterator, BatchSampler
from zrecord.torch._dataset import Dataset
from zrecord.torch._loader import FeedLoader
from zrecord.torch._tensors import collate

__all__ = ["Batch", "BatchIndices", "BatchIterator", "BatchSampler", "Dataset", "FeedLoader", "collate"]
