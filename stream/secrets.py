"""Reads a secret from where the settings say that it is: a file or an environment variable, and nowhere else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from stream.errors import Refused


class Place(Protocol):
    """Where a secret is: one of the two."""

    @property
    def file(self) -> str | None: ...

    @property
    def environment(self) -> str | None: ...


def read_secret(what: str, place: Place, environment: Mapping[str, str]) -> str:
    """The secret, without the line's end behind it. Errors say what it is and where it should be, never what was
    found there.
    """
    if place.environment is not None:
        found, where = environment.get(place.environment, ""), f"environment variable {place.environment}"
    else:
        where = f"file {place.file}"
        try:
            found = Path(place.file or "").read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is no text"
            raise Refused(f"The {what} cannot be read.", where, why, "name a file that this worker may read") from None
    if not found.strip():
        raise Refused(f"The {what} is empty.", where, "nothing is there", f"put the {what} there")
    return found.strip()
