"""Servers that speak as Google Cloud Storage and as Azure do, with objects in memory, and HDFS, in processes of their own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVERS = Path(sys.prefix) / "servers"  # where python/test installs them
_START_SECONDS = 60


def program(path: str, tool: str) -> Path:
    """Returns the program of a server. Skips the test if nobody asked for the servers, or if ``tool`` is missing."""
    if not os.environ.get("ZRECORD_TEST_CLOUDS"):
        pytest.skip("python/test installs the server and runs this with ZRECORD_TEST_CLOUDS=1")
    found = SERVERS / path
    if not found.exists() and shutil.which(tool) is None:
        pytest.skip(f"{found.name} is installed by {tool}, which is missing")
    assert found.exists(), f"{found} is missing; run python/test"
    return found


@contextmanager
def gcs_server(log: Path) -> Iterator[str]:
    """Runs fake-gcs-server and gives its URL."""
    port = _free_port()
    arguments = ["-backend=memory", "-scheme=http", "-host=127.0.0.1", f"-port={port}", f"-external-url=http://127.0.0.1:{port}"]
    with _running([str(program("fake-gcs-server", "go")), *arguments], port, log):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def azure_server(log: Path) -> Iterator[str]:
    """Runs the blob service of Azurite and gives its URL."""
    port = _free_port()
    arguments = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence", "--skipApiVersionCheck"]
    with _running([str(program("node_modules/.bin/azurite-blob", "npm")), *arguments], port, log):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def hdfs_server(directory: Path) -> Iterator[str]:
    """Runs HDFS with one data node and gives the URL of WebHDFS."""
    jars = program("hadoop", "java")
    source = Path(__file__).with_name("HdfsServer.java")
    command = ["java", "-cp", f"{jars}/*", str(source), str(directory / "data")]
    with (
        (directory / "log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url, (directory / "log").read_text(encoding="utf-8", errors="replace")
            yield url
        finally:
            process.kill()


@contextmanager
def _running(command: list[str], port: int, log: Path) -> Iterator[None]:
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=log.parent) as process:
        try:
            _wait_for(port, process, log)
            yield
        finally:
            process.kill()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"The server does not answer: {log.read_text(encoding='utf-8', errors='replace')}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
