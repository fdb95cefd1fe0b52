"""Undo the compression of a record batch, but never into more memory than a bound: a kilobyte can hold a megabyte."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Final

import cramjam
import numpy as np

# What a batch may become. Producers count their batches before compression, a megabyte unless told otherwise.
EXPANDED_BYTES_MAX: Final = 64 << 20

_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
# How snappy-java frames its blocks: a magic text, two version numbers, then each block behind its length.
_XERIAL: Final = b"\x82SNAPPY\0"
_XERIAL_HEADER_BYTES: Final = 16
_LENGTH: Final = struct.Struct(">i")


class Unreadable(Exception):
    """The compressed bytes are damaged, of an unknown kind, or become too large."""


def expand(kind: int, data: bytes) -> bytes:
    """The records of a batch whose attributes name this kind of compression."""
    expander = _EXPANDERS.get(kind)
    if expander is None:
        raise Unreadable
    try:
        return expander(data)
    except (zlib.error, cramjam.DecompressionError, struct.error, ValueError):
        raise Unreadable from None


def _gzip(data: bytes) -> bytes:
    """A gzip file may consist of several, one behind the other."""
    out = bytearray()
    while data:
        member = zlib.decompressobj(_GZIP_WINDOW)
        out += member.decompress(data, EXPANDED_BYTES_MAX + 1 - len(out))
        if not member.eof or len(out) > EXPANDED_BYTES_MAX:
            raise Unreadable
        data = member.unused_data
    return bytes(out)


def _snappy(data: bytes) -> bytes:
    blocks = [data]
    if data.startswith(_XERIAL):
        blocks, at = [], _XERIAL_HEADER_BYTES
        while at < len(data):
            (length,) = _LENGTH.unpack_from(data, at)
            at += _LENGTH.size
            if not 0 <= length <= len(data) - at:
                raise Unreadable
            blocks.append(data[at : at + length])
            at += length
    if sum(cramjam.snappy.decompress_raw_len(block) for block in blocks) > EXPANDED_BYTES_MAX:
        raise Unreadable
    return b"".join(bytes(cramjam.snappy.decompress_raw(block)) for block in blocks)


def _lz4(data: bytes) -> bytes:
    room = _room()
    return room[: cramjam.lz4.decompress_into(data, room)].tobytes()


def _zstd(data: bytes) -> bytes:
    room = _room()
    return room[: cramjam.zstd.decompress_into(data, room)].tobytes()


def _room() -> memoryview:
    """Memory that nobody writes into is not taken from the machine, so the room costs nothing."""
    return np.empty(EXPANDED_BYTES_MAX, np.uint8).data


# By the lowest three bits of a batch's attributes.
_EXPANDERS: Final[dict[int, Callable[[bytes], bytes]]] = {1: _gzip, 2: _snappy, 3: _lz4, 4: _zstd}
