"""Tables that are read by fsspec: the values of the local files, and few requests."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import fsspec.asyn
import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.remotes import BLOCKS, PATCHES, SECRET, UNITS, ScriptedFileSystem, comparable, http_server, printed, put
from tests.test_golden import as_python
from zrecord import _fetched, _remote, _remote_field, _remote_source, _tables
from zrecord._fetched import REQUEST_BYTES, FetchedBytes
from zrecord._open import Verify
from zrecord._remote import RemotePath

TABLES = sorted(
    manifest.parent.relative_to(GOLDEN).as_posix()
    for manifest in GOLDEN.rglob("manifest")
    if manifest.parent.name != "retracted" and manifest.parent.parent.name != "forged"
)


def some_tables() -> list[str]:
    """Tables of whose values few differ by how their bytes are fetched: as many as the budget has, of all."""
    others = [table for table in TABLES if table not in (UNITS, "v2/table")]
    return [UNITS, "v2/table", *budget.random().permutation(others)[: budget.of(len(others))].tolist()]


def assert_same_values(local: zrecord.Dataset, remote: zrecord.Dataset) -> None:
    assert (remote.version, len(remote), list(remote.fields)) == (local.version, len(local), list(local.fields))
    draw = budget.random().integers(0, len(local), 40)
    every = remote[draw]
    for name in local.fields:
        assert comparable(every[name]) == comparable(local[name][draw]), name
        assert comparable(remote[name][:]) == comparable(local[name][:]), name
        assert comparable(remote[name][-7:-1:2]) == comparable(local[name][-7:-1:2]), name
        assert repr(as_python(remote[name][-1])) == repr(as_python(local[name][-1])), name
        assert remote[name].validity().tolist() == local[name].validity().tolist(), name
    if local.index_map is not None and remote.index_map is not None:
        assert remote.index_map[:].tolist() == local.index_map[:].tolist()


def remote_bytes(content: bytes) -> FetchedBytes:
    fsspec.filesystem("scripted").pipe_file("/file", content)
    return FetchedBytes(RemotePath.root("scripted://", {}) / "file", len(content))


@pytest.mark.parametrize("verify", ["first", "always", "never"])
def test_memory_has_the_values_of_the_local_tables(verify: Verify) -> None:
    put(fsspec.filesystem("memory"), GOLDEN, "/golden")
    for table in TABLES if verify == "first" else ("v2/table", PATCHES, BLOCKS):
        assert_same_values(zrecord.open(GOLDEN / table), zrecord.open(f"memory://golden/{table}", verify=verify))


def test_http_has_the_values_of_the_local_tables() -> None:
    with http_server(GOLDEN) as url:
        for table in some_tables():
            local = zrecord.open(GOLDEN / table)
            # Only this table has a hint at its newest version.
            version = None if table == "v2/table" else local.version
            assert_same_values(local, zrecord.open(f"{url}/{table}", version))
        with pytest.raises(zrecord.NotADatasetError, match="no listing over http, and no file 'manifest/latest'"):
            zrecord.open(f"{url}/{UNITS}")
        with pytest.raises(zrecord.NotADatasetError, match=r"version 9 of .*: it has no such manifest"):
            zrecord.open(f"{url}/{UNITS}", 9)


def test_s3_has_the_values_of_the_local_tables() -> None:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        options = {"key": "AKIAEXAMPLE", "secret": SECRET, "client_kwargs": {"endpoint_url": f"http://{host}:{port}"}}
        fs = fsspec.filesystem("s3", **options)
        fs.mkdir("bucket")
        for table in (*some_tables(), "v2-stores/clean"):
            put(fs, GOLDEN / table, f"bucket/golden/{table}")
        for table in some_tables():
            remote = zrecord.open(f"s3://bucket/golden/{table}", storage_options=options)
            assert_same_values(zrecord.open(GOLDEN / table), remote)
            assert SECRET not in repr(remote)
        with pytest.raises(zrecord.NotADatasetError, match="has no version"):
            zrecord.open("s3://bucket/nothing", storage_options=options)
        with pytest.raises(zrecord.StorageError, match="there is no such bucket") as caught:
            zrecord.open("s3://other/nothing", storage_options=options)
        assert SECRET not in printed(caught.value)
        misspelt = {**options, "client_kwargs": {"endpoint": "http://a"}}
        with pytest.raises(zrecord.ZrecordError, match=r"check storage_options \(client_kwargs, key, secret\)"):
            zrecord.open("s3://bucket/nothing", storage_options=misspelt)
        with pytest.raises(zrecord.NotADatasetError, match="a store is read where it is; make a table of it"):
            zrecord.open("s3://bucket/golden/v2-stores/clean", storage_options=options)
    finally:
        server.stop()


def test_what_was_not_fetched_is_never_read(scripted: type[ScriptedFileSystem]) -> None:
    content = budget.random(1).integers(1, 256, 3 << 20, dtype=np.uint8)
    random = budget.random(2)
    for _ in range(budget.of(20)):
        file = remote_bytes(content.tobytes())
        for _ in range(10):
            begin, end = sorted(random.integers(0, content.size + 1, 2).tolist())
            end = min(end, begin + int(random.integers(1, 50_000)))
            assert file[begin:end].tobytes() == content[begin:end].tobytes()
            offsets = random.integers(0, content.size - 9, 5)
            assert file.gather(offsets, 9).tobytes() == b"".join(content[at : at + 9].tobytes() for at in offsets)
    # The control: the memory itself has zeros where nothing was fetched.
    file = remote_bytes(content.tobytes())
    assert not file._memory.any()
    with pytest.raises(ValueError, match="read-only"):
        file[0:9][0] = 1


@pytest.mark.parametrize("table", ["v2/table", PATCHES, BLOCKS, UNITS])
def test_values_are_right_if_nothing_is_fetched_ahead(
    table: str, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_remote_field, "fetch", lambda wanted: None)
    local, remote = zrecord.open(GOLDEN / table), zrecord.open(f"scripted://{table}")
    for name in local.fields:
        for key in ([5, 1, 5], slice(2, 9)):
            assert comparable(remote[name][key]) == comparable(local[name][key]), name


@pytest.mark.parametrize("table", ["v2/table", PATCHES, BLOCKS, UNITS])
@pytest.mark.parametrize("verify", ["first", "never"])
def test_reading_asks_for_nothing_that_was_not_fetched_ahead(
    table: str, verify: Verify, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = zrecord.open(f"scripted://{table}", verify=verify)
    fetch, after = _fetched.fetch, list[int]()

    def noted(wanted: Any) -> None:
        fetch(wanted)
        after.append(len(scripted.log))

    monkeypatch.setattr(_remote_field, "fetch", noted)
    for name in remote.fields:
        remote[name][[7, 1, len(remote) - 1]]
        assert after and len(scripted.log) == after[-1], name


@pytest.mark.parametrize("table", ["v2/table", BLOCKS, UNITS])
def test_of_a_large_tables_file_only_what_is_needed_is_fetched(
    table: str, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    local = zrecord.open(GOLDEN / table)

    def fetched() -> int:
        scripted.log.clear()
        remote = zrecord.open(f"scripted://{table}")
        name = next(iter(local.fields))
        assert comparable(remote[name][[5, 1, 5]]) == comparable(local[name][[5, 1, 5]])
        found = sum(end - begin for path, begin, end in scripted.log if path.endswith(".tables"))
        for other in local.fields:
            assert comparable(remote[other][[5, 1, 5]]) == comparable(local[other][[5, 1, 5]]), other
        return found

    whole = fetched()
    monkeypatch.setattr(_tables, "_WHOLE_BYTES", 0)
    monkeypatch.setattr(_fetched, "_GAP_BYTES", 0)
    assert fetched() < whole if table == UNITS else fetched() <= whole


def test_ranges_are_joined_and_bounded(scripted: type[ScriptedFileSystem]) -> None:
    file = FetchedBytes(RemotePath.root("scripted://", {}) / "file", 1 << 30)
    gap = 256 << 10
    begins = np.array([0, 4096 + gap, 4096 * 3 + 2 * gap])
    assert file.missing(begins, begins + 1) == [(0, 8192 + gap), (12288 + 2 * gap, 16384 + 2 * gap)]
    assert file.missing(np.array([5]), np.array([20 << 20])) == [
        (0, REQUEST_BYTES),
        (REQUEST_BYTES, 2 * REQUEST_BYTES),
        (2 * REQUEST_BYTES, 20 << 20),
    ]
    block = 4096 + REQUEST_BYTES
    assert file.missing(np.array([64]), np.array([block])) == [(0, block)], "a page more is no request"
    longest = REQUEST_BYTES + gap
    assert file.missing(np.array([0]), np.array([longest])) == [(0, longest)]
    assert file.missing(np.array([0]), np.array([longest + 1])) == [(0, REQUEST_BYTES), (REQUEST_BYTES, longest + 4096)]
    assert file.missing(np.array([(1 << 30) - 5]), np.array([1 << 30])) == [((1 << 30) - 4096, 1 << 30)]
    assert file.missing(np.array([7, 7]), np.array([7, 7])) == []


def test_a_small_file_is_fetched_whole(scripted: type[ScriptedFileSystem]) -> None:
    root = RemotePath.root("scripted://", {})
    assert FetchedBytes(root / "file", 256 << 10).missing(np.array([5000]), np.array([5001])) == [(0, 256 << 10)]
    assert FetchedBytes(root / "file", (256 << 10) + 1).missing(np.array([5000]), np.array([5001])) == [(4096, 8192)]


class _SettledMeanwhile(FetchedBytes):
    """A file that another thread settles after each look at its check."""

    _left: Callable[[bytes], None] | None

    @property
    def _check(self) -> Callable[[bytes], None] | None:
        found, self._left = self._left, None
        return found

    @_check.setter
    def _check(self, check: Callable[[bytes], None] | None) -> None:
        self._left = check


def test_a_file_may_be_settled_by_two_threads(scripted: type[ScriptedFileSystem]) -> None:
    checked: list[bytes] = []
    file = _SettledMeanwhile(RemotePath.root("scripted://", {}) / "file", 100, checked.append)
    file.settle()
    file.settle()
    assert checked == [bytes(64)]


def test_a_gather_takes_few_requests(scripted: type[ScriptedFileSystem]) -> None:
    remote = zrecord.open("scripted://v2-units")
    opening = len(scripted.log)
    assert opening <= 6
    draw = budget.random().integers(0, len(remote), 256)
    first = remote["number"][draw]
    chunks = [(path, end - begin) for path, begin, end in scripted.log[opening:] if path.endswith(".zr")]
    assert len(chunks) <= 4
    assert sum(size for _, size in chunks) < 900_000
    asked = len(scripted.log)
    assert remote["number"][draw].tobytes() == first.tobytes()
    assert len(scripted.log) == asked  # what was fetched is kept


def test_what_is_kept_is_bounded(scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_remote_source, "MAX_KEPT_BYTES", 1 << 19)
    monkeypatch.setattr(_remote_field, "_STEP_BYTES", 1 << 18)
    local, remote = zrecord.open(GOLDEN / UNITS), zrecord.open("scripted://v2-units")
    source: Any = remote["text"]._sources[0]
    keeper = source.keeper
    for name in ("number", "text", "number"):
        assert comparable(remote[name][:]) == comparable(local[name][:]), name
        assert keeper.kept_bytes <= 1 << 19


@pytest.mark.parametrize("table", ["v2/table", PATCHES, BLOCKS, UNITS])
def test_what_validity_opens_is_counted_and_opened_side_by_side(
    table: str, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_remote_source, "MAX_KEPT_BYTES", 0)
    monkeypatch.setattr(_remote_field, "_GROUP_SHARDS", 2)
    opened: list[int] = []
    map_ = _remote.Remote.map

    def noted(self: Any, level: str, function: Any, items: list[Any]) -> list[Any]:
        if level == _remote.SHARDS:
            opened.append(len(items))
        return map_(self, level, function, items)

    monkeypatch.setattr(_remote.Remote, "map", noted)
    local, remote = zrecord.open(GOLDEN / table), zrecord.open(f"scripted://{table}")
    for name in local.fields:
        sources: Any = remote[name]._sources
        opened.clear()
        assert remote[name].validity().tolist() == local[name].validity().tolist(), name
        assert remote[name].validity([5, 1, 5]).tolist() == local[name].validity([5, 1, 5]).tolist(), name
        assert max(opened) == min(2, len(sources))
        assert sum(source.fetched_bytes() for source in sources) == 0, name


@pytest.mark.parametrize(("most", "is_below_a_value"), [(1 << 16, False), (1 << 13, True)])
def test_a_step_is_cut_by_the_bytes_that_are_missing(
    most: int, is_below_a_value: bool, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value asks for at most 16 KiB: its pages, the header and gaps. Where 8 KiB are the most, a step of one value has more."""
    monkeypatch.setattr(_remote_field, "_STEP_BYTES", most // 2)
    # By default, a gap is a small part of a step as well.
    monkeypatch.setattr(_fetched, "_GAP_BYTES", 4096)
    missing, counts = list[int](), list[int]()
    fetch, in_shards_of_step = _fetched.fetch, _remote_field.RemoteField._in_shards_of_step

    def noted(wanted: Any) -> None:
        missing.append(_remote_field._missing_bytes(wanted))
        fetch(wanted)

    def counted(self: Any, indices: Any, begin: int, use: Any) -> tuple[int, int]:
        count, fetched = in_shards_of_step(self, indices, begin, use)
        counts.append(count)
        return count, fetched

    monkeypatch.setattr(_remote_field, "fetch", noted)
    monkeypatch.setattr(_remote_field.RemoteField, "_in_shards_of_step", counted)
    local = zrecord.open(GOLDEN / UNITS)
    draw = budget.random().integers(0, len(local), 3000)
    for name in local.fields:
        for key in (slice(None), draw):
            remote = zrecord.open("scripted://v2-units")
            assert comparable(remote[name][key]) == comparable(local[name][key]), name
    assert len(missing) == len(counts) > 10
    assert {count for count, size in zip(counts, missing) if size > most} == ({1} if is_below_a_value else set())


def test_what_is_fetched_again_is_verified_again(scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch) -> None:
    remote = zrecord.open("scripted://v2-units")
    before = remote["number"][[3, 70_000]]
    for path, file in scripted.store.items():
        if path.startswith("/v2-units/shard") and path.endswith(".zr"):
            content = bytearray(file.getvalue())
            content[64:] = bytes(byte ^ 1 for byte in content[64:])
            fsspec.filesystem("scripted").pipe_file(path, bytes(content))
    assert remote["number"][[3, 70_000]].tobytes() == before.tobytes()  # the control: it is in memory
    number: Any = remote["number"]
    for source in number._sources:
        source.give_up()
    with pytest.raises(zrecord.CorruptDataError, match="fail their checksum"):
        remote["number"][[3, 70_000]]


def test_a_pickled_dataset_is_opened_again_with_its_options() -> None:
    put(fsspec.filesystem("memory"), GOLDEN / UNITS, "/v2-units")
    dataset = zrecord.open("memory://v2-units", storage_options={"skip_instance_cache": True})
    again = pickle.loads(pickle.dumps(dataset))
    assert again["number"][5] == dataset["number"][5]
    assert dataset.__reduce__()[1][1] == ("memory://v2-units", 0, "first", {"skip_instance_cache": True})


def _read_in_child(dataset: zrecord.Dataset, results: Any, loop: Any, thread: Any) -> None:
    if thread is not None:
        fsspec.asyn.loop[0], fsspec.asyn.iothread[0] = loop, thread
    results.put(dataset["text"][[70_000, 5]])


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.parametrize("is_old", [False, True])
def test_a_forked_process_has_a_connection_of_its_own(is_old: bool) -> None:
    with http_server(GOLDEN) as url:
        dataset = zrecord.open(f"{url}/{UNITS}", 0)
        dataset["number"][[3, 70_000]]  # threads and connections exist before the fork
        # Before 2025.7, fsspec left the event loop of the parent to the child.
        left = (fsspec.asyn.loop[0], fsspec.asyn.iothread[0]) if is_old else (None, None)
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        child = context.Process(target=_read_in_child, args=(dataset, results, *left), daemon=True)
        child.start()
        assert results.get(timeout=60) == zrecord.open(GOLDEN / UNITS)["text"][[70_000, 5]]
        child.join(60)
        assert child.exitcode == 0


def test_threads_share_a_dataset(scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(_remote_source, "MAX_KEPT_BYTES", 1 << 19)
    local, remote = zrecord.open(GOLDEN / UNITS), zrecord.open("scripted://v2-units")
    numbers = local["number"][:]

    def is_right(draw_number: int) -> bool:
        draw = budget.random(draw_number).integers(0, len(numbers), 100)
        return bool((remote["number"][draw] == numbers[draw]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(is_right, range(budget.of(64))))


def test_a_feed_is_given_urls_as_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from zrecord import _feed

    given: list[list[str]] = []
    monkeypatch.setattr(_feed, "Feed", lambda arguments: given.append(arguments.words))
    for path in ("s3a://bucket/train", "hdfs:///train", tmp_path.as_uri(), str(tmp_path)):
        zrecord.feed(path, batch_size=4)
    assert [words[1] for words in given] == ["s3a://bucket/train", "hdfs:///train", str(tmp_path), str(tmp_path)]


def test_a_feed_reads_from_s3_by_the_engine(command_line: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        fs = fsspec.filesystem("s3", key="AKIAEXAMPLE", secret=SECRET, client_kwargs={"endpoint_url": endpoint})
        fs.mkdir("feeds")
        put(fs, GOLDEN / UNITS, "feeds/units")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        local = zrecord.open(GOLDEN / UNITS)
        with zrecord.feed(
            "s3://feeds/units", fields=["number"], sampler="sequential", batch_size=100, engine_options={"endpoint": endpoint}
        ) as feed:
            numbers = np.concatenate([batch["number"].copy() for batch in feed])
        assert (numbers == local["number"][:]).all()
    finally:
        server.stop()
    with pytest.raises(ValueError, match="no option 'endpoint'"):
        next(zrecord.feed(GOLDEN / UNITS, engine_options={"endpoint": endpoint}))


def test_memory_that_cannot_be_had_is_an_error(scripted: type[ScriptedFileSystem]) -> None:
    with pytest.raises(zrecord.ZrecordError, match="Cannot reserve 4611686018427387904 bytes of memory for scripted://a/file"):
        FetchedBytes(RemotePath.root("scripted://a", {}) / "file", 1 << 62)
