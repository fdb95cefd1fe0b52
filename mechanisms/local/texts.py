"""Reports as the texts of their JSON, many at once: byte for byte what `orjson` makes of `write`, without an object for
each report.

Every text is put together from pieces that are as wide as the longest of their kind. A piece that is shorter is
followed by zero bytes, which no JSON text holds; they are left out in the end.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from mechanisms.contract import Integers
from mechanisms.local.hashing import HashReports
from mechanisms.local.labels import Labels, TopLabels
from mechanisms.local.wire import VERSION, Bits, Cells, Hashes, Shape, Subsets

Bytes = NDArray[np.uint8]

_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


class Written(NamedTuple):
    """Texts one behind the other in `data`, each ending before its entry of `ends`; report m is text number `at[m]`."""

    data: Bytes
    ends: Integers
    at: Integers


def texts_of(shape: Shape, reports: Any) -> Written:
    """The texts of all reports. Of labels each is there once, told or not; of anything else each report has its own."""
    shape.check(reports)
    if isinstance(shape, Labels | TopLabels):
        return Written(*_labels(shape), reports.astype(np.int64))
    table = np.concatenate(_PIECES[type(shape)](shape, reports), axis=1)
    there = table != 0
    return Written(table[there], np.cumsum(there.sum(axis=1)), np.arange(table.shape[0]))


@cache
def _labels(shape: Labels | TopLabels) -> tuple[Bytes, Integers]:
    """Made once for each field: a table of 4,096 values takes a millisecond."""
    texts = [orjson.dumps(value) for value in shape.documents(np.arange(shape.size))]
    return np.frombuffer(b"".join(texts), dtype=np.uint8), np.cumsum([len(text) for text in texts])


def _bits(shape: Bits, reports: Integers) -> Sequence[Bytes]:
    """The base64 of all rows at once: each is filled up to whole groups of three bytes, which are four signs."""
    count, length = reports.shape[0], -(-shape.length // 8)
    packed = np.zeros((count, -(-length // 3) * 3), dtype=np.uint8)
    packed[:, :length] = np.packbits(reports.astype(np.uint8), axis=1)
    signs = np.frombuffer(bytearray(b64encode(packed.tobytes())), dtype=np.uint8).reshape(
        count, packed.shape[1] // 3 * 4
    )
    signs[:, signs.shape[1] - (packed.shape[1] - length) :] = ord("=")
    return _alike(count, b'{"version":%d,"length":%d,"bits":"' % (VERSION, shape.length)), signs, _alike(count, b'"}')


def _hashes(shape: Hashes, reports: HashReports) -> Sequence[Bytes]:
    count = reports.hashes.shape[0]
    words = np.stack([reports.factors, reports.shifts], axis=1).astype(">u8").view(np.uint8).reshape(count, 16)
    digits = _HEX[np.stack([words >> 4, words & 15], axis=2)].reshape(count, 32)
    middle = b'","range":%d,"cell":' % shape.span
    cells = _numbers(0, shape.span - 1, b"}")[reports.hashes]
    return _alike(count, b'{"version":%d,"seed":"' % VERSION), digits, _alike(count, middle), cells


def _subsets(shape: Subsets, reports: Integers) -> Sequence[Bytes]:
    count = reports.shape[0]
    places = np.nonzero(reports)[1].reshape(count, shape.size)
    head = b'{"version":%d,"of":%d,"subset":[' % (VERSION, shape.values)
    return _alike(count, head), *_listed(places, 0, shape.values - 1), _alike(count, b"]}")


def _cells(shape: Cells, reports: Integers) -> Sequence[Bytes]:
    count = reports.shape[0]
    places = reports.astype(np.int64) - shape.first
    head = b'{"version":%d,"per_unit":%d,"cells":[' % (VERSION, shape.per_unit)
    return _alike(count, head), *_listed(places, shape.first, shape.last), _alike(count, b"]}")


def _listed(places: Integers, first: int, last: int) -> Sequence[Bytes]:
    """Rows of numbers, each given by how far it is above the first."""
    with_comma, alone = (_numbers(first, last, behind) for behind in (b",", b""))
    count, before = places.shape[0], (places.shape[1] - 1) * with_comma.shape[1]
    return with_comma[places[:, :-1]].reshape(count, before), alone[places[:, -1]]


@cache
def _numbers(first: int, last: int, behind: bytes) -> Bytes:
    """The texts of these numbers, one in each row."""
    texts = np.array([b"%d%b" % (number, behind) for number in range(first, last + 1)])
    return texts.view(np.uint8).reshape(texts.shape[0], texts.itemsize)


def _alike(count: int, piece: bytes) -> Bytes:
    return np.broadcast_to(np.frombuffer(piece, dtype=np.uint8), (count, len(piece)))


_PIECES: Mapping[type, Callable[[Any, Any], Sequence[Bytes]]] = {
    Bits: _bits,
    Hashes: _hashes,
    Subsets: _subsets,
    Cells: _cells,
}
