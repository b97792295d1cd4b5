"""Faults of remote storages: what passes is tried again, and what does not pass has a name and shows no credentials."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import fsspec
import pytest

import zrecord
from tests.conftest import GOLDEN
from tests.remotes import OTHER, SECRET, UNITS, ScriptedFileSystem, comparable, http_server, printed
from tests.tables import manifest_of, sealed
from zrecord import _remote


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
        field: Any = dataset["i32"]
        for text in (repr(dataset), repr(field), repr(field._remote)):
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
        number: Any = dataset["number"]
        assert number._remote._shown(f"no {SECRET} in container") == (
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
