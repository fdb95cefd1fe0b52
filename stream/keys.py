"""The key ring: the secret that noise and pseudonyms come from. Whoever has it can undo both.

    {"format": "sottovoce-keys", "version": 1, "current": 2,
     "epochs": [{"epoch": 1, "key": "<64 hexadecimal digits>", "made": "2026-01-31T08:00:00Z"},
                {"epoch": 2, "key": "<64 hexadecimal digits>", "made": "2026-07-31T08:00:00Z"}]}

A key is 32 bytes. Epochs are added, never changed: an old epoch's key is needed to repeat a block that it began. New
blocks use the current epoch. Pseudonyms come from the FIRST epoch for ever: a pseudonym that changed would be a new
user with an untouched budget. No key is ever part of a `repr`, an error or a log.
"""

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from stream.errors import KeyRefused
from stream.names import PURPOSE_PSEUDONYM
from stream.settings.model import KeysSettings

FORMAT: Final = "sottovoce-keys"
VERSION: Final = 1
KEY_BYTES: Final = 32
PSEUDONYM_BYTES: Final = 16

_FINGERPRINT_LABEL: Final = b"sottovoce key fingerprint"
_LARGEST_FILE: Final = 1 << 20
LARGEST_EPOCH: Final = 2**31 - 1
_OTHERS: Final = 0o077
_REMEMBERED_USERS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Epoch:
    """One key of the ring."""

    number: int
    made: str
    secret: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that tell keys apart and tell nothing about the key."""
        return hashlib.sha256(_FINGERPRINT_LABEL + self.secret).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys of a pipeline, oldest first."""

    epochs: tuple[Epoch, ...]
    current: Epoch

    def epoch(self, number: int) -> Epoch:
        """The epoch of this number, which some block was begun with."""
        for epoch in self.epochs:
            if epoch.number == number:
                return epoch
        fix = "put the epoch back into the ring; epochs are added, never removed"
        raise KeyRefused(f"The key ring has no epoch {number}.", "keys", "a block was begun with its key", fix)

    @property
    def first(self) -> Epoch:
        return self.epochs[0]

    def __repr__(self) -> str:
        return f"KeyRing(epochs={[epoch.number for epoch in self.epochs]}, current={self.current.number})"


class Pseudonyms:
    """Keyed pseudonyms of users: 32 hexadecimal digits, the same for a user as long as the ring's first epoch stays.

    HMAC-SHA256, cut to 16 bytes: two of a million users share one with a probability of 1.5e-27. The pipeline's name is
    in the key, so that two pipelines with one ring cannot be joined by their pseudonyms.
    """

    def __init__(self, ring: KeyRing, pipeline: str) -> None:
        self._key = derived_key(ring.first.secret, PURPOSE_PSEUDONYM, pipeline)
        self._known: OrderedDict[bytes, bytes] = OrderedDict()

    def of(self, user: bytes) -> bytes:
        known = self._known.get(user)
        if known is not None:
            return known
        pseudonym = hmac.digest(self._key, user, "sha256")[:PSEUDONYM_BYTES].hex().encode()
        self._known[user] = pseudonym
        if len(self._known) > _REMEMBERED_USERS:
            self._known.popitem(last=False)
        return pseudonym


def derived_key(secret: bytes, purpose: str, name: str) -> bytes:
    """A key for one purpose; neither the secret nor a key for another purpose can be found from it."""
    info = b"\0".join([b"sottovoce", purpose.encode(), name.encode()])  # names hold no zero byte
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(secret)


def load_keys(settings: KeysSettings, environment: Mapping[str, str]) -> KeyRing:
    """The key ring that the settings name, from a file that is open to nobody else or from an environment variable."""
    if settings.file is not None:
        return parse_keys(_read_private(Path(settings.file)), settings.file)
    name = settings.environment or ""
    if not environment.get(name):
        fix = f"put the content of a key ring file into {name}, or use keys.file"
        raise KeyRefused("There is no key ring.", f"environment variable {name}", "it is not set, or empty", fix)
    return parse_keys(environment[name].encode(), f"environment variable {name}")


def _read_private(path: Path) -> bytes:
    """The bytes of a file that its owner alone can read. What is checked is the opened file, not the name of it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        fix = f"make a key ring with `sottovoce keys new {path}`, or correct keys.file"
        raise KeyRefused("The key ring cannot be read.", str(path), error.strerror or "unknown", fix) from None
    try:
        _require_private(os.fstat(descriptor), path)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(_LARGEST_FILE)
    finally:
        os.close(descriptor)


def _require_private(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise KeyRefused("The key ring is no file.", str(path), "it is a folder or a device", "name a file")
    if status.st_mode & _OTHERS:
        mode = stat.S_IMODE(status.st_mode)
        why = f"its mode is {mode:04o}, so others than its owner may read or change it"
        fix = f"chmod 600 {path}; and if others may have read it, make a new ring"
        raise KeyRefused("The key ring is open to others.", str(path), why, fix)
    if status.st_uid not in (0, os.geteuid()):
        why = "it belongs to another user, who can read it"
        raise KeyRefused("The key ring is somebody else's.", str(path), why, "copy it as the user who runs Sottovoce")


def parse_keys(data: bytes, where: str) -> KeyRing:
    """The key ring in this text."""
    document = _document(data, where)
    epochs = document.get("epochs")
    if not isinstance(epochs, list) or not epochs:
        raise _refused(where, "epochs is no list with at least one epoch")
    found = sorted((_epoch(item, index, where) for index, item in enumerate(epochs)), key=lambda epoch: epoch.number)
    if len({epoch.number for epoch in found}) != len(found):
        raise _refused(where, "two epochs have the same number")
    if len({epoch.secret for epoch in found}) != len(found):
        raise _refused(where, "two epochs have the same key")
    current = [epoch for epoch in found if epoch.number == document.get("current")]
    if not current or type(document.get("current")) is not int:
        raise _refused(where, "current is not the number of one of its epochs")
    return KeyRing(tuple(found), current[0])


def _document(data: bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=_members)
    except (ValueError, RecursionError):
        raise _refused(where, "it is not JSON, or repeats a name") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _refused(where, f'it is not an object with "format": "{FORMAT}"')
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise _refused(where, f"its version is not {VERSION}")
    if set(document) - {"format", "version", "current", "epochs"}:
        raise _refused(where, "it has names that no key ring has")
    return document


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("repeated name")
    return members


def _epoch(item: Any, index: int, where: str) -> Epoch:
    place = f"epochs[{index}]"
    if not isinstance(item, dict) or set(item) - {"epoch", "key", "made"}:
        raise _refused(where, f"{place} is no object with epoch, key and made alone")
    number = item.get("epoch")
    if type(number) is not int or not 1 <= number <= LARGEST_EPOCH:
        raise _refused(where, f"{place}.epoch is no whole number from 1 on")
    made = item.get("made", "")
    if not isinstance(made, str):
        raise _refused(where, f"{place}.made is no text")
    return Epoch(number, made, _secret(item.get("key"), f"{place}.key", where))


def _secret(text: Any, place: str, where: str) -> bytes:
    if text is None:
        raise _refused(where, f"{place} is missing")
    if not isinstance(text, str) or set(text) - set("0123456789abcdefABCDEF"):
        raise _refused(where, f"{place} is no text of hexadecimal digits")
    if len(text) != 2 * KEY_BYTES:
        raise _refused(where, f"{place} has {len(text)} hexadecimal digits, and a key has {2 * KEY_BYTES}")
    secret = bytes.fromhex(text)
    if len(set(secret)) == 1:
        raise _refused(where, f"{place} is one byte repeated, which is no secret")
    return secret


def _refused(where: str, why: str) -> KeyRefused:
    return KeyRefused("The key ring cannot be used.", where, why, "make one with `sottovoce keys new FILE`")


def new_ring(path: Path, made: datetime | None = None) -> KeyRing:
    """Write a ring with one fresh epoch into a file that must not exist yet."""
    return _write(path, _document_of((_fresh(1, made),), 1), replace=False)


def add_epoch(path: Path, made: datetime | None = None) -> KeyRing:
    """Add a fresh epoch to the ring in this file and make it the current one."""
    path = path.resolve()  # behind a link it is the file that changes, not the link
    ring = parse_keys(_read_private(path), str(path))
    number = ring.epochs[-1].number + 1
    return _write(path, _document_of((*ring.epochs, _fresh(number, made)), number), replace=True)


def _fresh(number: int, made: datetime | None) -> Epoch:
    moment = made if made is not None else datetime.now(UTC)
    return Epoch(number, moment.strftime("%Y-%m-%dT%H:%M:%SZ"), secrets.token_bytes(KEY_BYTES))


def _document_of(epochs: tuple[Epoch, ...], current: int) -> bytes:
    items = [{"epoch": epoch.number, "key": epoch.secret.hex(), "made": epoch.made} for epoch in epochs]
    document = {"format": FORMAT, "version": VERSION, "current": current, "epochs": items}
    return (json.dumps(document, indent=2) + "\n").encode()


def _write(path: Path, data: bytes, *, replace: bool) -> KeyRing:
    """Write the file whole or not at all, readable by its owner alone from its first byte on."""
    target = path.with_name(f".{path.name}.{secrets.token_hex(4)}") if replace else path
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        fix = "name another file, or add an epoch with --add-epoch"
        raise KeyRefused("The key ring is already there.", str(path), "a ring is never overwritten", fix) from None
    except OSError as error:
        fix = "name a file in a folder that may be written"
        raise KeyRefused("The key ring cannot be written.", str(path), error.strerror or "unknown", fix) from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if replace:
        target.replace(path)
    return parse_keys(data, str(path))
