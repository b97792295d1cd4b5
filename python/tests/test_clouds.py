"""Tables on servers that speak as Google Cloud Storage and as Azure do, and on HDFS: the local values, and errors with names."""

from __future__ import annotations

import getpass
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import fsspec
import pytest

import zrecord
from tests.clouds import azure_server, gcs_server, hdfs_server
from tests.conftest import GOLDEN
from tests.remotes import UNITS, printed, put
from tests.test_remote import TABLES, assert_same_values

# The account that Azurite has, whose key Microsoft documents.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
BUCKET = "container"


@dataclass(frozen=True)
class Cloud:
    schemes: tuple[str, ...]
    options: dict[str, Any]
    fs: Any
    host: str = ""

    def url(self, path: str, scheme: str | None = None, bucket: str = BUCKET) -> str:
        return f"{scheme or self.schemes[0]}://{self.host}{bucket}/{path}"

    def path(self, path: str) -> str:
        """Returns the path of a file in the file system."""
        return f"{'/' if self.host else ''}{BUCKET}/{path}"

    def open(self, path: str, **options: Any) -> zrecord.Dataset:
        return zrecord.open(self.url(path), storage_options=self.options, **options)


def connection_string(endpoint: str, key: str) -> str:
    return f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={key};BlobEndpoint={endpoint}/{ACCOUNT};"


@pytest.fixture(scope="module")
def google(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with gcs_server(tmp_path_factory.mktemp("gcs") / "log") as endpoint:
        # gcsfs asks by gRPC what kind of bucket it is, which this server does not answer; read when gcsfs is imported.
        os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
        options = {"token": "anon", "project": "tests", "endpoint_url": endpoint}
        yield filled(Cloud(("gs", "gcs"), options, fsspec.filesystem("gs", **options)))


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with azure_server(tmp_path_factory.mktemp("azure") / "log") as endpoint:
        options = {"connection_string": connection_string(endpoint, KEY)}
        yield filled(Cloud(("abfs", "abfss", "az"), options, fsspec.filesystem("abfs", **options)))


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with hdfs_server(tmp_path_factory.mktemp("hdfs")) as endpoint:
        at = urlsplit(endpoint)
        options = {"user": getpass.getuser()}
        fs = fsspec.filesystem("webhdfs", host=at.hostname, port=at.port, **options)
        yield filled(Cloud(("webhdfs",), options, fs, f"{at.netloc}/"))


def filled(cloud: Cloud) -> Cloud:
    cloud.fs.mkdir(cloud.path("").rstrip("/"))
    for table in (*TABLES, "v2-stores/clean"):
        put(cloud.fs, GOLDEN / table, cloud.path(f"golden/{table}"))
    return cloud


@pytest.fixture(params=["google", "azure", "hdfs"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    found: Cloud = request.getfixturevalue(request.param)
    return found


def test_a_cloud_has_the_values_of_the_local_tables(cloud: Cloud) -> None:
    for table in TABLES:
        assert_same_values(zrecord.open(GOLDEN / table), cloud.open(f"golden/{table}"))
    for scheme in cloud.schemes:
        remote = zrecord.open(cloud.url("golden/v2/table", scheme), storage_options=cloud.options)
        assert_same_values(zrecord.open(GOLDEN / "v2" / "table"), remote)
        assert KEY not in repr(remote)


def test_what_is_missing_is_named(cloud: Cloud) -> None:
    for url in (cloud.url("nothing"), cloud.url("nothing", bucket="other-bucket")):
        with pytest.raises(zrecord.NotADatasetError, match=f"{url}: its directory 'manifest' has no version") as caught:
            zrecord.open(url, storage_options=cloud.options)
        assert KEY not in printed(caught.value)
    with pytest.raises(zrecord.NotADatasetError, match=r"version 9 of .*: the versions are 0"):
        cloud.open(f"golden/{UNITS}", version=9)
    with pytest.raises(zrecord.NotADatasetError, match="a store is read where it is; make a table of it"):
        cloud.open("golden/v2-stores/clean")


def test_changed_shortened_and_lost_files_are_damage(cloud: Cloud) -> None:
    table = f"damaged-{cloud.schemes[0]}"
    put(cloud.fs, GOLDEN / UNITS, cloud.path(table))
    values = [file.relative_to(GOLDEN / UNITS) for file in (GOLDEN / UNITS / "shard").rglob("*.zr")]
    assert values

    def damage(change: Any) -> None:
        for file in values:
            cloud.fs.pipe_file(cloud.path(f"{table}/{file.as_posix()}"), change((GOLDEN / UNITS / file).read_bytes()))

    before = cloud.open(table)
    number = before["number"][3]
    damage(lambda content: content[:64] + bytes(byte ^ 1 for byte in content[64:]))
    assert before["number"][3] == number  # the control: it is in memory
    for remote in (before, cloud.open(table)):
        with pytest.raises(zrecord.CorruptDataError, match="fail their checksum"):
            remote["number"][[3, 70_000]]
    damage(lambda content: content[:100])
    with pytest.raises(zrecord.CorruptDataError, match=r"\.zr: it has 100 of \d+ bytes; restore it from a copy"):
        cloud.open(table)["number"][3]
    for file in values:
        cloud.fs.rm(cloud.path(f"{table}/{file.as_posix()}"))
    with pytest.raises(zrecord.CorruptDataError, match=r"\.zr: the file is missing") as caught:
        cloud.open(table)["number"][3]
    assert KEY not in printed(caught.value)
    assert str(caught.value.resource).startswith(f"{cloud.url(table)}/shard/")


def test_a_manifest_that_is_changed_is_damage(cloud: Cloud) -> None:
    table = f"manifest-{cloud.schemes[0]}"
    put(cloud.fs, GOLDEN / UNITS, cloud.path(table))
    manifest = next(file for file in (GOLDEN / UNITS / "manifest").iterdir() if file.name != "latest")
    content = bytearray(manifest.read_bytes())
    content[len(content) // 2] ^= 1
    cloud.fs.pipe_file(cloud.path(f"{table}/manifest/{manifest.name}"), bytes(content))
    with pytest.raises(zrecord.CorruptDataError, match=f"{cloud.url(table)}/manifest/{manifest.name}"):
        cloud.open(table)


def other_key() -> str:
    return KEY.replace("Eby8", "Fby8")


@pytest.mark.parametrize("damage", ["another key", "no key", "a key with its end cut", "a signature"])
def test_a_refused_key_is_not_shown(damage: str, azure: Cloud) -> None:
    endpoint = azure.options["connection_string"].partition("BlobEndpoint=")[2].partition(f"/{ACCOUNT}")[0]
    key, options = {
        "another key": (other_key(), {"connection_string": connection_string(endpoint, other_key())}),
        "no key": (other_key(), {"connection_string": f"nonsense {other_key()}"}),
        "a key with its end cut": (KEY[:-5], {"account_name": ACCOUNT, "account_key": KEY[:-5]}),
        "a signature": (
            "c2lnbmF0dXJl",
            {"connection_string": f"BlobEndpoint={endpoint}/{ACCOUNT};SharedAccessSignature=sv=2020-01-01&sig=c2lnbmF0dXJl%3D"},
        ),
    }[damage]
    with pytest.raises((zrecord.StorageError, ValueError)) as caught:
        zrecord.open(azure.url("golden/v2/table"), storage_options=options)
    assert key not in printed(caught.value)
    assert "\n" not in str(caught.value)
    if damage in ("another key", "a signature"):
        assert ": tried, HttpResponseError: Server failed to authenticate the request" in str(caught.value)


def test_a_pickled_dataset_of_a_cloud_is_opened_again(cloud: Cloud) -> None:
    dataset = cloud.open(f"golden/{UNITS}")
    again = pickle.loads(pickle.dumps(dataset))
    assert again["text"][[70_000, 5]] == dataset["text"][[70_000, 5]]
