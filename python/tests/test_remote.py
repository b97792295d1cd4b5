"""Tables that are read by fsspec: the values of the local files, few requests, and errors that have names."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import fsspec.asyn
import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.remotes import ScriptedFileSystem, http_server, put
from tests.tables import manifest_of, sealed
from tests.test_golden import as_python
from zrecord import _fetched, _remote, _remote_field, _remote_source, _tables
from zrecord._fetched import REQUEST_BYTES, FetchedBytes
from zrecord._remote import RemotePath

TABLES = sorted(
    manifest.parent.relative_to(GOLDEN).as_posix()
    for manifest in GOLDEN.rglob("manifest")
    if manifest.parent.name != "retracted" and manifest.parent.parent.name != "forged"
)
UNITS, PATCHES, BLOCKS = "v2-units", "v2-patches", "v2-blocks"
SECRET = "wJalrXUtnFEMI"
OTHER = "00000000-0000-4000-8000-000000000000"


def some_tables() -> list[str]:
    """Tables of whose values few differ by how their bytes are fetched: as many as the budget has, of all."""
    others = [table for table in TABLES if table not in (UNITS, "v2/table")]
    return [UNITS, "v2/table", *budget.random().permutation(others)[: budget.of(len(others))].tolist()]


def comparable(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values.dtype, values.shape, values.tobytes()
    return repr([as_python(value) for value in values])


def printed(error: BaseException) -> str:
    """An error with all that led to it, as Python prints it."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


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


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[ScriptedFileSystem]]:
    """A file system with the golden tables whose faults are scripted."""
    monkeypatch.setattr(_remote, "_PAUSE_SECONDS", 0)
    fs = fsspec.filesystem("scripted")
    for table in (UNITS, PATCHES, BLOCKS, "v2/table"):
        put(fs, GOLDEN / table, f"/{table}")
    ScriptedFileSystem.log.clear()
    yield ScriptedFileSystem
    ScriptedFileSystem.script = None
    ScriptedFileSystem.store.clear()


def remote_bytes(content: bytes) -> FetchedBytes:
    fsspec.filesystem("scripted").pipe_file("/file", content)
    return FetchedBytes(RemotePath.root("scripted://", {}) / "file", len(content))


@pytest.mark.parametrize("verify", ["first", "always", "never"])
def test_memory_has_the_values_of_the_local_tables(verify: str) -> None:
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
    table: str, verify: str, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
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
    keeper = remote["text"]._sources[0].keeper
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
        sources = remote[name]._sources
        opened.clear()
        assert remote[name].validity().tolist() == local[name].validity().tolist(), name
        assert remote[name].validity([5, 1, 5]).tolist() == local[name].validity([5, 1, 5]).tolist(), name
        assert max(opened) == min(2, len(sources))
        assert sum(source.fetched_bytes() for source in sources) == 0, name


def test_a_step_is_cut_by_the_bytes_that_are_missing(scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch) -> None:
    most = 1 << 18
    monkeypatch.setattr(_remote_field, "_STEP_BYTES", most // 2)
    steps: list[int] = []
    fetch = _fetched.fetch

    def noted(wanted: Any) -> None:
        steps.append(_remote_field._missing_bytes(wanted))
        fetch(wanted)

    monkeypatch.setattr(_remote_field, "fetch", noted)
    local = zrecord.open(GOLDEN / UNITS)
    draw = budget.random().integers(0, len(local), 3000)
    for name in local.fields:
        for key in (slice(None), draw):
            remote = zrecord.open("scripted://v2-units")
            assert comparable(remote[name][key]) == comparable(local[name][key]), name
    assert len(steps) > 10
    assert max(steps) <= most


def test_what_is_fetched_again_is_verified_again(scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch) -> None:
    remote = zrecord.open("scripted://v2-units")
    before = remote["number"][[3, 70_000]]
    for path, file in scripted.store.items():
        if path.startswith("/v2-units/shard") and path.endswith(".zr"):
            content = bytearray(file.getvalue())
            content[64:] = bytes(byte ^ 1 for byte in content[64:])
            fsspec.filesystem("scripted").pipe_file(path, bytes(content))
    assert remote["number"][[3, 70_000]].tobytes() == before.tobytes()  # the control: it is in memory
    for source in remote["number"]._sources:
        source.give_up()
    with pytest.raises(zrecord.CorruptDataError, match="fail their checksum"):
        remote["number"][[3, 70_000]]


def is_value(path: str) -> bool:
    return path.endswith(".zr")


def short(path: str, begin: int, end: int, found: bytes) -> bytes:
    return found[:-1] if is_value(path) else found


def refused(path: str, begin: int, end: int, found: bytes) -> bytes:
    if is_value(path):
        raise ConnectionResetError("reset by peer")
    return found


def wrong(path: str, begin: int, end: int, found: bytes) -> bytes:
    return found[:64] + bytes(byte ^ 1 for byte in found[64:]) if is_value(path) else found


def too_long(path: str, begin: int, end: int, found: bytes) -> bytes:
    return found + b"x" if is_value(path) else found


def forbidden_by_google(path: str, begin: int, end: int, found: bytes) -> bytes:
    if is_value(path):
        raise OSError(f"Forbidden: {path}\nno access\n" + 1000 * "x")
    return found


def forbidden(path: str, begin: int, end: int, found: bytes) -> bytes:
    if is_value(path):
        raise PermissionError("403")
    return found


@pytest.mark.parametrize("fault", [short, refused])
def test_a_passing_fault_is_tried_again(fault: Callable[..., bytes], scripted: type[ScriptedFileSystem]) -> None:
    faults: dict[tuple[str, int], int] = {}

    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        faults[path, begin] = faults.get((path, begin), 0) + 1
        return fault(path, begin, end, found) if faults[path, begin] < 3 else found

    scripted.script = staticmethod(script)
    local, remote = zrecord.open(GOLDEN / UNITS), zrecord.open("scripted://v2-units")
    for name in local.fields:
        assert comparable(remote[name][[3, 70_000]]) == comparable(local[name][[3, 70_000]])
    assert max(faults.values()) == 3


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        (
            short,
            zrecord.StorageError,
            r"Cannot read bytes \d+ to \d+ of scripted://v2-units/.*\.zr: tried 4 times, .*bytes came",
        ),
        (refused, zrecord.StorageError, r"of scripted://.*\.zr: tried 4 times, ConnectionResetError: reset by peer; try again"),
        (too_long, zrecord.StorageError, r"of scripted://.*\.zr: tried, .* the server ignores ranges"),
        (forbidden, zrecord.StorageError, r"of scripted://.*\.zr: tried, PermissionError: 403"),
        (
            forbidden_by_google,
            zrecord.StorageError,
            r": tried, OSError: Forbidden: .*\.zr no access x{20,300}…; the server refuses",
        ),
        (wrong, zrecord.CorruptDataError, r"scripted://v2-units/shard/.* fail their checksum"),
    ],
)
def test_a_lasting_fault_has_a_name(
    fault: Callable[..., bytes], error: type[Exception], message: str, scripted: type[ScriptedFileSystem]
) -> None:
    scripted.script = staticmethod(fault)
    remote = zrecord.open("scripted://v2-units")
    for _ in range(2):
        with pytest.raises(error, match=message):
            remote["number"][[3, 70_000]]
    scripted.script = None
    if fault is not wrong:
        assert comparable(remote["number"][[3, 70_000]]) == comparable(zrecord.open(GOLDEN / UNITS)["number"][[3, 70_000]])


@pytest.mark.parametrize("name", ["status", "status_code", "code"])
@pytest.mark.parametrize(
    ("status", "tries", "remedy"),
    [
        (401, "tried", "the server does not know the credentials: check them in storage_options, of which none were given"),
        (403, "tried", "the server refuses these credentials: check their permissions"),
        (429, "tried 4 times", "try again$"),
        (503, "tried 4 times", "try again$"),
    ],
)
def test_a_refusal_is_not_tried_again(name: str, status: int, tries: str, remedy: str, scripted: type[ScriptedFileSystem]) -> None:
    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        error = OSError("no\nRequestId: 1")
        setattr(error, name, status)
        raise error

    remote = zrecord.open("scripted://v2-units")
    scripted.script = staticmethod(script)
    with pytest.raises(zrecord.StorageError, match=rf": {tries}, OSError: no RequestId: 1; {remedy}") as caught:
        remote["number"][3]
    assert isinstance(caught.value, zrecord.AccessDeniedError) == (status == 403)


def test_a_version_that_cannot_be_read_now_proves_no_damage(scripted: type[ScriptedFileSystem]) -> None:
    """A late hint of a table before is told by all versions down to the floor."""
    newest = manifest_of(GOLDEN / "v2/table", 3)
    before = manifest_of(GOLDEN / "v2/table", 2).name
    hint = sealed({"format": 2, "table": OTHER, "version": 3, "commit": OTHER})
    left: list[Exception] = []

    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        if path.endswith(f"/{before}") and left:
            raise left[0]
        return hint if path.endswith("manifest/latest") else found

    scripted.script = staticmethod(script)
    assert zrecord.open("scripted://v2/table").version == 3  # the control
    for error in (OSError("503"), PermissionError("403")):
        left[:] = [error]
        with pytest.raises(zrecord.StorageError, match=before):
            zrecord.open("scripted://v2/table")
    left.clear()
    assert zrecord.open("scripted://v2/table").version == json.loads(newest.read_bytes())["version"]


class CredentialRetrievalError(Exception):
    """Has the name of what botocore raises if the service that gives credentials fails."""


class RefreshError(Exception):
    """Has the name of what google-auth raises."""

    def __init__(self, retryable: bool) -> None:
        super().__init__("refresh")
        self.retryable = retryable


@pytest.mark.parametrize(
    ("error", "tries", "remedy"),
    [
        (CredentialRetrievalError("from iam-role"), "tried 4 times", "the service that gives the credentials failed: try again"),
        (RefreshError(retryable=True), "tried 4 times", "the service that gives the credentials failed: try again"),
        (RefreshError(retryable=False), "tried", "the server does not know the credentials"),
    ],
)
def test_credentials_that_may_come_are_asked_for_again(
    error: Exception, tries: str, remedy: str, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_remote, "_PAUSE_SECONDS", 0)
    left = [error, error]

    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        if is_value(path) and left:
            raise left.pop()
        return found

    remote = zrecord.open("scripted://v2-units")
    scripted.script = staticmethod(script)
    if tries != "tried":
        assert remote["number"][3] == zrecord.open(GOLDEN / UNITS)["number"][3]
    left += 8 * [error]
    with pytest.raises(zrecord.StorageError, match=rf": {tries}, {type(error).__name__}: .*; {remedy}"):
        remote["number"][70_000]


class _OfServer(Exception):
    """What botocore raises, and s3fs makes another error of."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


@pytest.mark.parametrize(
    ("code", "error", "remedy"),
    [
        ("ExpiredToken", TimeoutError("expired"), "the credentials have expired: sign in again"),
        ("InvalidToken", OSError("invalid"), r"does not know the credentials: check them in storage_options \(kind\)$"),
        ("InvalidAccessKeyId", PermissionError("key"), "does not know the credentials"),
        ("AccessDenied", PermissionError("no"), "refuses these credentials: check their permissions"),
        ("NoSuchBucket", FileNotFoundError("bucket"), "there is no such bucket: check its name, the endpoint"),
        ("", TypeError("unexpected keyword argument 'sercret'"), r"check storage_options \(kind\)$"),
    ],
)
def test_an_error_of_a_client_says_what_to_do(code: str, error: Exception, remedy: str, scripted: type[ScriptedFileSystem]) -> None:
    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        raise error from (_OfServer(code) if code else None)

    remote = zrecord.open("scripted://v2-units", storage_options={"kind": SECRET})
    scripted.script = staticmethod(script)
    with pytest.raises(zrecord.StorageError, match=rf": tried, {type(error).__name__}: .*; .*{remedy}") as caught:
        remote["number"][3]
    assert SECRET not in printed(caught.value)


def test_what_the_client_of_azure_tried_again_itself_is_not_tried_again(scripted: type[ScriptedFileSystem]) -> None:
    error = type("ServiceRequestError", (Exception,), {"__module__": "azure.core.exceptions"})

    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        raise error("Cannot connect to host")

    remote = zrecord.open("scripted://v2-units")
    scripted.script = staticmethod(script)
    with pytest.raises(zrecord.StorageError, match=r": tried, ServiceRequestError: Cannot connect to host; try again$"):
        remote["number"][3]


def test_lost_and_shortened_files_are_damage(scripted: type[ScriptedFileSystem]) -> None:
    fs = fsspec.filesystem("scripted")
    chunks = [path for path in scripted.store if path.startswith("/v2-units/shard") and is_value(path)]
    for path in chunks:
        fs.pipe_file(path, fs.cat_file(path)[:100])
    with pytest.raises(zrecord.CorruptDataError, match=r"\.zr: it has 100 of \d+ bytes; restore it from a copy"):
        zrecord.open("scripted://v2-units")["number"][3]
    for path in chunks:
        fs.rm_file(path)
    with pytest.raises(zrecord.CorruptDataError, match=r"\.zr: the file is missing") as caught:
        zrecord.open("scripted://v2-units")["number"][3]
    assert str(caught.value.resource).startswith("scripted://v2-units/shard/")


def test_a_chunk_of_another_shard_is_refused(scripted: type[ScriptedFileSystem]) -> None:
    fs = fsspec.filesystem("scripted")
    one, two = sorted(path for path in scripted.store if path.startswith("/v2-units/shard") and is_value(path))[:2]
    content = fs.cat_file(one)
    fs.pipe_file(one, fs.cat_file(two)[:64] + content[64:])
    for _ in range(2):
        with pytest.raises(zrecord.CorruptDataError, match="it is a file of another shard"):
            zrecord.open("scripted://v2-units", verify="never")["number"][3]


def test_a_server_that_ignores_ranges_is_named() -> None:
    with http_server(GOLDEN, has_ranges=False) as url, pytest.raises(zrecord.StorageError, match="the server ignores ranges"):
        zrecord.open(f"{url}/v2-units", 0)["number"][3]


def test_a_server_that_refuses_what_is_missing_needs_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_remote, "_PAUSE_SECONDS", 1e6)  # a refusal is not tried again
    with http_server(GOLDEN, missing=403) as url:
        assert zrecord.open(f"{url}/{UNITS}", 0)["number"][3] == zrecord.open(GOLDEN / UNITS)["number"][3]
        with pytest.raises(zrecord.NotADatasetError, match=r"newest version of .*403.*, or give a version"):
            zrecord.open(f"{url}/{UNITS}")


def test_credentials_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_remote, "_PAUSE_SECONDS", 0)
    with http_server(GOLDEN) as url:
        named = url.replace("http://", f"http://me:{SECRET}@")
        dataset = zrecord.open(f"{named}/v2/table")
        assert dataset.path == f"{url}/v2/table"
        for text in (repr(dataset), repr(dataset["i32"]), repr(dataset["i32"]._remote)):
            assert SECRET not in text
        with pytest.raises(zrecord.ZrecordError) as caught:
            zrecord.open(f"{named}/nothing", 0)
        assert SECRET not in printed(caught.value)
    with pytest.raises(zrecord.StorageError, match="503") as refused:
        dataset["utf8"][0]
    assert SECRET not in printed(refused.value)
    with pytest.raises(ValueError, match="has a query or a fragment") as query:
        zrecord.open(f"https://example.org/train?sig={SECRET}")
    assert SECRET not in str(query.value)


@pytest.mark.parametrize("link", ["cause", "context", "note", "group"])
def test_an_error_that_led_to_another_does_not_show_credentials(
    link: str, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        error, before = ConnectionResetError("reset by peer"), OSError(f"GET https://example.org/a?sig={SECRET}")
        if link == "note":
            vars(error)["__notes__"] = [str(before)]
        elif link == "group":
            vars(error)["exceptions"] = (before,)
        elif link == "cause":
            raise error from before
        else:
            error.__context__ = before
        raise error

    remote = zrecord.open("scripted://v2-units")
    scripted.script = staticmethod(script)
    with pytest.raises(zrecord.StorageError, match="ConnectionResetError: reset by peer") as caught:
        remote["number"][3]
    assert SECRET not in printed(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("connection_string", f"DefaultEndpointsProtocol=http;AccountName=devstore;AccountKey={SECRET}==;BlobEndpoint=http://a"),
        ("connection_string", f"BlobEndpoint=http://a;SharedAccessSignature=sv=2020-01-01&sig={SECRET}%3D%3D"),
        ("sas_token", f"?sv=2020-01-01&sig={SECRET}%3D%3D"),
    ],
)
def test_parts_of_an_option_are_hidden(option: str, text: str, scripted: type[ScriptedFileSystem]) -> None:
    def script(path: str, begin: int, end: int, found: bytes) -> bytes:
        raise PermissionError(f"the http key {SECRET}== of devstore is wrong")

    remote = zrecord.open("scripted://v2-units", storage_options={option: text})
    scripted.script = staticmethod(script)
    with pytest.raises(zrecord.StorageError, match=r"the http key \*\*\* of devstore is wrong") as caught:
        remote["number"][3]
    assert SECRET not in printed(caught.value)


def test_an_error_without_credentials_is_shown_with_what_led_to_it(scripted: type[ScriptedFileSystem]) -> None:
    remote = zrecord.open("scripted://v2-units")
    scripted.script = staticmethod(refused)
    with pytest.raises(zrecord.StorageError) as caught:
        remote["number"][3]
    assert isinstance(caught.value.__cause__, ConnectionResetError)


@pytest.mark.parametrize("scheme", ["abfs", "ABFSS", "az"])
def test_a_container_is_shown_but_what_follows_its_colon_is_not(
    scheme: str, scripted: type[ScriptedFileSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    account = "account.dfs.core.windows.net/v2-units"
    scripted_fs = fsspec.filesystem("scripted")
    monkeypatch.setattr("fsspec.core.url_to_fs", lambda url, **options: (scripted_fs, "/v2-units"))
    for url in (f"{scheme}://container@{account}", f"{scheme}://container:{SECRET}@{account}"):
        dataset = zrecord.open(url)
        assert dataset.path == f"{scheme}://container@{account}"
        assert f"{scheme}://container@{account}" in repr(dataset["number"])
        assert dataset["number"]._remote._shown(f"no {SECRET} in container") == (
            "no *** in container" if SECRET in url else f"no {SECRET} in container"
        )
    assert zrecord.open(f"https://me:{SECRET}@{account}", 0).path == f"https://{account}"


def test_a_file_system_that_cannot_be_opened_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(url: str, **options: Any) -> None:
        raise OSError(f"dlopen failed: {SECRET}\ndlopen failed: b")

    monkeypatch.setattr("fsspec.core.url_to_fs", no_library)
    with pytest.raises(zrecord.StorageError, match=r"^Cannot open hdfs://a/b: OSError: dlopen failed: \*\*\* dlopen failed: b$"):
        zrecord.open("hdfs://a/b", storage_options={"kerb_ticket_key": SECRET})


def test_options_belong_to_urls() -> None:
    table = GOLDEN / "v2" / "table"
    assert len(zrecord.open(table.as_uri())) == len(zrecord.open(f"file:{table}")) == len(zrecord.open(str(table))) == 120
    for local in (table, str(table), table.as_uri()):
        with pytest.raises(ValueError, match="is a local path, which takes no storage_options"):
            zrecord.open(local, storage_options={"anon": True})
    with pytest.raises(ValueError, match="Cannot open nonsense://a"):
        zrecord.open("nonsense://a")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(zrecord.MissingExtraError, match=r"Reading gs://bucket/train needs a package .*: pip install gcsfs"):
        zrecord.open("gs://bucket/train")
    for name in ("fsspec", "fsspec.core"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(zrecord.MissingExtraError, match=r"run: pip install 'zrecord\[remote\]' s3fs"):
        zrecord.open("s3://bucket/train")
    assert len(zrecord.open(GOLDEN / "v2" / "table")) == 120


def test_a_pickled_dataset_is_opened_again_with_its_options() -> None:
    put(fsspec.filesystem("memory"), GOLDEN / UNITS, "/v2-units")
    dataset = zrecord.open("memory://v2-units", storage_options={"skip_instance_cache": True})
    again = pickle.loads(pickle.dumps(dataset))
    assert again["number"][5] == dataset["number"][5]
    assert dataset.__reduce__()[1] == ("memory://v2-units", 0, "first", {"skip_instance_cache": True})


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
    monkeypatch.setattr(_feed, "Feed", lambda arguments, *rest: given.append(arguments))
    for path in ("s3a://bucket/train", "hdfs:///train", tmp_path.as_uri(), str(tmp_path)):
        zrecord.feed(path, batch_size=4)
    assert [arguments[1] for arguments in given] == ["s3a://bucket/train", "hdfs:///train", str(tmp_path), str(tmp_path)]


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
