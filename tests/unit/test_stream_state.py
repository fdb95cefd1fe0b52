"""The bytes of a user: layout, precision, and what is refused."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream import state

MASSES = st.floats(min_value=2.0**-126, max_value=1.0)
FIXTURES = Path(__file__).parent.parent / "vectors" / "state"


def encode(values: list[float]) -> tuple[list[int], bool]:
    belief = np.array(values)
    codes = np.zeros(len(values), dtype=np.uint32)
    exact = state.encode_belief(belief, belief.view(np.int64), codes)
    return codes.tolist(), exact


def decode(codes: list[int]) -> list[float]:
    belief = np.zeros(len(codes))
    state.decode_belief(np.array(codes, dtype=np.uint32), belief.view(np.int64))
    return belief.tolist()


def sealed(symbols: int, seed: int, tag: int) -> tuple[state.Integers, state.Codes]:
    source = np.random.default_rng(seed)
    heads = source.integers(-(2**62), 2**62, size=(3, state.HEAD_WORDS))
    codes = source.integers(0, 2**32, size=(3, symbols), dtype=np.uint32)
    for head, code in zip(heads, codes, strict=True):
        state.seal(head, code, state.STOPPED, tag)
    return heads, codes


@given(st.lists(MASSES, min_size=1, max_size=20))
def test_a_code_moves_a_mass_by_at_most_two_to_the_minus_26(values: list[float]) -> None:
    codes, exact = encode(values)
    assert exact
    for value, got in zip(values, decode(codes), strict=True):
        assert abs(got - value) <= 2.0**-26 * value


@given(MASSES)
def test_encoding_again_changes_nothing(value: float) -> None:
    codes, _ = encode([value])
    assert encode(decode(codes))[0] == codes


@given(st.lists(MASSES, min_size=2, max_size=2))
def test_the_order_of_masses_survives(values: list[float]) -> None:
    codes, _ = encode(sorted(values))
    assert codes == sorted(codes)


def test_the_ends_of_the_range() -> None:
    assert encode([0.0, 1.0, 2.0**-126]) == ([0, 127 << 25, 1 << 25], True)
    assert decode([0, 127 << 25, 1 << 25]) == [0.0, 1.0, 2.0**-126]


def test_a_mass_that_is_too_small_is_kept_possible_and_told() -> None:
    codes, exact = encode([1.0, 1e-300])
    assert not exact
    assert decode(codes) == [1.0, 2.0**-126]


@pytest.mark.parametrize("symbols", [1, 2, 10, 101])
def test_a_row_has_64_bytes_and_4_for_each_symbol_and_comes_back(symbols: int) -> None:
    heads, codes = sealed(symbols, 7, 0xFEDCBA98)
    rows = state.to_rows(heads, codes)
    assert [len(row) for row in rows] == [state.row_bytes(symbols)] * 3 == [64 + 4 * symbols] * 3
    back_heads, back_codes, verdicts = state.from_rows(rows, symbols, 0xFEDCBA98)
    assert verdicts.tolist() == [0, 0, 0]
    assert (back_heads == heads).all() and (back_codes == codes).all()


def test_the_layout_is_the_documented_one() -> None:
    heads, codes = sealed(2, 7, 0x01020304)
    row = state.to_rows(heads, codes)[0]
    version, flags, _, tag, watermark = struct.unpack_from("<BBHIq", row)
    assert (version, flags, tag, watermark) == (1, 1, 0x01020304, int(heads[0, state.Word.WATERMARK]))
    assert struct.unpack_from("<6q", row, 8)[5] == heads[0, state.Word.STEPS]
    window, drift = struct.unpack_from("<II", row, 56)
    assert drift << 32 | window == int(heads[0, state.Word.WINDOW_AND_DRIFT]) & 0xFFFFFFFFFFFFFFFF
    assert struct.unpack_from("<2I", row, 64) == tuple(codes[0].tolist())


def check_by_hand(row: bytes) -> int:
    value = 2166136261
    for i, (word,) in enumerate(struct.iter_unpack("<I", row)):
        value = ((value ^ (word & 0xFFFF if i == 0 else word)) * 16777619) & 0xFFFFFFFF
    return (value >> 16) ^ (value & 0xFFFF)


def test_the_check_is_the_documented_one() -> None:
    heads, codes = sealed(5, 3, 9)
    row = state.to_rows(heads, codes)[0]
    assert struct.unpack_from("<H", row, 2)[0] == check_by_hand(row)


@given(st.integers(0, 64 + 4 * 3 - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused(position: int, change: int) -> None:
    heads, codes = sealed(3, 5, 77)
    rows = state.to_rows(heads, codes)
    damaged = bytearray(rows[1])
    damaged[position] ^= change
    back_heads, back_codes, verdicts = state.from_rows([rows[0], bytes(damaged), rows[2]], 3, 77)
    assert verdicts[0] == verdicts[2] == state.Unreadable.FINE
    assert verdicts[1] != state.Unreadable.FINE
    assert not back_heads[1].any() and not back_codes[1].any()


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (b"", state.Unreadable.VERSION),
        (b"\x01", state.Unreadable.LENGTH),
        (b"\x01" + bytes(200), state.Unreadable.LENGTH),
        (b"\x02" + bytes(75), state.Unreadable.VERSION),
        (b"\x02" + bytes(300), state.Unreadable.VERSION),
        (bytes(76), state.Unreadable.VERSION),
        (b"\x01" + bytes(75), state.Unreadable.CHECK),
    ],
)
def test_what_cannot_be_read_is_told_apart(row: bytes, verdict: state.Unreadable) -> None:
    assert state.from_rows([row], 3, 77)[2].tolist() == [verdict]


def test_the_layout_by_the_clock_has_one_word_more() -> None:
    heads, codes = state.new_users(1, 2, state.CLOCK_HEAD_WORDS)
    heads[0, state.Word.CLOCK] = 28_000_123
    state.seal(heads[0], codes[0], 0, 77)
    (row,) = state.to_rows(heads, codes)
    assert len(row) == state.row_bytes(2, state.CLOCK_HEAD_WORDS) == 72 + 8
    assert row[0] == state.CLOCK_VERSION == 3
    assert struct.unpack_from("<q", row, 64) == (28_000_123,)
    assert struct.unpack_from("<H", row, 2)[0] == check_by_hand(row)
    back_heads, back_codes, verdicts = state.from_rows([row], 2, 77, state.CLOCK_HEAD_WORDS)
    assert verdicts.tolist() == [state.Unreadable.FINE]
    assert (back_heads == heads).all() and (back_codes == codes).all()


def test_rows_of_the_two_layouts_are_told_apart_even_at_one_length() -> None:
    """72 bytes of codes and head: two states by the clock are as long as four without one."""
    plain, codes = state.new_users(1, 4)
    state.seal(plain[0], codes[0], 0, 77)
    clock, few = state.new_users(1, 2, state.CLOCK_HEAD_WORDS)
    state.seal(clock[0], few[0], 0, 77)
    (one,), (other,) = state.to_rows(plain, codes), state.to_rows(clock, few)
    assert len(one) == len(other)
    assert state.from_rows([other], 4, 77)[2].tolist() == [state.Unreadable.VERSION]
    assert state.from_rows([one], 2, 77, state.CLOCK_HEAD_WORDS)[2].tolist() == [state.Unreadable.VERSION]


def test_another_models_row_is_refused() -> None:
    heads, codes = sealed(3, 5, 77)
    assert state.from_rows(state.to_rows(heads, codes), 3, 78)[2].tolist() == [state.Unreadable.MODEL] * 3


def test_version_1_keeps_its_bytes() -> None:
    """The vector of this version: whoever changes the layout makes a new version and a vector for it."""
    row = bytes.fromhex((FIXTURES / "version-1.hex").read_text())
    heads, codes, verdicts = state.from_rows([row], 3, 0xA1B2C3D4)
    assert verdicts.tolist() == [state.Unreadable.FINE]
    assert heads[0, 1:].tolist() == [4_000_000_123, 1 << 41, 3 << 40, 1 << 40, 1 << 39, 17, (129 << 32) | 19_700]
    assert decode(codes[0].tolist()) == [0.5, 0.375, 0.125]
    assert state.is_stopped(heads).tolist() == [False]
    assert state.drift_of(heads).tolist() == [129]
    assert state.to_rows(heads, codes) == [row]


def test_version_3_keeps_its_bytes() -> None:
    row = bytes.fromhex((FIXTURES / "version-3.hex").read_text())
    assert len(row) == 72 + 12
    heads, codes, verdicts = state.from_rows([row], 3, 0xA1B2C3D4, state.CLOCK_HEAD_WORDS)
    assert verdicts.tolist() == [state.Unreadable.FINE]
    drift_and_window, clock = (129 << 32) | 19_700, 2_836_817
    assert heads[0, 1:].tolist() == [4_000_000_123, 1 << 41, 3 << 40, 1 << 40, 1 << 39, 17, drift_and_window, clock]
    assert decode(codes[0].tolist()) == [0.5, 0.375, 0.125]
    assert state.drift_of(heads).tolist() == [129]
    assert state.to_rows(heads, codes) == [row]


def test_a_new_user_has_no_offset_and_no_step() -> None:
    heads, codes = state.new_users(2, 4)
    assert heads[:, state.Word.WATERMARK].tolist() == [-1, -1]
    assert heads[:, state.Word.STEPS].tolist() == [0, 0]
    assert codes.shape == (2, 4)
