"""Names of the user's own, by which metrics, reports and files call fields and aggregates."""

from collections.abc import Iterator, Sized
from typing import Final, Protocol

from stream.settings.yaml_lines import Place

Wrong = tuple[Place, str, str, str]

_SIGNS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME: Final = 64


class _Names(Sized, Protocol):
    def __iter__(self) -> Iterator[str]: ...


def wrong_names(place: Place, names: _Names, most: int, what: str) -> Iterator[Wrong]:
    """Of the sections at this place: too many of them, and names that not everybody could write."""
    if len(names) > most:
        fix = "give the others a pipeline of their own, or leave them out"
        yield place, f"{len(names)} {what}", f"at most {most} {what}", fix
    for name in names:
        if not 1 <= len(name) <= _LONGEST_NAME or not set(name) <= _SIGNS:
            allowed = f"1 to {_LONGEST_NAME} letters, digits, _ or -"
            yield (*place, name), "a name of other signs", allowed, "write it with letters, digits, _ and -"
