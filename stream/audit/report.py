"""What an audit says in the end, for programs and for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from rich.console import Console
from rich.table import Table

from stream.audit.amounts import nats_of
from stream.audit.field_tally import lines
from stream.audit.findings import Findings
from stream.audit.tally import Tally
from stream.names import EXIT_DONE, EXIT_FAILED

BLIND_SPOTS: Final = (
    "raw values: whether a released value was drawn from the channel, rather than chosen, cannot be seen",
    "the coins of forecast_draw: a drawn forecast is checked only for being possible under the belief",
    "event times of suppressed events: where one may have opened a window unseen, every window that fits is accepted",
    "source offsets: only the release id of each user's latest input is recomputed, the others are checked to differ",
    "why a window that waits for its end was closed before it was full: deadlines go by a clock that leaves no trace",
    "replays: an input that was read again and released nothing leaves no trace in the topics",
)

OF_FIELDS: Final = (
    "how reports of fields were drawn: whether kept bits are the same each time, and which slot of a list was taken",
)

_ACCOUNTS: Final = {
    "sum_of_releases": "sum of single releases",
    "counters": "the two counters",
    "sequence": "the whole sequence, exactly",
    "single_value": "the worst single value",
}


@dataclass
class Report:
    """The verdict is `agree` when nothing was found."""

    pipeline: str
    findings: Findings = field(default_factory=Findings)
    tally: Tally = field(default_factory=Tally)
    dead_letters: int = 0
    waiting: int = 0
    inputs: int | None = None
    uncommitted: int | None = None
    accounts: dict[str, Any] | None = None
    fields: dict[str, Any] | None = None
    repeats_uncommitted: int = 0
    compared: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def agrees(self) -> bool:
        return not len(self.findings)

    @property
    def exit_status(self) -> int:
        return EXIT_DONE if self.agrees else EXIT_FAILED

    @property
    def blind_spots(self) -> tuple[str, ...]:
        return BLIND_SPOTS if self.fields is None else BLIND_SPOTS + OF_FIELDS

    def as_json(self) -> dict[str, object]:
        tally = self.tally
        return {
            "verdict": "agree" if self.agrees else "disagree",
            "pipeline": self.pipeline,
            "events": {
                "records": tally.records,
                "released": tally.released,
                "forecast": tally.forecast,
                "suppressed": tally.suppressed,
                "dead_lettered": self.dead_letters,
                "waiting": self.waiting,
                "inputs": self.inputs,
                "not_yet_audited": tally.later,
                "not_followed": tally.not_followed,
            },
            "users": {
                "seen": tally.users,
                "states": tally.states,
                "not_followed": tally.users_not_followed,
                "window_not_determined": tally.users_unsure,
            },
            "leakage": {
                "largest_upper_nats": nats_of(tally.largest[0]),
                "largest_lower_nats": nats_of(tally.largest[1]),
                "above_epsilon_upper": tally.above_epsilon[0],
                "above_epsilon_lower": tally.above_epsilon[1],
            },
            **({} if self.fields is None else {"fields": self.fields}),
            "accounts": self.accounts,
            "uncommitted": {"records": self.uncommitted, "identical_repeats": self.repeats_uncommitted},
            "compared": self.compared,
            "findings": [finding.as_json() for finding in self.findings],
            "notes": self.notes,
            "cannot_see": list(self.blind_spots),
            "seconds": round(self.seconds, 3),
        }


def tell(report: Report, console: Console) -> None:
    tell_verdict(f"Audit of {report.pipeline}", _lines(report), report, console, report.notes)


class Verdict(Protocol):
    """What every report ends with."""

    @property
    def findings(self) -> Findings: ...
    @property
    def blind_spots(self) -> tuple[str, ...]: ...
    @property
    def agrees(self) -> bool: ...


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


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    tally = report.tally
    rate = f", {tally.records / report.seconds:,.0f} a second" if report.seconds > 0 else ""
    yield "released records read", f"{tally.records:,} in {report.seconds:.1f} s{rate}"
    yield "users", f"{tally.users:,}, of whom {tally.states:,} have a state in the changelog"
    yield "releases", f"{tally.released:,}"
    yield "forecasts", f"{tally.forecast:,}"
    yield "suppressed (missing steps)", f"{tally.suppressed:,}"
    yield "dead letters", f"{report.dead_letters:,}"
    if report.waiting:
        yield "waiting in windows", f"{report.waiting:,}"
    yield "inputs", "not known" if report.inputs is None else f"{report.inputs:,}"
    largest = " / ".join(f"{nats_of(units):.6f}" for units in tally.largest)
    yield "largest release, upper / lower", f"{largest} nat"
    above = " / ".join(f"{count:,}" for count in tally.above_epsilon)
    yield "above epsilon, upper / lower", above
    if report.uncommitted is not None:
        yield (
            "read without commits",
            f"{report.uncommitted:,}, of which {report.repeats_uncommitted:,} identical repeats",
        )
    if tally.later:
        yield "arrived during the audit", f"{tally.later:,}, not audited this time"
    if tally.not_followed:
        yield (
            "not followed",
            f"{tally.not_followed:,} events of {tally.users_not_followed:,} users: see what was found, and the notes",
        )
    if report.accounts is not None:
        yield from _accounts(report.accounts)
    if report.fields is not None:
        yield from lines(report.fields)
    yield from report.compared.items()


def _accounts(accounts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    left_out = f", {accounts['left_out']:,} more could not be followed" if accounts["left_out"] else ""
    yield "accounts of users", f"{accounts['users']:,} of {accounts['of']:,}{left_out}; nats at 50 / 90 / 99 % / most"
    for name, words in _ACCOUNTS.items():
        if accounts[name] is not None:
            yield f"  {words}", " / ".join(f"{amount:.4f}" for amount in accounts[name].values())
