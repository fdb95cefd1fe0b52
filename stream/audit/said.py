"""What the records of a released topic say, one after the other; what nobody can read, and what is wrong with a record
by itself, is found on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from stream.audit.findings import Findings
from stream.audit.records import Record


class Misread(Exception):
    """The record is not of this pipeline's making; the text says of what kind, and never what it holds."""


class Saying(Protocol):
    @property
    def broken(self) -> tuple[str, ...]:
        """Codes of findings about the record itself."""


Said = TypeVar("Said", bound=Saying)


def each_said(
    records: Iterable[Record], read: Callable[[Record], Said], findings: Findings, where: str, unreadable: str
) -> Iterator[tuple[Record, Said, str]]:
    """Of each record that can be read: what it says, and where it stands."""
    for record in records:
        place = f"{where}, offset {record.offset}"
        try:
            said = read(record)
        except Misread:
            findings.add(unreadable, places=[place])
            continue
        for code in said.broken:
            findings.add(code, places=[place])
        yield record, said, place
