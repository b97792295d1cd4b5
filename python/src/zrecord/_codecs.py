"""Converts stored bytes to values (FORMAT.md section 4)."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from functools import cache

from zrecord.errors import MissingExtraError

_AS_IS = 1 << 31
_PREFIX_BYTES = 4
# Most bytes that one byte may become: Zstandard's shortest block repeats one byte 128 Ki times.
_MAX_RATIOS = {"zstd": 1 << 17, "flate": 1032, "lz4": 255}
_MAX_WINDOW_BYTES = 1 << 27
Decoder = Callable[[bytes], bytes]


@cache
def decoder(codec: str) -> Decoder:
    """Returns a function from stored bytes to the value. It raises ``ValueError`` if the bytes break the format."""
    if codec == "raw":
        return bytes
    max_ratio = _MAX_RATIOS[codec]
    decompress = {"flate": _flate, "zstd": _zstd, "lz4": _lz4}[codec]()

    def decode(stored: bytes) -> bytes:
        if len(stored) < _PREFIX_BYTES:
            raise ValueError(f"it has {len(stored)} bytes, fewer than its prefix")
        prefix = int.from_bytes(stored[:_PREFIX_BYTES], "little")
        length, payload = prefix & ~_AS_IS, stored[_PREFIX_BYTES:]
        if not prefix & _AS_IS:
            if length > (len(payload) + 1) * max_ratio:
                raise ValueError(f"{len(payload)} bytes cannot decode to {length}")
            payload = decompress(payload, length)
        if len(payload) != length:
            raise ValueError(f"it decodes to {len(payload)} bytes instead of {length}")
        return payload

    return decode


def _flate() -> Callable[[bytes, int], bytes]:
    def decompress(payload: bytes, length: int) -> bytes:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            value = inflater.decompress(payload, length + 1)
        except zlib.error as e:
            raise ValueError(str(e)) from e
        if not inflater.eof or inflater.unused_data:
            raise ValueError(f"it does not end after {length} bytes")
        return value

    return decompress


def _zstd() -> Callable[[bytes, int], bytes]:
    try:
        import zstandard
    except ImportError as e:
        raise _missing("zstd") from e

    own = threading.local()  # two threads must not use it at once

    def decompress(payload: bytes, length: int) -> bytes:
        if not hasattr(own, "decompressor"):
            own.decompressor = zstandard.ZstdDecompressor()
        try:
            # The size that the frame names would be allocated, whatever the limit.
            if zstandard.frame_content_size(payload) not in (-1, length):
                raise ValueError(f"its frame is not of {length} bytes")
            frame = zstandard.get_frame_parameters(payload)
            if frame.dict_id or (frame.window_size > _MAX_WINDOW_BYTES and frame.window_size > length):
                raise ValueError("its frame needs a dictionary or a longer window than readers have")
            value: bytes = own.decompressor.decompress(payload, max_output_size=length, allow_extra_data=False)
        except zstandard.ZstdError as e:
            raise ValueError(str(e)) from e
        return value

    return decompress


def _lz4() -> Callable[[bytes, int], bytes]:
    try:
        import lz4.block
    except ImportError as e:
        raise _missing("lz4") from e

    def decompress(payload: bytes, length: int) -> bytes:
        try:
            value: bytes = lz4.block.decompress(payload, uncompressed_size=length)
        except lz4.block.LZ4BlockError as e:
            raise ValueError(str(e)) from e
        return value

    return decompress


def _missing(codec: str) -> MissingExtraError:
    return MissingExtraError(
        f"Values compressed with {codec} need a library that is not installed; run: pip install 'zrecord[{codec}]'"
    )
