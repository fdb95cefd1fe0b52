"""A block of outgoing records as columns: what compiled code encodes in one call, with no object for each record.

To everybody else it is the sequence of `Outgoing` that it stands for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from stream.protocol.ports import Outgoing
from stream.protocol.texts import Texts

Header = tuple[str, bytes]
Mask = NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class RecordBlock(Sequence[Outgoing]):
    """Records whose headers have the same names in the same order; nothing in it is changed once it is made.

    `keys` is None when no record has a key. `header_names` and `header_values` are parallel; a value is a `Texts` with
    one text for each record, or `bytes` that stand in all of them. `header_masks`, where given, is parallel too: a
    header with a mask stands only in the records whose mask is not 0, one with None stands in all. `extra` holds
    further headers of each record, behind the others; it exists for the headers that a user has chosen. Where `gone` is
    not 0 a record has no value: to a compacted topic it says that its key is over.
    """

    keys: Texts | None
    values: Texts
    timestamps: NDArray[np.int64]
    header_names: tuple[bytes, ...] = ()
    header_values: tuple[Texts | bytes, ...] = ()
    header_masks: tuple[Mask | None, ...] = ()
    extra: Sequence[Sequence[Header]] | None = None
    gone: Mask | None = None

    def __post_init__(self) -> None:
        count = len(self.values)
        columns = [self.keys, *self.header_values]
        lengths = {len(column) for column in columns if isinstance(column, Texts)}
        lengths |= {mask.shape[0] for mask in (*self.header_masks, self.gone) if mask is not None}
        lengths |= {self.timestamps.shape[0], count if self.extra is None else len(self.extra)}
        require(lengths == {count}, "the columns of a block have one entry for each record")
        require(
            len(self.header_names) == len(self.header_values) and len(self.header_masks) in (0, len(self.header_names)),
            "each header of a block has a name and a value, and either all have a mask or none has",
        )

    @classmethod
    def of(cls, records: Sequence[Outgoing]) -> "RecordBlock":
        """The records as columns; their headers go to `extra`. Either all have a key or none."""
        keys = [record.key for record in records if record.key is not None]
        gone = np.array([record.value is None for record in records], dtype=np.int8)
        require(len(keys) in (0, len(records)), "either all records of a block have a key or none has")
        headers = [record.headers for record in records]
        return cls(
            keys=Texts.of(keys) if len(keys) == len(records) else None,
            values=Texts.of([record.value or b"" for record in records]),
            timestamps=np.array([record.timestamp for record in records], dtype=np.int64),
            extra=headers if any(headers) else None,
            gone=gone if gone.any() else None,
        )

    def with_records(self, records: Sequence[Outgoing]) -> "RecordBlock":
        """This block of records without headers, and further ones behind it."""
        more = RecordBlock.of(records)
        if not (self and more):
            return more if more else self
        require(not self.header_names and self.extra is None and more.extra is None, "no record has a header")
        require((self.keys is None) == (more.keys is None), "either all records of a block have a key or none has")
        return RecordBlock(
            keys=None if self.keys is None or more.keys is None else _joined(self.keys, more.keys),
            values=_joined(self.values, more.values),
            timestamps=np.concatenate([self.timestamps, more.timestamps]),
            gone=_joined_masks(self, more),
        )

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Outgoing]:
        keys: Iterable[bytes | None] = [None] * len(self) if self.keys is None else self.keys.all()
        headers, gone = self._all_headers(), [0] * len(self) if self.gone is None else self.gone.tolist()
        columns = zip(keys, self.values.all(), gone, self.timestamps.tolist(), headers, strict=True)
        for key, value, over, timestamp, own in columns:
            yield Outgoing(key, None if over else value, timestamp, own)

    @overload
    def __getitem__(self, place: int) -> Outgoing: ...
    @overload
    def __getitem__(self, place: slice) -> list[Outgoing]: ...
    def __getitem__(self, place: int | slice) -> Outgoing | list[Outgoing]:
        if isinstance(place, slice):
            return [self._record(i) for i in range(*place.indices(len(self)))]
        return self._record(range(len(self))[place])

    def _record(self, i: int) -> Outgoing:
        masks = self.header_masks or (None,) * len(self.header_names)
        headers = [
            (name.decode(), value if isinstance(value, bytes) else value.text(i))
            for name, value, mask in zip(self.header_names, self.header_values, masks, strict=True)
            if mask is None or mask[i]
        ]
        if self.extra is not None:
            headers.extend(self.extra[i])
        key = None if self.keys is None else self.keys.text(i)
        over = self.gone is not None and self.gone[i] != 0
        return Outgoing(key, None if over else self.values.text(i), int(self.timestamps[i]), headers)

    def _all_headers(self) -> list[list[Header]]:
        headers: list[list[Header]] = [[] for _ in range(len(self))]
        masks = self.header_masks or (None,) * len(self.header_names)
        for name, value, mask in zip(self.header_names, self.header_values, masks, strict=True):
            text = name.decode()
            values = [value] * len(self) if isinstance(value, bytes) else value.all()
            kept = range(len(self)) if mask is None else np.flatnonzero(mask).tolist()
            for i in kept:
                headers[i].append((text, values[i]))
        for own, more in zip(headers, self.extra or (), strict=False):
            own.extend(more)
        return headers


def _joined(first: Texts, second: Texts) -> Texts:
    """The texts of the first, of which there is one at least, and then those of the second."""
    shift = first.ends[-1]
    data = np.concatenate([first.data[:shift], second.data])
    return Texts(data, np.concatenate([first.ends, second.ends + shift]))


def _joined_masks(first: RecordBlock, second: RecordBlock) -> Mask | None:
    if first.gone is None and second.gone is None:
        return None
    masks = [np.zeros(len(block), np.int8) if block.gone is None else block.gone for block in (first, second)]
    return np.concatenate(masks)
