"""The compiled hash against the library's."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream.release_ids import release_ids

OFFSETS = st.lists(st.integers(0, 2**63 - 1), max_size=20)


@given(st.binary(min_size=16, max_size=16), st.integers(0, 2**32 - 1), OFFSETS, st.binary(min_size=8, max_size=8))
def test_ids_are_sha256(topic_id: bytes, partition: int, offsets: list[int], fingerprint: bytes) -> None:
    def by_library(offset: int) -> bytes:
        message = topic_id + struct.pack(">IQ", partition, offset) + fingerprint
        return hashlib.sha256(message).hexdigest()[:32].encode()

    got = release_ids(topic_id, partition, np.array(offsets, dtype=np.int64), fingerprint)
    assert got == [by_library(offset) for offset in offsets]
