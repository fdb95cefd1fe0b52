"""The states of one partition's users on disk: for more users than fit in memory, and for quick restarts.

Everything that one committed transaction changes is one RocksDB batch: users' rows, marks, changelog position. So
after a crash the folder holds the store as of some commit, never between two, and the loader reads only what came
after it. The folder is a copy; what counts is the changelog. A folder that belongs to something else is emptied and
filled again.

Keys: b"u" + user: state row; b"q" + user: a row that could not be read; b"h" + user: what is held about the user,
sealed; b"m" + name: a mark; and b"owner", b"position", b"count" (how many users there are).
"""

import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rocksdict import Options, Rdict, WriteBatch

from stream.errors import StateRefused
from stream.protocol.ports import NOTHING_HELD, Codes, Heads, Loaded, RowCodec

_USER = b"u"
_UNREADABLE = b"q"
_MARK = b"m"
_HELD = b"h"
_OWNER = b"owner"
_POSITION = b"position"
_USERS = b"count"
_PIECE = 10_000
_NUMBER = struct.Struct(">q")


class DiskStore:
    """`owner` names pipeline, topics, partition and row layout; another owner's folder is never read."""

    def __init__(self, folder: Path, codec: RowCodec, owner: bytes) -> None:
        self._codec = codec
        self._owner = owner
        self._db = _open(folder)
        if self._db.get(_OWNER) != owner:
            self.clear()
        self._users = self._number(_USERS)
        self._position = self._number(_POSITION)
        self._marks = dict(self._entries(_MARK))
        self._unreadable = {key for key, _ in self._entries(_UNREADABLE)}

    @property
    def unreadable(self) -> Collection[bytes]:
        return self._unreadable

    def load(self, keys: Sequence[bytes]) -> Loaded:
        rows: list[bytes | None] = self._db.get([_USER + key for key in keys])
        known = np.array([row is not None for row in rows], np.bool_)
        heads, codes = self._codec.new_users(len(keys))
        if known.any():
            heads[known], codes[known], readable = self._codec.from_rows([row for row in rows if row is not None])
            if not readable.all():
                raise StateRefused(
                    "A stored state row cannot be read.",
                    where=f"folder {self._db.path()}",
                    why="its version, length or check is wrong, though it was right when it was written",
                    fix="check the disk, delete the folder and start again: it is filled from the belief changelog",
                )
        return Loaded(heads, codes, known)

    def load_held(self, keys: Sequence[bytes]) -> list[bytes | None]:
        found: list[bytes | None] = self._db.get([_HELD + key for key in keys]) if keys else []
        return found

    def apply(
        self,
        keys: Sequence[bytes],
        heads: Heads,
        codes: Codes,
        position: int,
        marks: Mapping[bytes, bytes],
        held: Mapping[bytes, bytes] = NOTHING_HELD,
    ) -> None:
        batch = WriteBatch(raw_mode=True)
        users = self._users + len(keys) - self._count_known(keys)
        for key, row in zip(keys, self._codec.to_rows(heads, codes), strict=True):
            batch.put(_USER + key, row)
        cured = self._unreadable.intersection(keys)
        for key in cured:
            batch.delete(_UNREADABLE + key)
        for key, record in held.items():
            if record:
                batch.put(_HELD + key, record)
            else:
                batch.delete(_HELD + key)
        for name, value in marks.items():
            batch.put(_MARK + name, value)
        batch.put(_POSITION, _NUMBER.pack(position))
        batch.put(_USERS, _NUMBER.pack(users))
        self._db.write(batch)
        self._users, self._position = users, position
        self._marks.update(marks)
        self._unreadable -= cured

    def quarantine(self, rows: Mapping[bytes, bytes]) -> None:
        batch = WriteBatch(raw_mode=True)
        for key, row in rows.items():
            batch.put(_UNREADABLE + key, row)
        self._forget(batch, rows)
        self._unreadable.update(rows)

    def remove(self, keys: Sequence[bytes]) -> None:
        batch = WriteBatch(raw_mode=True)
        for key in keys:
            batch.delete(_UNREADABLE + key)
            batch.delete(_HELD + key)
        self._forget(batch, keys)
        self._unreadable.difference_update(keys)

    def all_heads(self) -> Iterator[Heads]:
        rows = (row for _, row in self._entries(_USER))
        while piece := list(islice(rows, _PIECE)):
            yield self._codec.from_rows(piece)[0]

    def held(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(self._entries(_HELD))

    def marks(self) -> Mapping[bytes, bytes]:
        return dict(self._marks)

    def position(self) -> int:
        return self._position

    def clear(self) -> None:
        for key in list(self._db.keys()):
            self._db.delete(key)
        self._db.put(_OWNER, self._owner)
        self._users = self._position = 0
        self._marks = {}
        self._unreadable = set()

    def close(self) -> None:
        self._db.close()

    def __len__(self) -> int:
        return self._users

    def _count_known(self, keys: Sequence[bytes]) -> int:
        return sum(row is not None for row in self._db.get([_USER + key for key in keys])) if keys else 0

    def _forget(self, batch: Any, keys: Iterable[bytes]) -> None:
        distinct = list(dict.fromkeys(keys))
        users = self._users - self._count_known(distinct)
        for key in distinct:
            batch.delete(_USER + key)
        batch.put(_USERS, _NUMBER.pack(users))
        self._db.write(batch)
        self._users = users

    def _number(self, name: bytes) -> int:
        raw = self._db.get(name)
        return 0 if raw is None else int(_NUMBER.unpack(raw)[0])

    def _entries(self, prefix: bytes) -> Iterable[tuple[bytes, bytes]]:
        for key, value in self._db.items(from_key=prefix):
            if not key.startswith(prefix):
                return
            yield key[len(prefix) :], value


def _open(folder: Path) -> Any:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_keep_log_file_num(2)
    try:
        return Rdict(str(folder), options=options)
    except Exception as error:  # noqa: BLE001 rocksdict raises nothing narrower
        raise StateRefused(
            "The folder for the beliefs cannot be opened.",
            where=f"folder {folder}",
            why=str(error).split("\n", 1)[0],
            fix="give each worker a state folder and a group_instance of its own; a damaged folder may be deleted, "
            "it is filled again from the belief changelog",
        ) from None
