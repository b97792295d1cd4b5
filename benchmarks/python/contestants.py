"""Ways to deliver shuffled epochs to Python as NumPy arrays of 256 records. Each makes its own files of the same records.

To add a way, add a class and name it in ``ALL``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from records import Records

import zrecord

BATCH = 256
Batch = tuple[Any, Any]


class Contestant:
    """``epoch`` yields images and labels in a random order that the seed chooses. ``epochs`` yields one epoch after the other."""

    name = ""
    suffix = ""

    def __init__(self, records: Records, directory: Path) -> None:
        self.records = records
        self.directory = directory
        self.images = np.load(records.images(directory), mmap_mode="r")
        self.labels = np.load(records.labels(directory), mmap_mode="r")
        self.open()

    def open(self) -> None:
        """Opens the files, and makes them first if they do not exist."""

    def epoch(self, seed: int) -> Iterator[Batch]:
        raise NotImplementedError

    def epochs(self, seed: int) -> Iterator[Batch]:
        """Yields epochs without an end, as training needs them."""
        for epoch in itertools.count():
            yield from self.epoch(seed + epoch)

    def warm(self) -> None:
        """Reads the files, so that they are in the page cache."""
        for root in [self.path, self.records.labels(self.directory)]:
            for file in [root, *root.rglob("*")]:
                if file.is_file():
                    with file.open("rb") as content:
                        while content.read(1 << 22):
                            pass

    @property
    def path(self) -> Path:
        """The file, or the directory of the files, to read."""
        if self.suffix == "zrecord":
            return self.records.table(self.directory, 1)
        return self.files(self.suffix) if self.suffix else self.records.images(self.directory)

    def files(self, suffix: str) -> Path:
        return self.directory / f"{self.records.width}-{self.records.count}.{suffix}"

    def order(self, seed: int) -> list[Any]:
        """Yields batches of a permutation; the last may be shorter."""
        permutation = np.random.default_rng(seed).permutation(self.records.count)
        return np.split(permutation, range(BATCH, self.records.count, BATCH))


class Memmap(Contestant):
    name = "np.memmap"

    def epoch(self, seed: int) -> Iterator[Batch]:
        for batch in self.order(seed):
            yield self.images[batch], self.labels[batch]


class ZRecord(Contestant):
    name = "zrecord"
    suffix = "zrecord"

    def open(self) -> None:
        self.dataset = zrecord.open(self.path)

    def epoch(self, seed: int) -> Iterator[Batch]:
        for batch in self.order(seed):
            found = self.dataset.gather(batch)
            yield found["data"], found["label"]


class ZRecordFeed(Contestant):
    name = "zrecord.feed"
    suffix = "zrecord"

    def epochs(self, seed: int) -> Iterator[Batch]:
        with zrecord.feed(self.path, batch_size=BATCH, seed=seed, epochs=None) as feed:
            for _ in feed.remaining_epochs():
                for batch in feed:
                    yield batch["data"], batch["label"]


class Items:
    """A data set that a DataLoader of PyTorch asks for single records."""

    def __init__(self, images: Any, labels: Any) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Batch:
        return self.images[index], self.labels[index]


class Batches(Items):
    """A data set that a DataLoader asks for whole batches."""

    def __getitems__(self, indices: list[int]) -> Batch:
        return self.images[indices], self.labels[indices]


def as_it_is(batch: Any) -> Any:
    return batch


def stacked(batch: list[Batch]) -> Batch:
    return np.stack([image for image, _ in batch]), np.array([label for _, label in batch])


class TorchItems(Contestant):
    name = "PyTorch DataLoader over np.memmap, by item"
    workers = 0
    dataset: Any = None
    collate: Any = staticmethod(stacked)

    def open(self) -> None:
        self.dataset = Items(self.images, self.labels)

    def epochs(self, seed: int) -> Iterator[Batch]:
        import torch
        from torch.utils.data import DataLoader

        loader = DataLoader(
            self.dataset,
            batch_size=BATCH,
            shuffle=True,
            num_workers=self.workers,
            persistent_workers=self.workers > 0,
            collate_fn=self.collate,
            generator=torch.Generator().manual_seed(seed),
        )
        while True:
            yield from loader


class TorchItemsTwoWorkers(TorchItems):
    name = "the same, 2 workers"
    workers = 2


class TorchBatches(TorchItems):
    name = "PyTorch DataLoader over np.memmap, by batch"
    collate = staticmethod(as_it_is)

    def open(self) -> None:
        self.dataset = Batches(self.images, self.labels)


class TorchBatchesTwoWorkers(TorchBatches):
    name = "the same, 2 workers "
    workers = 2


class TorchZRecord(TorchBatches):
    name = "PyTorch DataLoader over zrecord, by batch"
    suffix = "zrecord"

    def open(self) -> None:
        dataset = zrecord.open(self.path)
        self.dataset = Batches(dataset["data"], dataset["label"])


class HuggingFace(Contestant):
    name = "Hugging Face datasets"
    suffix = "arrow"

    def open(self) -> None:
        import datasets

        path = self.path
        if not path.exists():
            width = self.records.width
            features = datasets.Features(
                {"data": datasets.Sequence(datasets.Value("uint8"), length=width), "label": datasets.Value("int64")}
            )
            import pyarrow as pa

            table = datasets.Dataset(
                datasets.table.InMemoryTable(
                    pa.table(
                        {
                            "data": pa.chunked_array(
                                [
                                    pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), width)
                                    for part in np.array_split(self.images, 64)
                                ]
                            ),
                            "label": pa.array(np.asarray(self.labels)),
                        },
                        schema=features.arrow_schema,
                    )
                )
            )
            table.save_to_disk(str(path))
        self.dataset = datasets.load_from_disk(str(path)).with_format("numpy")

    def epoch(self, seed: int) -> Iterator[Batch]:
        for batch in self.order(seed):
            found = self.dataset[batch]
            yield found["data"].reshape(-1, *self.records.shape), found["label"]


class ArrayRecord(Contestant):
    name = "ArrayRecord, batch reads"
    suffix = "array_record"

    def open(self) -> None:
        from array_record.python import array_record_module

        path = self.path
        if not path.exists():
            writer = array_record_module.ArrayRecordWriter(str(path), "group_size:1,uncompressed")
            for image, label in zip(self.images, self.labels):
                writer.write(image.tobytes() + label.tobytes())
            writer.close()
        self.reader = array_record_module.ArrayRecordReader(
            str(path), options="readahead_buffer_size:0", file_reader_buffer_size=1 << 16
        )

    def parse(self, record: bytes) -> Batch:
        content = np.frombuffer(record, np.uint8)
        return content[:-8].reshape(self.records.shape), content[-8:].view(np.int64)[0]

    def epoch(self, seed: int) -> Iterator[Batch]:
        for batch in self.order(seed):
            yield stacked([self.parse(record) for record in self.reader.read(batch.tolist())])


class Grain(ArrayRecord):
    name = "Grain over ArrayRecord"

    def open(self) -> None:
        super().open()
        import grain

        self.source = grain.sources.ArrayRecordDataSource([str(self.path)])

    def epochs(self, seed: int) -> Iterator[Batch]:
        import grain

        dataset = grain.MapDataset.source(self.source).shuffle(seed=seed).repeat().map(self.parse).batch(BATCH)
        # By default 16 threads load 500 batches ahead, which on few cores takes seconds until the first batch.
        yield from dataset.to_iter_dataset(grain.ReadOptions(num_threads=4, prefetch_buffer_size=8))


class MosaicStreaming(Contestant):
    name = "MosaicML Streaming"
    suffix = "mds"

    def open(self) -> None:
        from streaming import MDSWriter

        path = self.path
        if not path.exists():
            columns = {"data": "ndarray:uint8:" + ",".join(map(str, self.records.shape)), "label": "int64"}
            with MDSWriter(out=str(path), columns=columns) as out:
                for image, label in zip(self.images, self.labels):
                    out.write({"data": np.asarray(image), "label": int(label)})

    def epochs(self, seed: int) -> Iterator[Batch]:
        from streaming import StreamingDataset
        from streaming.base.util import clean_stale_shared_memory
        from torch.utils.data import DataLoader

        clean_stale_shared_memory()
        dataset = StreamingDataset(local=str(self.path), shuffle=True, shuffle_seed=seed, batch_size=BATCH)
        loader = DataLoader(dataset, batch_size=BATCH, collate_fn=as_it_is)
        while True:
            for batch in loader:
                yield stacked([(item["data"], item["label"]) for item in batch])


ALL: list[type[Contestant]] = [
    Memmap,
    ZRecord,
    ZRecordFeed,
    TorchBatches,
    TorchBatchesTwoWorkers,
    TorchZRecord,
    TorchItems,
    TorchItemsTwoWorkers,
    HuggingFace,
    ArrayRecord,
    Grain,
    MosaicStreaming,
]
