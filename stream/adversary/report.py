"""What an attack came to, for people on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from stream.adversary.result import Result
from stream.attack.scores import Limits

_WIDTH = 40
_QUANTILES = {
    "mean_gain": "what was learnt of a value, mean over a user's",
    "furthest_value": "the value that moved furthest",
    "furthest_value_in_hindsight": "the same in hindsight",
    "ledger": "the ledger's account of a user",
}


def tell(result: Result, console: Console, exposed: list[tuple[str, float, float]]) -> None:
    table = Table(title=f"Adversary of {result.pipeline}", title_justify="left", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in lines(result):
        table.add_row(name, value)
    console.print(table)
    if result.scores.scored:
        console.print("Does it come true as often as it is sure? (o: came true, |: 99.9 % interval, :: how sure)")
        for line in calibration_plot(result):
            console.print(line, highlight=False)
    if exposed:
        console.print("Most exposed users (nats; keep this to yourself):", highlight=False)
        for name, far, account in exposed:
            console.print(f"    {name}  furthest value {nats(far)}, by the ledger {nats(account)}", highlight=False)
    under = result.stays_under_the_bound
    verdict, style = ("UNDER THE BOUND", "bold green") if under else ("BEYOND THE BOUND", "bold red")
    console.print(f"verdict: {verdict}", style=style, highlight=False)


def lines(result: Result) -> Iterator[tuple[str, str]]:
    """Name and text of each figure, for the terminal and the page."""
    scores, found = result.scores, result.as_json()
    beliefs = found["beliefs"]
    unit = scores.unit
    yield "the adversary", found["reader"]
    yield (
        "epsilon is promised of",
        "each event" if unit.name == "event" else f"each window of up to {unit.events}",
    )
    yield "releases read", f"{scores.released:,} of {len(result.keys):,} users; {scores.silent:,} told nothing"
    if result.facts:
        yield "known beforehand", f"{scores.given:,} values; {result.facts:,} facts were given"
    if scores.refuted:
        yield "releases that its model calls impossible", f"{scores.refuted:,}"
    if result.lost or result.unusable:
        yield (
            "left out",
            f"{result.lost:,} users who cannot be followed, {result.unusable:,} records that do not belong",
        )
    if result.waiting:
        yield "in windows that go on", f"{result.waiting:,} records"
    yield from _guesses(result, found)
    if scores.released:
        yield "how sure", f"{share(beliefs['sure'])}; without any release {share(beliefs['sure_without_any_release'])}"
        if beliefs["sure_in_hindsight"] is not None:
            yield "how sure in hindsight", f"{share(beliefs['sure_in_hindsight'])}; epsilon sets it no ceiling"
        yield "how sure at most, by epsilon", f"{share(beliefs['sure_at_most'])} without hindsight"
        yield "learnt of a value, mean", f"{nats(beliefs['mean_gain_nats'])} nats"
    yield (
        f"one {unit.moment} moved a value by",
        f"{nats(scores.largest)} nats at most; {allowed_of(scores.limits)} allowed, {scores.beyond:,} beyond",
    )
    yield "beyond the ledger", f"{result.beyond_the_ledger:,} users"
    for name, amounts in (result.gains() or {}).items():
        yield _QUANTILES[name], ", ".join(f"{share_name} {nats(value)}" for share_name, value in amounts.items())
    for stream, tried in result.attempts.items():
        for name, each in tried.items():
            low, high = each.interval
            text = f"{share(each.rate)} of {each.pieces} pieces ({share(low)} to {share(high)}, 99 %); by chance "
            yield f"{stream}: whose, {name}", text + share(each.chance)


def _guesses(result: Result, found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    scores, unit, guesses, bound = result.scores, result.scores.unit, found["guesses"], found["bound"]
    if scores.scored:
        low, high = guesses["right_interval"]
        yield (
            "guesses right",
            f"{share(guesses['right'])} of {scores.scored:,} (99.9 %: {share(low)} to {share(high)})",
        )
        yield f"right before this {unit.moment}", share(guesses["right_before_this_release"])
        yield "right without any release", share(guesses["right_without_any_release"])
        how = " (measured by windows of strangers)" if scores.measured else ""
        yield "right at most, by epsilon", f"{share(guesses['allowed'])} of guesses like these{how}"
        if guesses["right_in_hindsight"] is not None:
            yield "right in hindsight", f"{share(guesses['right_in_hindsight'])}; epsilon sets it no ceiling"
        yield "evidence against the bound", f"10^{bound['log10_evidence_against']:.1f}, of 10^3 needed"
        yield "calibration error", share(scores.calibration_error)
    else:
        yield "guesses right", "not known: no truth was given (--truth FILE, --raw)"


def allowed_of(limits: Limits) -> str:
    if limits.up == limits.down:
        return nats(limits.up)
    return f"{nats(limits.up)} upwards and {nats(limits.down)} downwards"


def calibration_plot(result: Result) -> Iterator[str]:
    for count, sure, true, (low, high) in result.scores.calibration:
        cells = [" "] * (_WIDTH + 1)
        for place in range(round(low * _WIDTH), round(high * _WIDTH) + 1):
            cells[place] = "-"
        cells[round(low * _WIDTH)] = cells[round(high * _WIDTH)] = "|"
        cells[round(sure * _WIDTH)] = ":"
        cells[round(true * _WIDTH)] = "o"
        yield f"    {share(sure):>7} sure {''.join(cells)} {share(true):>7} of {count:,}"


def share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def nats(value: float) -> str:
    return "without bound" if math.isinf(value) else f"{value:.3f}"
