"""What must hold at the end of a simulated run, against a recount that shares no code with the protocol."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from sim_brokers import Brokers
from sim_pipeline import (
    STEPS,
    SUM,
    WINDOW,
    WINDOWED,
    Released,
    dead_letter_value,
    follow,
    keyed_noise,
    release_value,
    segment_of,
    window_value,
)
from sim_ports import TOPICS

from stream.protocol.control import PROGRESS_KEY, decode_progress
from stream.protocol.ports import UserStore


def violations(brokers: Brokers, partitions: int, stores: Mapping[int, UserStore]) -> Iterator[str]:
    for partition in range(partitions):
        expected, states = recount(brokers, partition)
        yield from _outputs(brokers, partition, expected)
        yield from _windows(brokers, partition)
        yield from _beliefs(brokers, partition, states)
        if partition in stores:
            yield from _store(partition, stores[partition], states)


def progress_mark(brokers: Brokers, partition: int) -> int:
    log = brokers.committed((TOPICS.changelog, partition))
    marks = [entry.record.value for entry in log if entry.record and entry.record.key == PROGRESS_KEY]
    return decode_progress(marks[-1] or b"", "") if marks else 0


def anything_held(brokers: Brokers, partition: int) -> bool:
    log = brokers.committed((TOPICS.changelog, partition))
    latest = {entry.record.key or b"": entry.record.value for entry in log if entry.record}
    return any(value for key, value in latest.items() if key.startswith(b"h"))


def recount(brokers: Brokers, partition: int) -> tuple[dict[int, bytes], dict[bytes, Released]]:
    """What each input must have become, and how each user must stand."""
    expected: dict[int, bytes] = {}
    states: dict[bytes, Released] = {}
    segments: dict[bytes, int] = {}
    for entry in brokers.committed((TOPICS.raw, partition)):
        record = entry.record
        if record is None:
            continue
        if record.value is None or record.key is None:
            expected[entry.offset] = dead_letter_value(partition, entry.offset)
            continue
        if record.key in WINDOWED:
            continue
        segment = segments.setdefault(record.key, segment_of(record.value))
        if segment != segment_of(record.value):
            expected[entry.offset] = dead_letter_value(partition, entry.offset)
            continue
        now = follow(states.get(record.key, Released(0, 0)), record.value, keyed_noise(partition, entry.offset))
        states[record.key] = now
        expected[entry.offset] = release_value(partition, entry.offset, now)
    return expected, states


def _outputs(brokers: Brokers, partition: int, expected: Mapping[int, bytes]) -> Iterator[str]:
    committed = _values(brokers, partition, committed=True)
    everything = _values(brokers, partition, committed=False)
    for offset, value in expected.items():
        times, seen = len(committed[offset]), set(everything[offset])
        if not times:
            yield f"input {partition}:{offset} was lost"
        elif times > 1:
            yield f"input {partition}:{offset} was released {times} times"
        if len(seen) > 1:
            yield f"input {partition}:{offset} has two values in the uncommitted view"
        elif seen and seen != {value}:
            yield f"input {partition}:{offset} became {seen}, the recount says {value!r}"


def _windows(brokers: Brokers, partition: int) -> Iterator[str]:
    """Every event that waited came out once, in a window that says the same of itself in each of its values, whoever
    reads: which events a window held is in its values.
    """
    committed, everything = (_values(brokers, partition, committed=only) for only in (True, False))
    waiting: dict[bytes, list[int]] = {user: [] for user in WINDOWED}
    for entry in brokers.committed((TOPICS.raw, partition)):
        record = entry.record
        if record is not None and record.value is not None and record.key in waiting:
            waiting[record.key].append(entry.offset)
    for user, offsets in waiting.items():
        left = list(offsets)
        while left:
            first = left[0]
            if len(committed[first]) != 1 or len(set(everything[first])) != 1:
                yield f"{user!r} {partition}:{first} was released {len(committed[first])} times, {everything[first]}"
                return
            members = [int(offset) for offset in committed[first][0].split(b":")[2].split(b"-")]
            if members != left[: len(members)] or len(members) > WINDOW:
                yield f"{user!r} {partition}:{first}: the window holds {members}, the events are {left}"
                return
            noise = keyed_noise(partition, first)
            for offset in members:
                if set(everything[offset]) != {window_value(partition, offset, members, noise)}:
                    yield f"{user!r} {partition}:{offset} has another window: {everything[offset]}"
                elif len(committed[offset]) != 1:
                    yield f"{user!r} {partition}:{offset} was released {len(committed[offset])} times"
            left = left[len(members) :]


def _values(brokers: Brokers, partition: int, *, committed: bool) -> defaultdict[int, list[bytes]]:
    """What was written for each input; every value names the offset that it came from."""
    read = brokers.committed if committed else brokers.uncommitted
    found: defaultdict[int, list[bytes]] = defaultdict(list)
    for entry in (*read((TOPICS.released, partition)), *read((TOPICS.dead_letters, partition))):
        value = (entry.record.value if entry.record else None) or b""
        found[int(value.split(b":")[1])].append(value)
    return found


def _beliefs(brokers: Brokers, partition: int, states: Mapping[bytes, Released]) -> Iterator[str]:
    log = brokers.committed((TOPICS.changelog, partition))
    kept = {entry.record.key: entry.record.value or b"" for entry in log if entry.record}
    mark = progress_mark(brokers, partition)
    if mark != brokers.group.get((TOPICS.raw, partition), 0):
        yield f"partition {partition}: the progress mark says {mark}, the group another offset"
    for user, state in states.items():
        step = int.from_bytes(kept.get(b"u" + user, b"")[8 * STEPS : 8 * STEPS + 8], "little")
        if step != state.step:
            yield f"partition {partition}: the changelog has {user!r} at step {step}, not {state.step}"


def _store(partition: int, store: UserStore, states: Mapping[bytes, Released]) -> Iterator[str]:
    """The store may be one commit behind, which it has not taken over yet; what it has must be right."""
    heads = store.load(list(states)).heads.tolist()
    for (user, state), head in zip(states.items(), heads, strict=True):
        if head[STEPS] > state.step or (head[STEPS] == state.step and head[SUM] != state.total):
            yield f"partition {partition}: the store has another state of {user!r}"
