"""The part of the status page that says whether the model looks right, and how far it may be wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stream.learning.carried import ALARM
from stream.learning.standing import Standing as Learning
from stream.metrics import watching_table as metrics
from stream.metrics.meter import Meter
from stream.metrics.rows import Row, card, nat, table, words
from stream.metrics.standing import Standing
from stream.metrics.table import UNCERTIFIED

DOUBTFUL_FROM: Final = 1_000
"""Evidence that a right model of users who do not depend on each other reaches in one start of 1,000 at most; there the
alert SottovoceModelDoubtful begins, too.
"""
_ACCOUNTS: Final = (
    ("exact", "latest releases, about the whole sequence, exactly"),
    ("single_value", "the same, about the worst single value"),
    ("counters", "the same, as the counters add it up"),
)


def model_card(meter: Meter, now: Standing) -> str:
    rows = [*_verdict(meter, now), *_beliefs(meter, now), *_accounts(now)]
    return card("Model health", table(rows))


def _verdict(meter: Meter, now: Standing) -> Iterator[Row]:
    monitor = now.monitor
    if meter.learners is not None and meter.learners.standings:
        yield _learnt([each for each in meter.learners.standings.values() if each.informed])
        return
    if meter.witness is None:
        why = "only releases made one by one, under one model for everybody, can be tested against it"
        yield Row("does the model look right?", words("not tested"), note=why)
        return
    if monitor is None:
        yield Row("does the model look right?", words("nothing to say yet"))
        return
    doubtful = monitor.evidence >= DOUBTFUL_FROM
    said = "doubtful: releases do not look like the model's" if doubtful else "nothing speaks against it"
    what = "learn it anew from newer data" if doubtful else ""
    yield Row("does the model look right?", words(said, "bad" if doubtful else "good"), note=what)
    note = f"an alarm from {DOUBTFUL_FROM:,} on"
    yield Row("evidence against it, at most", f"{monitor.evidence:,.3g}", note=note)
    yield Row("releases that it was tested with", f"{monitor.releases:,}", metrics.MODEL_SCORE_RELEASES.name)
    note = "the mean logarithm of the chance that it gave what was released"
    score = f"{monitor.seen:.4f}, expected {monitor.expected:.4f}"
    yield Row("score, nats", words(score), note=note)


def _learnt(informed: Sequence[Learning]) -> Row:
    """Partitions that learn test what they have learnt themselves, and give it up where it does not fit."""
    asked, note = "do the learnt models look right?", "each partition tests its own, and learns anew where it is wrong"
    if not informed:
        return Row(asked, words("none is in use yet"), note=note)
    most = max(each.evidence for each in informed)
    return Row(asked, words(f"evidence against one: {most:,.3g}"), note=f"{note}: from {ALARM:,.0f} on")


def _beliefs(meter: Meter, now: Standing) -> Iterator[Row]:
    about = meter.settings.about
    if meter.learners is None or not meter.learners.standings:
        covered = words(f"radius {about.radius:g}, chain error {about.chain_error:g}")
        yield Row("readers' beliefs that are covered", covered)
    if now.drift is not None:
        said = "not known of some user" if now.drift == float("inf") else nat(now.drift)
        note = "how far a stored belief may be from the exact one; charges make room for it"
        yield Row("drift, at most", words(said), note=note)
    note = "became forecasts: their channel could not be certified"
    yield Row("releases given up", f"{meter.uncertified_fallbacks:,}", UNCERTIFIED.name, note)


def _accounts(now: Standing) -> Iterator[Row]:
    """What users' latest releases tell exactly; nothing where that is not known."""
    if now.accounts is None:
        return
    for name, label in _ACCOUNTS:
        middle, most = (nat(now.accounts.quantiles[name][place]) for place in ("0.5", "1"))
        note = f"middle and largest of {now.accounts.users:,} users"
        yield Row(label, words(f"{middle}, {most}"), note=note)
