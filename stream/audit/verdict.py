"""What every audit ends with, whatever the pipeline releases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from stream.audit.findings import Findings
from stream.names import EXIT_DONE, EXIT_FAILED


@dataclass
class Verdict:
    """It is `agree` when nothing was found."""

    pipeline: str
    findings: Findings = field(default_factory=Findings)
    seconds: float = 0.0

    @property
    def agrees(self) -> bool:
        return not len(self.findings)

    @property
    def verdict(self) -> str:
        return "agree" if self.agrees else "disagree"

    @property
    def exit_status(self) -> int:
        return EXIT_DONE if self.agrees else EXIT_FAILED

    @property
    def blind_spots(self) -> tuple[str, ...]:
        """What was not looked at, because it cannot be seen."""
        raise NotImplementedError

    def as_json(self) -> dict[str, object]:
        raise NotImplementedError


def tell_verdict(
    title: str, lines: Iterable[tuple[str, str]], report: Verdict, console: Console, notes: Sequence[str] = ()
) -> None:
    """What was read as a table, then each finding with what, where, why and what to do, and the verdict."""
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in lines:
        table.add_row(name, value)
    console.print(table)
    for finding in report.findings:
        found = finding.as_json()
        console.print(f"\n{finding.count:,} x {found['what']}", style="bold red", highlight=False)
        for place in finding.places:
            console.print(f"    where: {place}", highlight=False, soft_wrap=True)
        console.print(f"    why it matters: {found['why']}", highlight=False, soft_wrap=True)
        console.print(f"    what to do: {found['fix']}", highlight=False, soft_wrap=True)
    for note in notes:
        console.print(f"note: {note}", highlight=False, soft_wrap=True)
    console.print("An auditor who sees released records only cannot see:", highlight=False)
    for blind_spot in report.blind_spots:
        console.print(f"    {blind_spot}", highlight=False, soft_wrap=True)
    verdict, style = ("AGREE", "bold green") if report.agrees else ("DISAGREE", "bold red")
    console.print(f"verdict: {verdict}", style=style, highlight=False)
