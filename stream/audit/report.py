"""What an audit says in the end, for programs and for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import Console

from stream.audit.amounts import nats_of
from stream.audit.field_tally import lines
from stream.audit.tally import Tally
from stream.audit.verdict import Verdict, tell_verdict

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
class Report(Verdict):
    """Of a pipeline that releases event by event, or windows of a user's values."""

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

    @property
    def blind_spots(self) -> tuple[str, ...]:
        return BLIND_SPOTS if self.fields is None else BLIND_SPOTS + OF_FIELDS

    def as_json(self) -> dict[str, object]:
        tally = self.tally
        return {
            "verdict": self.verdict,
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
