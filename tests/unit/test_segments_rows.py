"""Stored rows of several models side by side: each is, as bytes, what it would be if its model served alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from segment_world import UNLIKE, Line, house_of, mixed, sticky

from stream.state import seal
from stream.stores.disk import DiskStore
from stream.stores.memory import MemoryStore
from stream.stores.rows import SegmentedRows, StateRows


def test_rows_of_unlike_models_are_as_long_as_if_each_served_alone(tmp_path: Path) -> None:
    house, records = house_of(UNLIKE), mixed(200, users=8)
    line = Line(house)
    disk = Line(house, store=lambda codec: DiskStore(tmp_path / "beliefs", codec, b"me"))
    users = sorted({one.key for one in records if one.key is not None})
    for at in range(0, 200, 40):
        line.carry_out(records[at : at + 40])
        disk.carry_out(records[at : at + 40])
    rows = line.rows(users)
    assert rows == disk.rows(users)
    widths = {64 + 4 * promise.width for promise in house.promise().served}
    assert {len(row) for row in rows} == widths and len(widths) == 2
    heads, codes, readable = line.codec.from_rows(rows)
    assert readable.all()
    assert line.codec.to_rows(heads, codes) == rows
    assert codes.shape[1] == max(promise.width for promise in house.promise().served)
    again = MemoryStore(line.codec)
    again.apply(users, heads, codes, 1, {})
    loaded, before = again.load(users), line.store.load(users)
    assert (loaded.heads.tobytes(), loaded.codes.tobytes()) == (before.heads.tobytes(), before.codes.tobytes())
    disk.store.close()


def test_a_row_that_belongs_to_none_of_the_models_is_not_readable() -> None:
    house = house_of(UNLIKE)
    line = Line(house)
    line.carry_out(mixed(60, users=4))
    users = [b"user-0-%d" % user for user in range(4)]
    rows = line.rows(users)
    stranger = Line(house_of((sticky(0.9), sticky(0.3), sticky(0.4))))
    stranger.carry_out(mixed(60, users=4))
    spoiled = [
        stranger.rows(users)[1],
        rows[0][:4] + rows[1][4:8] + rows[0][8:],  # the tag of another model
        rows[1] + bytes(4),
        rows[2][:-4],
        rows[3][:70] + b"\x01" + rows[3][71:],
        b"",
        rows[0],
    ]
    heads, codes, readable = line.codec.from_rows(spoiled)
    assert readable.tolist() == [False] * 6 + [True]
    blank_heads, blank_codes = line.codec.new_users(6)
    assert (heads[:6].tobytes(), codes[:6].tobytes()) == (blank_heads.tobytes(), blank_codes.tobytes())


def test_rows_that_list_entries_and_rows_that_do_not_stand_side_by_side() -> None:
    """A model with a tail over very many values beside one without: rows of versions 4 and 1."""
    codec = SegmentedRows({7: StateRows(6, 7, listed=True), 9: StateRows(5, 9)})
    rows = []
    for tag, listed, width in ((7, True, 6), (9, False, 5), (7, True, 6)):
        heads, codes = StateRows(width, tag, listed=listed).new_users(1)
        codes[0] = np.arange(1, width + 1)
        seal(heads[0], codes[0], 0, tag, listed)
        rows += StateRows(width, tag, listed=listed).to_rows(heads, codes)
    heads, codes, readable = codec.from_rows(rows)
    assert readable.tolist() == [True, True, True]
    assert codes[1].tolist() == [1, 2, 3, 4, 5, 0]
    assert codec.to_rows(heads, codes) == rows
    assert [row[0] for row in rows] == [4, 1, 4]
