"""What every pipeline's opening looks at besides its promise: the key ring, and who could see what.

Nothing here talks to Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from stream.errors import KeyRefused, Problem
from stream.keys import KeyRing, load_keys
from stream.protocol.limits import wall_clock_ms
from stream.settings.beside_kafka import is_loopback
from stream.settings.kinds import write_duration
from stream.settings.load import problem_at
from stream.settings.model import Settings

_MANY_EMPTY: Final = 100_000
"""So many windows in the past are worth a word: each of them has a record."""

Found = Callable[[tuple[str, ...], str, str, str], Problem]
"""A problem at a place of the settings: what was found, what is allowed, and how to put it right."""


def keys_of(settings: Settings, file: Path, environment: Mapping[str, str], problems: list[Problem]) -> KeyRing | None:
    """The key ring that the settings name; what is wrong with it is added to the problems."""
    try:
        return load_keys(settings.keys, environment)
    except KeyRefused as error:
        place = ("keys", "file" if settings.keys.file is not None else "environment")
        found = f"{error.where}: {error.why}"
        problems.append(problem_in(file, place, found, "a key ring that only its owner can read", error.fix))
        return None


def problem_in(file: Path, place: tuple[str, ...], found: str, allowed: str, fix: str) -> Problem:
    return problem_at(file, file.read_bytes(), place, found, allowed, fix)


def read_file(name: str, place: tuple[str, ...], allowed: str, found: Found, problems: list[Problem]) -> bytes | None:
    """The bytes of a file that the settings name; that it cannot be read is added to the problems."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        said = f"{name}: {error.strerror or 'it cannot be read'}"
        problems.append(found(place, said, allowed, "name a file that can be read"))
        return None


def many_empty(start: int, length: int) -> Iterator[str]:
    """A warning of windows that began long ago."""
    past = (wall_clock_ms() - start) // length
    if past > _MANY_EMPTY:
        yield (
            f"{past:,} windows of {write_duration(length)} lie between `from` and now; each has a record of its own, "
            "also where it is empty"
        )


def seen_by_others(settings: Settings) -> Iterator[str]:
    """Warnings of doors that stand open."""
    abroad = [broker for broker in settings.kafka.brokers if not is_loopback(broker.rpartition(":")[0])]
    if abroad and settings.kafka.allow_plaintext and settings.kafka.tls is None:
        yield "plaintext is allowed: whoever shares the network can read the raw events"
    if not is_loopback(settings.admin.host):
        yield f"metrics are served on {settings.admin.host}, not on loopback: they have no password"
