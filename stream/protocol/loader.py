"""Fill a partition's store from the committed part of the belief changelog.

The partition's producer must have been started before: that fences whoever wrote last and ends what was left open, so
the end of the changelog stands still from then on, and everything committed is before it.
"""

from dataclasses import dataclass

from stream.names import CHANGELOG_HELD_PREFIX, CHANGELOG_USER_PREFIX
from stream.protocol.control import is_mark
from stream.protocol.observer import Observer, Recovery
from stream.protocol.ports import Changelog, RowCodec, UserStore


@dataclass(slots=True)
class _Sorted:
    """One chunk of changelog records, sorted by what they are; of several records with one key the last counts."""

    rows: dict[bytes, bytes]
    gone: list[bytes]
    marks: dict[bytes, bytes]
    held: dict[bytes, bytes]


async def load(changelog: Changelog, partition: int, store: UserStore, codec: RowCodec, observer: Observer) -> None:
    """Bring the store up to the end of the changelog; a store that has a position reads only what came after it."""
    start = store.position()
    async for chunk in changelog.read(partition, start):
        _take(store, codec, _sort(chunk.pairs), chunk.position)
        observer.recovering(Recovery(partition, chunk.position, chunk.end, len(store), len(store.unreadable), start))


def _sort(pairs: list[tuple[bytes, bytes | None]]) -> _Sorted:
    prefix, held = CHANGELOG_USER_PREFIX, CHANGELOG_HELD_PREFIX
    found = _Sorted({}, [], {}, {})
    for key, value in dict(pairs).items():
        if key.startswith(prefix):
            if value is None:
                found.gone.append(key[len(prefix) :])
            else:
                found.rows[key[len(prefix) :]] = value
        elif key.startswith(held):
            found.held[key[len(held) :]] = value or b""
        elif value is not None and is_mark(key):
            found.marks[key] = value
    return found


def _take(store: UserStore, codec: RowCodec, found: _Sorted, position: int) -> None:
    if found.gone:
        store.remove(found.gone)
    keys = list(found.rows)
    heads, codes, readable = codec.from_rows(list(found.rows.values()))
    if not readable.all():
        store.quarantine({key: found.rows[key] for key, fine in zip(keys, readable, strict=True) if not fine})
        keys = [key for key, fine in zip(keys, readable, strict=True) if fine]
        heads, codes = heads[readable], codes[readable]
    store.apply(keys, heads, codes, position, found.marks, found.held)
