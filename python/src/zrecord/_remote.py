"""Reads files of a file system of fsspec: whole small files, ranges of files, and listings, with retries."""

from __future__ import annotations

import errno
import os
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from zrecord._advice import advice, is_denied, is_final, is_without_bucket, links
from zrecord._dropped import missing
from zrecord.errors import AccessDeniedError, CorruptDataError, MissingExtraError, StorageError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

REQUESTS, SHARDS, FIELDS = "requests", "shards", "fields"
# Work of a level waits for work of the levels before it only, so no pool waits for itself.
_THREADS = {REQUESTS: 32, SHARDS: 16, FIELDS: 8}
_ATTEMPTS = 4
_PAUSE_SECONDS = 0.1
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)(?:://|::)")
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp"),
    "hdfs": "pyarrow",
}
_USER_INFO = re.compile(r"([A-Za-z0-9+.-]{0,32})://([^/\s'\"]*)@")
# The schemes of Azure, whose URLs name a container where others name a user.
_WITH_CONTAINER = frozenset(("abfs", "abfss", "az"))
_QUERY = re.compile(r"\?[^\s'\"]*")
_SECRET_KEY = re.compile("key|secret|token|pass|cred|sas|auth|sig|header|connection|user", re.IGNORECASE)
_MIN_SECRET = 4
# Connection strings and signatures of Azure consist of NAME=VALUE, of which a message may show the value only.
_PART = re.compile(r"([^;&?=\s]+)=([^;&]+)")
_MAX_REASON = 300
_loop_lock = threading.Lock()


def scheme_of(url: str) -> str | None:
    """Returns the scheme of a URL in lower case; ``None`` for a path."""
    found = _SCHEME.match(url)
    return found[1].lower() if found else None


class Remote:
    """A file system of fsspec. Threads may share it; a forked process opens the file system again.

    Neither messages nor ``repr`` have user names, queries of URLs, or values of ``options``.
    """

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self.scheme = scheme_of(url) or "file"
        self._url = url
        self._options = dict(options)
        self._given = list(map(str, options))
        user_info = _USER_INFO.search(url)
        of_url = _strings(_split(user_info)[1].split(":") if user_info else [])
        self._secrets = sorted(_secrets(options) | of_url, key=len, reverse=True)
        self.shown_root = _without_user(url).rstrip("/")
        if self.scheme in ("http", "https") and ("?" in url or "#" in url):
            raise ValueError(f"The URL {self.shown_root} has a query or a fragment; give credentials in storage_options")
        if self.scheme in ("s3", "s3a"):
            # The client of S3 has 10 connections unless told otherwise.
            given = self._options.get("config_kwargs") or {}
            self._options["config_kwargs"] = {"max_pool_connections": _THREADS[REQUESTS], **given}
        self._lock = threading.Lock()
        self._pid = 0
        self._fs: Any = None
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self.root_path = self._connect()

    def __repr__(self) -> str:
        return f"<Remote {self.shown_root}>"

    @property
    def is_listable(self) -> bool:
        return self.scheme not in ("http", "https")

    def read(self, path: RemotePath, max_bytes: int) -> bytes:
        """Returns a whole file. Raises ``CorruptDataError`` if the file is missing or longer."""
        content = self._retried(path, "the file", lambda fs: _bytes(fs.cat_file(path.path, start=0, end=max_bytes + 1)))
        if len(content) > max_bytes:
            raise CorruptDataError(
                f"Cannot read {path}: it has more than {max_bytes} bytes, but at most {max_bytes} are accepted; "
                "restore it from a copy",
                path,
            )
        return content

    def read_range(self, path: RemotePath, begin: int, end: int) -> bytes:
        """Returns exactly these bytes of a file."""

        def read(fs: Any) -> bytes:
            content = _bytes(fs.cat_file(path.path, start=begin, end=end))
            if len(content) < end - begin:
                raise _ShortBody(f"{len(content)} of {end - begin} bytes came")
            if len(content) > end - begin:
                raise NotImplementedError(f"{len(content)} bytes came instead of {end - begin}: the server ignores ranges")
            return content

        return self._retried(path, f"bytes {begin} to {end}", read, end)

    def list_names(self, path: RemotePath) -> list[str]:
        """Returns the names of the files in a directory; none if the directory is missing."""

        def read(fs: Any) -> list[str]:
            try:
                fs.invalidate_cache(path.path)
                found = fs.ls(path.path, detail=True)
            except FileNotFoundError as e:
                if is_without_bucket(e):
                    raise
                return []
            return [entry["name"].rstrip("/").rpartition("/")[2] for entry in found if entry.get("type") != "directory"]

        return self._retried(path, "the names of files", read)

    def map(self, level: str, function: Callable[[_Item], _Result], items: list[_Item]) -> list[_Result]:
        """Calls a function for each item in the threads of a level. Raises the first error."""
        if len(items) < 2:
            return [function(item) for item in items]
        return list(self._pool(level).map(function, items))

    def _pool(self, level: str) -> ThreadPoolExecutor:
        with self._lock:
            self._renew()
            if level not in self._pools:
                self._pools[level] = ThreadPoolExecutor(_THREADS[level], f"zrecord-{level}")
            return self._pools[level]

    def _retried(self, path: RemotePath, what: str, read: Callable[[Any], _Result], end: int | None = None) -> _Result:
        last: Exception
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE_SECONDS * 4 ** (attempt - 1) * random.uniform(0.5, 1.5))
            try:
                return read(self._connected())
            except FileNotFoundError as e:
                if is_without_bucket(e):
                    last = e
                    break
                raise missing(path) from FileNotFoundError(errno.ENOENT, "No such file", str(path))
            except Exception as e:
                last = e
                if is_final(e):
                    break
        found = self._length(path) if end is not None else None
        if end is not None and found is not None and found < end:
            raise CorruptDataError(f"Cannot read {path}: it has {found} of {end} bytes; restore it from a copy", path)
        reason = _in_one_line(self._shown(f"{type(last).__name__}: {last}"))
        # An error with credentials in its own text, or in that of an error before it, would print them in the chain of errors.
        cause = last if all(self._shown(text) == text for text in _texts(last)) else None
        times = f" {_ATTEMPTS} times" if not is_final(last) else ""
        error = AccessDeniedError if is_denied(last) else StorageError
        raise error(f"Cannot read {what} of {path}: tried{times}, {reason}; {advice(last, self._given)}", path) from cause

    def _length(self, path: RemotePath) -> int | None:
        try:
            size = self._connected().info(path.path).get("size")
        except Exception:
            return None
        return size if isinstance(size, int) else None

    def _connected(self) -> Any:
        if os.getpid() == self._pid:
            return self._fs
        with self._lock:
            self._renew()
            return self._fs

    def _renew(self) -> None:
        """Opens the file system again in a forked process, where neither its event loop nor the pools have threads."""
        if os.getpid() != self._pid:
            self._connect()

    def _connect(self) -> str:
        """Opens the file system and returns the path of the root in it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError as e:
            raise MissingExtraError(
                f"Reading {self.shown_root} needs fsspec, which is not installed; run: pip install 'zrecord[remote]'"
                f"{_and_package(self.scheme)}"
            ) from e
        _drop_dead_loop()
        try:
            fs, path = url_to_fs(self._url, **self._options)
        except ImportError as e:
            package = _PACKAGES.get(self.scheme)
            remedy = f"run: pip install {package}" if package else self._shown(str(e))
            raise MissingExtraError(f"Reading {self.shown_root} needs a package that is not installed; {remedy}") from e
        except ValueError as e:
            raise ValueError(f"Cannot open {self.shown_root}: {self._shown(str(e))}") from None
        except Exception as e:
            reason = _in_one_line(self._shown(f"{type(e).__name__}: {e}"))
            raise StorageError(f"Cannot open {self.shown_root}: {reason}", None) from None
        self._fs, self._pid, self._pools = fs, os.getpid(), {}
        root: str = path.rstrip("/")
        return root

    def _shown(self, text: str) -> str:
        """Returns a text without credentials."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return _without_user(text)


@dataclass(frozen=True, repr=False)
class RemotePath:
    """A file or directory below the root of a dataset. ``str`` gives its URL without credentials."""

    remote: Remote
    path: str
    shown: str

    @classmethod
    def root(cls, url: str, options: Mapping[str, Any]) -> RemotePath:
        remote = Remote(url, options)
        return cls(remote, remote.root_path, remote.shown_root)

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self.remote, f"{self.path}/{name}", f"{self.shown}/{name}")

    @property
    def parent(self) -> RemotePath:
        return RemotePath(self.remote, self.path.rpartition("/")[0], self.shown.rpartition("/")[0])

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"RemotePath({self.shown!r})"


class _ShortBody(OSError):
    """Fewer bytes came than were asked for."""


def _drop_dead_loop() -> None:
    """Makes fsspec start a new event loop in a forked process, where the thread of the parent's loop does not run.

    fsspec does so itself since 2025.7. Older releases wait for the dead loop for ever.
    """
    asyn: Any = sys.modules.get("fsspec.asyn")
    with _loop_lock:
        threads = getattr(asyn, "iothread", None)
        if not threads or threads[0] is None or threads[0].is_alive():
            return
        if hasattr(asyn, "reset_lock"):
            asyn.reset_lock()
        threads[0] = None
        if hasattr(asyn, "loop"):
            asyn.loop[0] = None


def _texts(error: BaseException) -> Iterator[str]:
    """Returns what may be printed of an error and of all errors that led to it."""
    for link in links(error):
        yield f"{type(link).__name__}: {link}"
        yield from map(str, getattr(link, "__notes__", ()))


def _in_one_line(text: str) -> str:
    """Returns a text without line breaks. What servers say may be a page long."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_REASON else f"{line[:_MAX_REASON]}…"


def _bytes(content: Any) -> bytes:
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"the file system gave {type(content).__name__} instead of bytes")
    return bytes(content)


def _and_package(scheme: str) -> str:
    return f" {_PACKAGES[scheme]}" if scheme in _PACKAGES else ""


def _without_user(text: str) -> str:
    return _QUERY.sub("", _USER_INFO.sub(lambda found: _split(found)[0], text))


def _split(found: re.Match[str]) -> tuple[str, str]:
    """Returns the begin of a URL as it may be shown, and the user information that is hidden."""
    scheme, before = found[1], found[2]
    if scheme.lower() not in _WITH_CONTAINER:
        return f"{scheme}://", before
    container, _, hidden = before.partition(":")
    return f"{scheme}://{container}@", hidden


def _secrets(options: Mapping[str, Any]) -> set[str]:
    """Returns the strings of options that may be secrets, by the names of the options."""
    found: set[str] = set()
    for key, value in options.items():
        if _SECRET_KEY.search(str(key)):
            found |= _strings(value)
        elif isinstance(value, Mapping):
            found |= _secrets(value)
    return found


def _strings(value: Any) -> set[str]:
    if isinstance(value, str):
        secrets = (part[2] for part in _PART.finditer(value) if _SECRET_KEY.search(part[1]))
        every = {value, *secrets}
        every |= {unquote(text) for text in every}
        return {text for text in every if len(text) >= _MIN_SECRET}
    elements = value.values() if isinstance(value, Mapping) else value
    if not isinstance(elements, Iterable) or isinstance(value, (bytes, bytearray)):
        return set()
    return {text for element in elements for text in _strings(element)}
