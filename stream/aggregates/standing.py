"""How far the windows of a pipeline are released and what they lost, as it stands in the changelog beside the partials
that wait: the standing (stream/gathering/standing.py), then

    size
       4  how many runs of losses; then how many windows (4) and what each lost (8), oldest first

All numbers big-endian. The losses are those of all windows of the horizon but the next one.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from stream.gathering.standing import listed, standing_bytes_max

_COUNT: Final = struct.Struct(">I")
_RUN: Final = struct.Struct(">Iq")


def encode_losses(losses: Sequence[int]) -> bytes:
    runs = [(sum(1 for _ in same), loss) for loss, same in groupby(losses)]
    return b"".join([_COUNT.pack(len(runs)), *(_RUN.pack(*run) for run in runs)])


def decode_losses(text: bytes) -> list[int]:
    """struct.error where the text is not of losses."""
    runs, end = listed(text, 0, _RUN)
    if end != len(text):
        raise struct.error("another length")
    return [loss for count, loss in runs for _ in range(count)]


def mark_bytes_max(partitions: int, horizon: int) -> int:
    """Of a mark with as many changes of losses as there can be."""
    return standing_bytes_max(partitions) + _COUNT.size + _RUN.size * horizon
