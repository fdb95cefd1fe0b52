"""What an audit of crowds says in the end, for programs and for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console

from stream.audit.crowd_numbers import up
from stream.audit.crowd_present import Told
from stream.audit.crowd_seen import Seen
from stream.audit.verdict import Verdict, tell_verdict

BLIND_SPOTS: Final = (
    "whether people's values come by the law that is declared, and who else knows them: no topic shows it",
    "when the clock closed windows of silent partitions: an event that its dead letter calls late by then is believed",
)
OF_BOXES: Final = ("whether people could have been divided into better boxes: only that these are crowds of theirs",)
WITHOUT_KEYS: Final = (
    "whether partitions have sent who was there, and noise comes from its coins: --keys looks at that",
)


@dataclass
class CrowdReport(Verdict):
    """Of a pipeline that releases crowds."""

    with_keys: bool = False
    divided: bool = False
    bounded: bool = False
    """Whether a guarantee says anything of values."""
    told: Told = field(default_factory=Told)
    seen: Seen = field(default_factory=Seen)
    notes: list[str] = field(default_factory=list)
    uncommitted: int | None = None

    @property
    def blind_spots(self) -> tuple[str, ...]:
        return (*(() if self.with_keys else WITHOUT_KEYS), *BLIND_SPOTS, *(OF_BOXES if self.divided else ()))

    def as_json(self) -> dict[str, object]:
        seen = self.seen
        return {
            "verdict": self.verdict,
            "pipeline": self.pipeline,
            "raw": {"accepted": self.told.accepted, "refused": dict(self.told.refused)},
            "released": {
                "records": seen.records,
                "released": seen.released,
                "withheld": dict(seen.withheld),
                "crowds": seen.crowds,
                "suppressed": seen.suppressed,
            },
            "guarantee": {"largest_delta": float(up(seen.largest_delta)) if self.bounded else None},
            "opened": self.with_keys,
            "uncommitted": self.uncommitted,
            "findings": [finding.as_json() for finding in self.findings],
            "notes": list(self.notes),
            "cannot_see": list(self.blind_spots),
            "seconds": round(self.seconds, 3),
        }


def tell_crowds(report: CrowdReport, console: Console) -> None:
    tell_verdict(f"Audit of {report.pipeline}", _lines(report), report, console, report.notes)


def _lines(report: CrowdReport) -> Iterator[tuple[str, str]]:
    seen, told = report.seen, report.told
    yield "raw records that count", f"{told.accepted:,}"
    for reason, count in sorted(told.refused.items()):
        yield f"refused: {reason}", f"{count:,}"
    yield "released records read", f"{seen.records:,} in {report.seconds:.1f} s"
    yield "released", f"{seen.released:,}"
    for reason, count in sorted(seen.withheld.items()):
        yield f"withheld: {reason}", f"{count:,}"
    if report.divided:
        yield "crowds", f"{seen.crowds:,}, and {seen.suppressed:,} people or events in none"
    if report.bounded:
        yield "largest delta of a window", str(up(seen.largest_delta))
    yield "opened with the key ring", "all that partitions have sent" if report.with_keys else "no"
    if report.uncommitted is not None:
        yield "seen by readers of uncommitted data", f"{report.uncommitted:,}"
