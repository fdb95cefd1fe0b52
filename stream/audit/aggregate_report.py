"""What an audit of aggregates says in the end, for programs and for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console

from stream.audit.aggregate_follow import Seen
from stream.audit.aggregate_records import nats_up
from stream.audit.verdict import Verdict, tell_verdict

BLIND_SPOTS: Final = (
    "who contributed what: whether each user counted once, and was clipped, is decided before sums are sealed",
    "which events came too late: that depends on when the clock closed windows of silent partitions",
    "whether users depend on one another as the settings say: no released window shows it",
)
WITHOUT_KEYS: Final = ("whether a number is the true sum with the noise of its coins: --keys looks at that",)


@dataclass
class AggregateReport(Verdict):
    """Of a pipeline that releases windows of aggregates."""

    with_keys: bool = False
    seen: Seen = field(default_factory=Seen)
    largest_total: int = 0
    uncommitted: int | None = None

    @property
    def blind_spots(self) -> tuple[str, ...]:
        return BLIND_SPOTS if self.with_keys else WITHOUT_KEYS + BLIND_SPOTS

    def as_json(self) -> dict[str, object]:
        return {
            "verdict": self.verdict,
            "pipeline": self.pipeline,
            "windows": {
                "records": self.seen.records,
                "released": self.seen.released,
                "withheld": dict(self.seen.withheld),
            },
            "leakage": {"largest_total_nats": float(nats_up(self.largest_total))},
            "opened": self.with_keys,
            "uncommitted": self.uncommitted,
            "findings": [finding.as_json() for finding in self.findings],
            "cannot_see": list(self.blind_spots),
            "seconds": round(self.seconds, 3),
        }


def tell_aggregates(report: AggregateReport, console: Console) -> None:
    tell_verdict(f"Audit of {report.pipeline}", _lines(report), report, console)


def _lines(report: AggregateReport) -> Iterator[tuple[str, str]]:
    seen = report.seen
    yield "windows read", f"{seen.records:,} in {report.seconds:.1f} s"
    yield "released", f"{seen.released:,}"
    for reason, count in sorted(seen.withheld.items()):
        yield f"withheld: {reason}", f"{count:,}"
    yield "most told about one user", f"{nats_up(report.largest_total)} nats in the windows of the target"
    yield "opened with the key ring", "every window" if report.with_keys else "no"
    if report.uncommitted is not None:
        yield "seen by readers of uncommitted data", f"{report.uncommitted:,}"
