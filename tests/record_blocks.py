"""Blocks of records for tests: every shape that a block can have, and what the library makes of the same records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from aiokafka.producer.message_accumulator import BatchBuilder
from hypothesis import strategies as st

from stream.protocol.columns import RecordBlock
from stream.protocol.ports import Outgoing
from stream.protocol.texts import Texts

LATEST = 2**62
PRODUCER = (2**40 + 7, 3, 2**31 - 1000)
SMALL = st.binary(max_size=8)
# Around every length at which a varint of a length grows: 64 and 8192.
TEXTS = SMALL | st.integers(50, 80).map(bytes) | st.integers(8_180, 8_200).map(bytes)
NAMES = st.text(max_size=5).map(str.encode) | st.just(b"n" * 70)
TIMES = st.integers(0, LATEST) | st.integers(1_700_000_000_000, 1_700_000_000_000 + 9_000) | st.just(0)


@st.composite
def blocks(draw: st.DrawFn, max_records: int = 90) -> RecordBlock:
    count = draw(st.integers(0, 12) | st.integers(0, max_records))

    def texts(of: st.SearchStrategy[bytes] = TEXTS) -> Texts:
        different = draw(st.lists(of, min_size=1, max_size=8))
        return Texts.of([different[(i * i) % len(different)] for i in range(count)])

    headers = draw(st.integers(0, 6))
    kinds = draw(st.lists(st.booleans(), min_size=headers, max_size=headers))
    masked = draw(st.lists(st.booleans(), min_size=headers, max_size=headers))
    masks = [np.arange(count, dtype=np.int8) % draw(st.integers(1, 3)) if one else None for one in masked]
    times = draw(st.lists(TIMES, min_size=1, max_size=6))
    return RecordBlock(
        keys=texts() if draw(st.booleans()) else None,
        values=texts(),
        timestamps=np.array([times[(i * i) % len(times)] for i in range(count)], dtype=np.int64),
        header_names=tuple(draw(NAMES) for _ in range(headers)),
        header_values=tuple(texts(SMALL) if kind else draw(TEXTS) for kind in kinds),
        header_masks=tuple(masks) if draw(st.booleans()) else (),
        gone=np.arange(count, dtype=np.int8) % draw(st.integers(1, 3)) if draw(st.booleans()) else None,
    )


def library_batches(records: Sequence[Outgoing], batch_bytes: int) -> list[bytes]:
    """The batches that the library builds of the records, one record at a time."""
    builders: list[BatchBuilder] = []
    for key, value, timestamp, headers in records:
        appended = {"key": key, "value": value, "timestamp": timestamp, "headers": headers}
        if not builders or builders[-1].append(**appended) is None:
            builders.append(BatchBuilder(batch_bytes, 0, is_transactional=True))
            builders[-1].append(**appended)
    for builder in builders:
        builder._set_producer_state(*PRODUCER)
    return [bytes(builder._build()) for builder in builders]
