"""What must hold at the end of a simulated run, against a recount that shares no code with the protocol."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from sim_brokers import Brokers
from sim_pipeline import STEPS, SUM, Released, dead_letter_value, follow, keyed_noise, release_value
from sim_ports import TOPICS

from stream.protocol.control import PROGRESS_KEY, decode_progress
from stream.protocol.ports import UserStore


def violations(brokers: Brokers, partitions: int, stores: Mapping[int, UserStore]) -> Iterator[str]:
    for partition in range(partitions):
        expected, states = recount(brokers, partition)
        yield from _outputs(brokers, partition, expected)
        yield from _beliefs(brokers, partition, states)
        if partition in stores:
            yield from _store(partition, stores[partition], states)


def progress_mark(brokers: Brokers, partition: int) -> int:
    log = brokers.committed((TOPICS.changelog, partition))
    marks = [entry.record.value for entry in log if entry.record and entry.record.key == PROGRESS_KEY]
    return decode_progress(marks[-1] or b"", "") if marks else 0


def recount(brokers: Brokers, partition: int) -> tuple[dict[int, bytes], dict[bytes, Released]]:
    """What each input must have become, and how each user must stand."""
    expected: dict[int, bytes] = {}
    states: dict[bytes, Released] = {}
    for entry in brokers.committed((TOPICS.raw, partition)):
        record = entry.record
        if record is None:
            continue
        if record.value is None or record.key is None:
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
