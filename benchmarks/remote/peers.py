"""Takes the turn of a peer in Python: peers.py CASE PEER WORK-DIRECTORY SEED, or peers.py prepare WORK-DIRECTORY.

Each process is one turn. Ends with status 3 and a reason if what the peer needs is not installed.
"""

from __future__ import annotations

import importlib
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import numpy as np
from meter import BUCKET, RANGE_BYTES, VALUE_BYTES, measure

BATCH = 256
GATHERS = 5
WARM_UPS = 4
SLOWER = 1.2
BLOCK = RANGE_BYTES // VALUE_BYTES
MIXED = 16
GROUPS_AHEAD = 2
SHARD_RECORDS = 1024
RECORDS = int(os.environ["REMOTE_RECORDS"])
ENDPOINT = os.environ["REMOTE_ENDPOINT"]
NOT_INSTALLED = 3
COPIES = itertools.count()


def client() -> Any:
    return boto3.client("s3", endpoint_url=ENDPOINT, region_name="us-east-1")


def lance_options() -> dict[str, str]:
    return {
        "endpoint": ENDPOINT,
        "allow_http": "true",
        "region": "us-east-1",
        "virtual_hosted_style_request": "false",
        "access_key_id": os.environ["AWS_ACCESS_KEY_ID"],
        "secret_access_key": os.environ["AWS_SECRET_ACCESS_KEY"],
    }


def values(seed: int) -> Iterator[bytes]:
    random = np.random.default_rng(seed)
    for _ in range(RECORDS):
        yield random.bytes(VALUE_BYTES)


def prepare(work: Path) -> None:
    """Stores the records in the formats of the peers that are installed."""
    prepare_lance()
    prepare_webdataset(work)
    try:
        prepare_mosaic(work)
    except ImportError as e:
        print(f"MosaicML Streaming is left out: {e}", file=sys.stderr)


def prepare_lance() -> None:
    import lance
    import pyarrow as pa

    schema = pa.schema([("id", pa.int64()), ("bin", pa.binary())])

    def batches() -> Iterator[Any]:
        numbered = enumerate(values(1))
        while part := list(itertools.islice(numbered, BATCH)):
            yield pa.record_batch([[number for number, _ in part], [value for _, value in part]], schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    target = f"s3://{BUCKET}/lance"
    lance.write_dataset(reader, target, mode="overwrite", storage_options=lance_options())


def prepare_webdataset(work: Path) -> None:
    import webdataset

    directory = Path(tempfile.mkdtemp(dir=work))
    pattern = str(directory / "%05d.tar")
    with webdataset.ShardWriter(pattern, maxcount=SHARD_RECORDS, verbose=0) as out:
        for number, value in enumerate(values(1)):
            out.write({"__key__": f"{number:08d}", "bin": value, "id": str(number)})
    upload(directory, "webdataset")


def prepare_mosaic(work: Path) -> None:
    from streaming import MDSWriter

    directory = Path(tempfile.mkdtemp(dir=work))
    with MDSWriter(out=str(directory), columns={"id": "int", "bin": "bytes"}) as out:
        for number, value in enumerate(values(1)):
            out.write({"id": number, "bin": value})
    upload(directory, "mds")


def upload(directory: Path, prefix: str) -> None:
    s3 = client()
    for file in sorted(directory.rglob("*")):
        if file.is_file():
            s3.upload_file(str(file), BUCKET, f"{prefix}/{file.relative_to(directory)}")
    shutil.rmtree(directory)


def gather_lance(work: Path, seed: int) -> None:
    import lance

    dataset = lance.dataset(f"s3://{BUCKET}/lance", storage_options=lance_options())
    random = np.random.default_rng(seed)

    def gather() -> None:
        indices = random.choice(RECORDS, min(BATCH, RECORDS), replace=False)
        found = dataset.take(indices.tolist(), columns=["bin"])
        assert found.num_rows == len(indices)

    for _ in range(WARM_UPS):
        gather()
    count = min(BATCH, RECORDS)
    for _ in range(GATHERS):
        measure("gather", "Lance", count, count * VALUE_BYTES, gather)


def epoch_webdataset(work: Path, seed: int) -> Iterator[int]:
    import webdataset

    s3 = client()
    # The package has a function of the module's name.
    importlib.import_module("webdataset.gopen").gopen_schemes["s3"] = lambda url, mode, bufsize, **_: s3.get_object(
        Bucket=BUCKET, Key=url.removeprefix(f"s3://{BUCKET}/")
    )["Body"]
    keys = [item["Key"] for item in s3.list_objects_v2(Bucket=BUCKET, Prefix="webdataset/")["Contents"]]
    urls = [f"s3://{BUCKET}/{key}" for key in keys]
    samples = webdataset.WebDataset(urls, shardshuffle=len(urls), seed=seed, empty_check=False)
    yield from batches_of(samples.shuffle(BLOCK * MIXED))


def epoch_mosaic(work: Path, seed: int) -> Iterator[int]:
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    os.environ["S3_ENDPOINT_URL"] = ENDPOINT
    clean_stale_shared_memory()
    local = tempfile.mkdtemp(dir=work)
    try:
        yield from batches_of(
            StreamingDataset(
                remote=f"s3://{BUCKET}/mds", local=local, shuffle=True, shuffle_seed=seed, batch_size=BATCH
            )
        )
    finally:
        shutil.rmtree(local)


def batches_of(samples: Any) -> Iterator[int]:
    records = iter(samples)
    while part := list(itertools.islice(records, BATCH)):
        assert all(len(sample["bin"]) == VALUE_BYTES for sample in part)
        yield len(part)


def epoch_feed(work: Path, seed: int) -> Iterator[int]:
    import zrecord

    with zrecord.feed(
        f"s3://{BUCKET}/binaries",
        sampler="blockShuffle",
        block_length=BLOCK,
        mixed=MIXED,
        seed=seed,
        batch_size=BATCH,
        engine_options={"endpoint": ENDPOINT},
    ) as feed:
        for batch in feed:
            yield len(batch["bin"])


def epoch_groups(work: Path, seed: int) -> Iterator[int]:
    """Reads groups of blocks in the order of the files, the next two ahead, and shuffles each in memory."""
    import zrecord

    # What a process has opened is known to it, so each epoch reads a copy of its own.
    dataset = zrecord.open(f"s3://{BUCKET}/copies/binaries-{next(COPIES)}")
    random = np.random.default_rng(seed)
    starts = random.permutation(range(0, len(dataset), BLOCK))
    groups = [np.sort(starts[at : at + MIXED]) for at in range(0, len(starts), MIXED)]

    def read(group: Any) -> Any:
        records = (group[:, None] + np.arange(BLOCK)).reshape(-1)
        return dataset.gather(records[records < len(dataset)])["bin"]

    with ThreadPoolExecutor(1) as ahead:
        reads = deque(ahead.submit(read, group) for group in groups[:GROUPS_AHEAD])
        for number in range(len(groups)):
            found = reads.popleft().result()
            reads.extend(ahead.submit(read, group) for group in groups[number + GROUPS_AHEAD : number + GROUPS_AHEAD + 1])
            order = random.permutation(len(found))
            for at in range(0, len(order), BATCH):
                yield len([found[i] for i in order[at : at + BATCH]])


EPOCHS: dict[str, tuple[str, Callable[[Path, int], Iterator[int]]]] = {
    "webdataset": ("WebDataset, one process", epoch_webdataset),
    "mosaic": ("MosaicML Streaming, one process", epoch_mosaic),
    "feed": ("zrecord in Python, feed", epoch_feed),
    "groups": ("zrecord in Python, groups of blocks by fsspec", epoch_groups),
}


def epoch(peer: str, work: Path, seed: int) -> None:
    name, batches = EPOCHS[peer]
    idle = 0.0
    share = 0.0

    def consume(step: float) -> None:
        nonlocal idle, share
        records, idle = 0, 0.0
        start = asked = time.perf_counter()
        for count in batches(work, seed):
            if records:
                idle += time.perf_counter() - asked
            records += count
            if step:
                time.sleep(step)
            asked = time.perf_counter()
        share = idle / (time.perf_counter() - start)
        assert records == RECORDS, f"{records} records came of {RECORDS}"

    whole = RECORDS * VALUE_BYTES
    least = -(-whole // RANGE_BYTES)
    seconds = measure("epoch", name, least, whole, lambda: consume(0))
    step = SLOWER * seconds / -(-RECORDS // BATCH)
    slower = f"{name}, consumer of 1.2 times the transfer"
    measure("epoch", slower, least, whole, lambda: consume(step), lambda: f"{100 * share:.2f} % idle")


def main(arguments: list[str]) -> None:
    if arguments[0] == "bucket":
        client().create_bucket(Bucket=BUCKET)
    elif arguments[0] == "prepare":
        prepare(Path(arguments[1]))
    elif arguments[:2] == ["gather", "lance"]:
        gather_lance(Path(arguments[2]), int(arguments[3]))
    else:
        epoch(arguments[1], Path(arguments[2]), int(arguments[3]))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ImportError as missing:
        print(f"{missing}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
