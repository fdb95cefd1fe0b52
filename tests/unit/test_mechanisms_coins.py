"""Keyed coins: the same for ever, different everywhere else, and exact."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from hypothesis import given
from hypothesis import strategies as st

from beliefs.checks import InvariantBroken
from mechanisms.coins import coins_of, keystream, partition_key, pick
from mechanisms.contract import TOTAL

KEY = bytes(range(32))
TOPIC = bytes(range(16))


def test_known_answer_of_the_cipher() -> None:
    """RFC 8439 section 2.3.2: key 00..1f, nonce 00 00 00 09 00 00 00 4a 00 00 00 00, counter 1."""
    nonce = struct.pack("<I", 1) + bytes.fromhex("000000090000004a00000000")
    block = Cipher(algorithms.ChaCha20(KEY, nonce), mode=None).encryptor().update(bytes(64))
    assert block.hex().startswith("10f1e7e4d13b5915500fdd1fa32071c4")


def test_known_answer_of_the_coins() -> None:
    key = partition_key(KEY, "phones", TOPIC, 3)
    assert key.hex() == "fdf4db4d9321bf668554fb1deace3094bf8a7c79c96c8dc5143e1a058c0fb6d1"
    assert keystream(key, 0, 1)[0, 0] == 0xC91F0D8D24F6E8E
    assert keystream(key, 12345678901, 1)[0, 7] == 0x3206F58F08E3C79D


@given(st.integers(0, 2**40), st.integers(1, 50), st.integers(0, 49))
def test_an_offset_has_the_same_coins_in_every_block(first: int, count: int, inside: int) -> None:
    inside = min(inside, count - 1)
    assert keystream(KEY, first, count)[inside].tolist() == keystream(KEY, first + inside, 1)[0].tolist()


def test_blocks_may_cross_the_counter_of_the_cipher() -> None:
    edge = 1 << 32
    whole = keystream(KEY, edge - 2, 4)
    alone = [keystream(KEY, edge - 2 + i, 1)[0].tolist() for i in range(4)]
    assert whole.tolist() == alone
    assert len({tuple(words) for words in alone}) == 4
    assert keystream(KEY, 0, 1).tolist() != keystream(KEY, edge, 1).tolist()


@given(st.lists(st.integers(0, 2**34), min_size=1, max_size=40, unique=True))
def test_gaps_between_offsets_change_nothing(offsets: list[int]) -> None:
    ascending = np.array(sorted(offsets), dtype=np.int64)
    expected = [keystream(KEY, int(offset), 1)[0].tolist() for offset in ascending]
    assert coins_of(KEY, ascending).tolist() == expected


def test_no_offsets_need_no_coins() -> None:
    assert coins_of(KEY, np.zeros(0, dtype=np.int64)).shape == (0, 8)


def test_every_part_of_the_name_changes_the_key() -> None:
    names = [
        partition_key(KEY, "phones", TOPIC, 0),
        partition_key(KEY, "phones", TOPIC, 1),
        partition_key(KEY, "phone", TOPIC, 0),
        partition_key(KEY, "phones", TOPIC[::-1], 0),
        partition_key(KEY[::-1], "phones", TOPIC, 0),
    ]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("key", "topic"), [(KEY[:31], TOPIC), (KEY, TOPIC[:15]), (b"", TOPIC)])
def test_a_short_key_or_topic_id_is_a_fault(key: bytes, topic: bytes) -> None:
    with pytest.raises(InvariantBroken):
        partition_key(key, "phones", topic, 0)


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=8), st.integers(0, 2**64 - 1))
def test_a_pick_finds_the_interval_of_the_coin(parts: list[int], coin: int) -> None:
    weights = np.array([*parts, TOTAL - sum(parts)], dtype=np.int64)
    chosen = pick(weights, len(weights), np.uint64(coin))
    before = int(weights[:chosen].sum())
    assert before <= coin >> 2 < before + int(weights[chosen])


def test_a_pick_uses_every_point_of_an_interval() -> None:
    weights = np.array([1, TOTAL - 2, 1], dtype=np.int64)
    assert pick(weights, 3, np.uint64(0b11)) == 0
    assert pick(weights, 3, np.uint64(0b100)) == 1
    assert pick(weights, 3, np.uint64((TOTAL - 1) << 2)) == 2
    assert pick(weights, 3, np.uint64(((TOTAL - 1) << 2) - 1)) == 1
