"""One block, one transaction. Nothing is ever repeated in place: a transaction that fails ends this worker.

A repeated transaction would need the coins, the states and the offset to be those of the first attempt, and whether
the first attempt committed is not always known. A fresh worker fences, reads what did commit, and starts from there.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from stream.errors import Fenced, PublishFailed
from stream.protocol.effects import Effects
from stream.protocol.ports import Producer

# How long an abort may take before it is left to the next owner of the partition, whose start ends the transaction
# anyway.
ABORT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Topics:
    raw: str
    released: str
    dead_letters: str
    changelog: str


async def publish(producer: Producer, topics: Topics, effects: Effects, limit_seconds: float) -> Mapping[str, int]:
    """Commit one block; answers, for each topic, the offset after its last record. Any failure has aborted."""
    try:
        async with asyncio.timeout(limit_seconds):
            return await _transact(producer, topics, effects)
    except Fenced:
        raise  # the transaction is no longer ours to end
    except TimeoutError as late:
        failure = PublishFailed(
            "A transaction did not commit in time.",
            where=f"topic {topics.released}",
            why=f"the brokers did not carry it out within {limit_seconds:g} s",
            fix="nothing to do if the brokers were away; the worker is started anew and repeats the block",
        )
        await _abort(producer, failure)
        raise failure from late
    except (Exception, asyncio.CancelledError) as failure:
        await _abort(producer, failure)
        raise


async def _transact(producer: Producer, topics: Topics, effects: Effects) -> Mapping[str, int]:
    await producer.begin()
    if effects.releases:
        await producer.send(topics.released, effects.releases)
    if effects.dead_letters:
        await producer.send(topics.dead_letters, effects.dead_letters)
    if effects.changelog:
        await producer.send(topics.changelog, effects.changelog)
    await producer.send_offset(effects.next_offset)
    return await producer.commit()


async def _abort(producer: Producer, failure: BaseException) -> None:
    try:
        async with asyncio.timeout(ABORT_SECONDS):
            await producer.abort()
    except (PublishFailed, TimeoutError) as second:
        failure.add_note(f"the abort failed as well ({second}); the partition's next owner ends the transaction")
