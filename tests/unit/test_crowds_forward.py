"""The first stage of flows: each event becomes one tuple, sealed, of one length; what cannot be read is a letter."""

from __future__ import annotations

import struct
from random import Random

import pytest
from aggregate_lives import RING, START, TOPIC_ID, Life, Raw
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from flow_lives import Sent, cells_of, flow_promise, forward_of, forwarded, random_events, raw_block
from hypothesis import given
from hypothesis import strategies as st

from stream.crowds.tuples import Opener, readable_head, tuple_bytes
from stream.gathering.sealed import Unsealable
from stream.keys import Pseudonyms, derived_key
from stream.names import DEAD_LETTERED, TAKEN
from stream.protocol.inputs import InputBlock

ANN = Sent(b"ann", START + 5, 7.3, "clerk", "cold")


def test_a_tuple_is_laid_out_as_it_is_documented() -> None:
    """Opened by hand, with nothing of the stages but the names of keys."""
    (value,) = forwarded(flow_promise(), [ANN], partition=3)
    head, body = value[:18], value[18:]
    assert struct.unpack("<BBIIq", head) == (1, 0, 3, 1, 0)
    key = derived_key(RING.current.secret, "forwarded", f"walkers {TOPIC_ID.hex()} 3")
    plain = ChaCha20Poly1305(key).decrypt(struct.pack(">qI", 0, 0), body, head)
    tag = bytes.fromhex(Pseudonyms(RING, "walkers").of(b"ann").decode())
    assert struct.unpack("<16sqIII", plain) == (tag, START + 5, 15, 2, 1)
    assert len(value) == tuple_bytes(2)


def test_without_a_sensitive_value_its_place_is_empty() -> None:
    promise = flow_promise(more="")
    (value,) = forwarded(promise, [ANN])
    assert Opener(RING, "walkers", TOPIC_ID, [0], [41, 5], 0).open(value).event.sensitive == 0
    assert len(value) == tuple_bytes(2)


@given(st.integers(0, 2**32))
def test_every_event_is_passed_on_once_whatever_the_blocks(seed: int) -> None:
    chance, promise = Random(seed), flow_promise()
    sent = random_events(chance, 30)
    whole, cut, first = forwarded(promise, sent), list[bytes](), 0
    while first < len(sent):
        size = chance.choice((1, 2, 9))
        life = Life(forward_of(promise))  # each block by a worker that has seen nothing before
        life.carry_out(raw_block(sent[first : first + size], first))
        cut += [record.value or b"" for record in life.released]
        first += size
    assert cut == whole
    opener = Opener(RING, "walkers", TOPIC_ID, [0], [41, 5], 3)
    for offset, (value, each) in enumerate(zip(whole, sent, strict=True)):
        head, event = opener.open(value)
        assert (head.offset, event.time, event.cells) == (offset, each.time, cells_of(each))
        assert ("flu", "cold", "none")[event.sensitive] == each.ill
    assert len({len(value) for value in whole}) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "not_json"),
        (None, "tombstone"),
        (ANN._replace(job="king").text, "outside_alphabet"),
        (ANN._replace(ill="").text, "outside_alphabet"),
        (ANN.text.replace(b'"age": 7.3', b'"age": "7"'), "field_type"),
        (ANN.text.replace(b'"age"', b'"years"'), "field_missing"),
    ],
)
def test_what_cannot_be_read_is_a_dead_letter(text: bytes | None, reason: str) -> None:
    life = Life(forward_of(flow_promise(), 2))
    life.carry_out(InputBlock.of([Raw(6, START, b"ann", ANN.text), Raw(7, START, b"ann", text)]))
    assert life.outcomes() == {TAKEN: 1, "repeated": 0, "replayed": 0, DEAD_LETTERED: 1}
    (letter,) = life.dead_letters
    assert (letter["reason"], letter["topic"], letter["partition"], letter["offset"]) == (reason, "walkers.raw", 2, 7)
    assert len(life.released) == 1
    assert life.effects[0].next_offset == 8
    assert life.effects[0].reasons == {reason: 1}


def test_a_block_of_bad_records_alone_passes_nothing_on() -> None:
    life = Life(forward_of(flow_promise()))
    effects = life.carry_out(InputBlock.of([Raw(0, -1, None, ANN.text), Raw(1, START, b"ann", b"[]")]))
    assert list(effects.releases) == []
    assert len(effects.dead_letters) == 2
    assert effects.held == effects.marks == {}


def test_a_seal_is_of_its_record_partition_and_pipeline() -> None:
    promise, opener = flow_promise(), Opener(RING, "walkers", TOPIC_ID, [0], [41, 5], 3)
    first, second = forwarded(promise, [ANN, ANN])
    assert first[18:] != second[18:]
    assert opener.open(first).event == opener.open(second).event
    for strange in (
        second[:18] + first[18:],
        forwarded(promise, [ANN], partition=1)[0],
        first[:1] + b"\1" + first[2:],
        b"\2" + first[1:],
        first[:33],
        None,
    ):
        with pytest.raises(Unsealable):
            opener.open(strange)
    for other in (
        Opener(RING, "runners", TOPIC_ID, [0], [41, 5], 3),
        Opener(RING, "walkers", bytes(16), [0], [41, 5], 3),
        Opener(RING, "walkers", TOPIC_ID, [1, 2], [41, 5], 3),
        Opener(RING, "walkers", TOPIC_ID, [0], [41, 5, 9], 3),
        Opener(RING, "walkers", TOPIC_ID, [0], [15, 5], 3),
        Opener(RING, "walkers", TOPIC_ID, [0], [41, 5], 1),
    ):
        with pytest.raises(Unsealable):
            other.open(first)
    assert readable_head(first) is not None
