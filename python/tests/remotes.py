"""Servers and file systems of the tests: HTTP with ranges, and memory with a script of faults and a log of requests."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
from fsspec.implementations.memory import MemoryFileSystem

from tests.test_golden import as_python

UNITS, PATCHES, BLOCKS = "v2-units", "v2-patches", "v2-blocks"
SECRET = "wJalrXUtnFEMI"

OTHER = "00000000-0000-4000-8000-000000000000"


class RangeHandler(SimpleHTTPRequestHandler):
    """Serves files by ranges. Directories are not listed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if self.server.is_failing:  # type: ignore[attr-defined]
            self._answer(503, b"", {})
            return
        if not path.is_file():
            self._answer(self.server.missing, b"", {})  # type: ignore[attr-defined]
            return
        content = path.read_bytes()
        wanted = self.headers.get("Range")
        if wanted is None or not self.server.has_ranges:  # type: ignore[attr-defined]
            self._answer(200, content, {})
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        begin, end = int(first), min(int(last) + 1, len(content))
        if begin >= len(content):
            self._answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
        else:
            self._answer(206, content[begin:end], {"Content-Range": f"bytes {begin}-{end - 1}/{len(content)}"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "Accept-Ranges": "bytes"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def http_server(directory: Path, has_ranges: bool = True, missing: int = 404) -> Iterator[str]:
    """Serves a directory on a port of its own and gives the URL of the directory."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(RangeHandler, directory=str(directory)))
    server.daemon_threads = True
    server.has_ranges, server.is_failing, server.missing = has_ranges, False, missing  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.is_failing = True  # type: ignore[attr-defined]  # on connections that are still open
        server.shutdown()
        server.server_close()


class ScriptedFileSystem(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory. ``log`` has the requests; ``script`` may change what comes, or raise an error."""

    protocol = "scripted"
    store: dict[str, Any] = {}  # noqa: RUF012
    pseudo_dirs: list[str] = [""]  # noqa: RUF012
    log: list[tuple[str, int, int]] = []  # noqa: RUF012
    script: Callable[[str, int, int, bytes], bytes] | None = None

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        stripped: str = super()._strip_protocol(path.replace("scripted://", "memory://", 1))
        return stripped

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        found: bytes = super().cat_file(path, start, end, **kwargs)
        cls = type(self)
        cls.log.append((path, start or 0, end or len(found)))
        return found if cls.script is None else cls.script(path, start or 0, end or len(found), found)


def put(fs: Any, directory: Path, target: str) -> None:
    """Copies a directory to a file system."""
    for file in sorted(directory.rglob("*")):
        if file.is_file():
            fs.pipe_file(f"{target}/{file.relative_to(directory).as_posix()}", file.read_bytes())


fsspec.register_implementation("scripted", ScriptedFileSystem)


def comparable(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values.dtype, values.shape, values.tobytes()
    return repr([as_python(value) for value in values])


def printed(error: BaseException) -> str:
    """An error with all that led to it, as Python prints it."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
