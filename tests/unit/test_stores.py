"""Every store keeps the same promises: what it is told in one commit it knows whole, and afterwards nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from stream.errors import StateRefused
from stream.protocol.ports import Codes, Heads, UserStore
from stream.state import Word, new_users, seal, to_rows
from stream.stores.disk import DiskStore
from stream.stores.memory import MemoryStore
from stream.stores.rows import StateRows

SYMBOLS, TAG = 3, 0x1234
CODEC = StateRows(SYMBOLS, TAG)
NewStore = Callable[[], UserStore]


def users(*steps: int) -> tuple[Heads, Codes]:
    """Rows of users with these many steps, sealed as the pipeline seals them."""
    heads, codes = new_users(len(steps), SYMBOLS)
    heads[:, Word.STEPS] = steps
    heads[:, Word.WATERMARK] = [10 * step for step in steps]
    codes[:] = np.arange(SYMBOLS, dtype=np.uint32) + 7
    for head, code in zip(heads, codes, strict=True):
        seal(head, code, 0, TAG)
    return heads, codes


@pytest.fixture(params=["memory", "disk"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewStore]:
    made: list[UserStore] = []

    def make() -> UserStore:
        if request.param == "memory":
            made.append(MemoryStore(CODEC))
        else:
            made.append(DiskStore(tmp_path / f"store-{len(made)}", CODEC, b"owner"))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def store(new_store: NewStore) -> UserStore:
    return new_store()


def steps_of(store: UserStore, *keys: bytes) -> list[int]:
    steps: list[int] = store.load(keys).heads[:, Word.STEPS].tolist()
    return steps


def test_a_new_store_knows_nobody(store: UserStore) -> None:
    heads, codes, known = store.load([b"ann", b"bob"])
    assert not known.any()
    assert heads[:, Word.WATERMARK].tolist() == [-1, -1]
    assert codes.shape == (2, SYMBOLS)
    assert len(store) == 0
    assert store.position() == 0
    assert store.marks() == {}


def test_what_was_applied_is_loaded_in_the_order_asked(store: UserStore) -> None:
    heads, codes = users(1, 2, 3)
    store.apply([b"ann", b"bob", b"cy"], heads, codes, 9, {b"o": b"x"})
    loaded = store.load([b"cy", b"new", b"ann"])
    assert loaded.known.tolist() == [True, False, True]
    assert loaded.heads[:, Word.STEPS].tolist() == [3, 0, 1]
    assert loaded.codes[0].tolist() == codes[2].tolist()
    assert len(store) == 3
    assert store.position() == 9
    assert store.marks() == {b"o": b"x"}


def test_the_last_commit_counts_and_marks_of_others_stay(store: UserStore) -> None:
    store.apply([b"ann"], *users(1), 5, {b"c": b"control", b"o": b"1"})
    store.apply([b"ann"], *users(4), 8, {b"o": b"2"})
    assert steps_of(store, b"ann") == [4]
    assert len(store) == 1
    assert store.marks() == {b"c": b"control", b"o": b"2"}


def test_copies_go_out_and_copies_come_in(store: UserStore) -> None:
    heads, codes = users(1)
    store.apply([b"ann"], heads, codes, 1, {})
    heads[0, Word.STEPS] = 99
    store.load([b"ann"]).heads[0, Word.STEPS] = 99
    assert steps_of(store, b"ann") == [1]


def test_removed_users_are_new_again_and_their_room_is_used(store: UserStore) -> None:
    store.apply([b"ann", b"bob"], *users(1, 2), 1, {})
    store.remove([b"ann", b"nobody"])
    assert len(store) == 1
    assert steps_of(store, b"ann", b"bob") == [0, 2]
    store.apply([b"cy", b"dee"], *users(3, 4), 2, {})
    assert steps_of(store, b"ann", b"bob", b"cy", b"dee") == [0, 2, 3, 4]
    assert len(store) == 3


def test_an_unreadable_user_is_set_aside_until_a_readable_row_comes(store: UserStore) -> None:
    store.apply([b"ann", b"bob"], *users(1, 2), 1, {})
    store.quarantine({b"ann": b"garbage"})
    assert list(store.unreadable) == [b"ann"]
    assert len(store) == 1
    assert steps_of(store, b"ann") == [0]
    store.apply([b"ann"], *users(6), 2, {})
    assert list(store.unreadable) == []
    assert steps_of(store, b"ann") == [6]


def test_a_removed_user_is_not_unreadable_any_more(store: UserStore) -> None:
    store.quarantine({b"ann": b"garbage"})
    store.remove([b"ann"])
    assert list(store.unreadable) == []


def test_clear_forgets_everything(store: UserStore) -> None:
    store.apply([b"ann"], *users(1), 5, {b"o": b"1"})
    store.quarantine({b"bob": b"garbage"})
    store.clear()
    assert (len(store), store.position(), store.marks(), list(store.unreadable)) == (0, 0, {}, [])
    assert steps_of(store, b"ann") == [0]


def test_many_users_in_blocks_of_any_size(store: UserStore) -> None:
    """Against a plain dict, through several doublings of the arrays."""
    random = np.random.default_rng(5)
    expected: dict[bytes, int] = {}
    for position in range(1, 40):
        chosen = random.choice(6_000, size=int(random.integers(0, 400)), replace=False)
        keys = [b"user-%d" % user for user in chosen.tolist()]
        store.apply(keys, *users(*[position] * len(keys)), position, {})
        expected.update(dict.fromkeys(keys, position))
        assert len(store) == len(expected)
    asked = [b"user-%d" % user for user in range(6_000)]
    assert steps_of(store, *asked) == [expected.get(key, 0) for key in asked]
    pieces = np.concatenate([piece[:, Word.STEPS] for piece in store.all_heads()])
    assert sorted(pieces.tolist()) == sorted(expected.values())


def test_an_empty_commit_moves_the_position(store: UserStore) -> None:
    store.apply([], *users(), 17, {})
    assert store.position() == 17
    assert store.load([]).known.tolist() == []


def disk(folder: Path, owner: bytes = b"owner") -> DiskStore:
    return DiskStore(folder, CODEC, owner)


def test_a_disk_store_is_there_again(tmp_path: Path) -> None:
    first = disk(tmp_path)
    first.apply([b"ann", b"bob"], *users(1, 2), 33, {b"o": b"9"})
    first.quarantine({b"cy": b"garbage"})
    first.close()
    again = disk(tmp_path)
    assert steps_of(again, b"bob", b"ann") == [2, 1]
    assert (len(again), again.position(), again.marks(), list(again.unreadable)) == (2, 33, {b"o": b"9"}, [b"cy"])
    again.close()


def test_a_disk_store_of_another_owner_is_emptied(tmp_path: Path) -> None:
    first = disk(tmp_path)
    first.apply([b"ann"], *users(1), 33, {b"o": b"9"})
    first.close()
    other = disk(tmp_path, b"another pipeline")
    assert (len(other), other.position(), other.marks()) == (0, 0, {})
    assert steps_of(other, b"ann") == [0]
    other.close()


def test_a_disk_store_is_opened_by_one_process_at_a_time(tmp_path: Path) -> None:
    first = disk(tmp_path)
    with pytest.raises(StateRefused, match="cannot be opened"):
        disk(tmp_path)
    first.close()
    disk(tmp_path).close()


def test_a_damaged_row_on_disk_stops_the_worker(tmp_path: Path) -> None:
    store = disk(tmp_path)
    heads, codes = users(1)
    store.apply([b"ann"], heads, codes, 1, {})
    row = bytearray(to_rows(heads, codes)[0])
    row[50] ^= 1
    store._db.put(b"uann", bytes(row))
    with pytest.raises(StateRefused, match="cannot be read"):
        store.load([b"ann"])
    store.close()


def test_nobody_else_may_look_into_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "beliefs" / "partition-0"
    disk(folder).close()
    assert folder.stat().st_mode & 0o077 == 0
