"""What a fit tells people: the figures as JSON, and as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from beliefs.leakage.robust import chain_error_units, robust_epsilon
from beliefs.learning.choice import Chosen
from beliefs.learning.radius import Radii
from beliefs.learning.written import past_values
from beliefs.rounding import UNITS_PER_NAT, budget_units
from stream.fitting.doubts import doubts_of
from stream.fitting.reading import Refusals
from stream.fitting.reasons import in_words
from stream.fitting.task import Fitted, Task

POOR_SHOWN: Final = 8
_RADII: Final = ("average", "worst")

OWN_USERS: Final = (
    "the model is learnt from the very users whom it is to protect. A model is public: whoever reads it learns "
    "something about those users from it, and no epsilon counts that. It also fits them better than it would fit "
    "others. Learn from a public sample, or from users who consented, and say so (--sample public, --sample "
    "consenting); or learn from released records alone (--released), or from noisy counts (--private-epsilon)"
)
UNKNOWN_USERS: Final = (
    "nothing is said about whose events these are. If they are those of the users whom the model is to protect, it "
    "tells what no epsilon counts: learn from released records alone (--released), or from noisy counts "
    "(--private-epsilon). Otherwise say --sample public or --sample consenting"
)
_NOT_ENOUGH: Final = (
    "    It covers readers whose belief about the next value is off by no more. The rows' radius is that of one step",
    "    from a belief that is right; a belief carries the errors of earlier steps, too, which no figure here bounds.",
)
EACH_ITS_OWN: Final = "the radii hold if all users' values follow one and the same chain of this order, user by user"


def warnings_of(task: Task) -> list[str]:
    """About whose events they are; `doubts_of` is about the events themselves."""
    return {"protected": [OWN_USERS], "unknown": [UNKNOWN_USERS]}.get(task.sample, [])


def figures(fitted: Fitted) -> dict[str, Any]:
    """Every figure of the report."""
    facts, chosen, radii, task = fitted.facts, fitted.chosen, fitted.radii, fitted.task
    symbols = fitted.model.alphabet.size
    return {
        "model": fitted.model.short,
        "version": fitted.model.version,
        "values": symbols,
        "order": fitted.learnt.order,
        "order_that_predicts_best": chosen.order,
        "listed": fitted.learnt.listed,
        "lost_by_listing": fitted.learnt.lost,
        "source": task.source.name,
        "kind": task.source.kind,
        "sample": task.sample,
        "rows": facts.rows,
        "events": facts.events,
        "users": facts.users,
        "pooled_values": facts.pooled,
        "backwards": facts.backwards,
        "order_can_be_checked": facts.last_time > 0,
        "users_with_one_event": facts.once,
        "order_given_up": facts.order_given_up,
        "clock": None if task.step is None else {"again": facts.again, "late": facts.late, "apart": facts.parted},
        "refused": refused(facts.refusals),
        "held_out": _held_out(chosen, symbols),
        "radius": {
            "failure": radii.failure,
            "worst": radii.worst,
            "average": radii.average,
            "start": radii.start,
            "rows_seen": int(radii.visits.size),
            "rows_possible": radii.possible,
            "rows_beyond_a_half": int(np.count_nonzero(radii.rows > 0.5)),
            "rows": _rows(fitted, range(radii.visits.size)),
            "weightiest": poor_rows(fitted),
        },
        "chain_error": justified(fitted),
        "epsilon": task.epsilon,
        "proposed": proposed(task, radii),
        "warnings": [*warnings_of(task), *doubts_of(task, facts, fitted.model.alphabet)],
    }


def _held_out(chosen: Chosen, symbols: int) -> dict[str, Any]:
    return {
        "events": int(chosen.events.sum()),
        "uniform": {"nats": math.log(symbols), "accuracy": 1.0 / symbols},
        "orders": [
            {
                "order": score.order,
                "nats": score.loss,
                "standard_error": score.error,
                "accuracy": score.accuracy,
                "smoothing": str(score.strength),
            }
            for score in chosen.scores
        ],
    }


def refused(refusals: Refusals) -> dict[str, Any]:
    return {
        reason: {"count": refusals.counts[reason], "first": refusals.places[reason]}
        for reason in sorted(refusals.counts)
    }


def poor_rows(fitted: Fitted) -> list[dict[str, Any]]:
    """The rows that make most of the average radius: those from which more events would help most."""
    worst = np.argsort(-fitted.radii.visits * fitted.radii.rows, kind="stable")[:POOR_SHOWN]
    return _rows(fitted, worst.tolist())


def _rows(fitted: Fitted, rows: Sequence[int]) -> list[dict[str, Any]]:
    alphabet, radii, order = fitted.model.alphabet, fitted.radii, max(fitted.learnt.order, 1)
    names = [str(alphabet.value_at(value)) for value in range(alphabet.size)]
    found = []
    for row in rows:
        past = past_values(int(fitted.pasts[row]), order, alphabet.size + 1)
        after = " ".join(names[value] for value in past)
        found.append({"after": after, "visits": int(radii.visits[row]), "radius": float(radii.rows[row])})
    return found


def write_report(facts: dict[str, Any], written: str) -> str:
    """The report as text."""
    return "\n".join(
        [
            *[f"WARNING: {warning}." for warning in facts["warnings"]],
            *_read(facts),
            *_model(facts, written),
            *summary(facts),
            *_predicts(facts),
            *_sure(facts),
        ]
    )


def summary(facts: dict[str, Any]) -> list[str]:
    """How good the model is, for somebody who knows nothing of nats."""
    held = facts["held_out"]
    scores = {one["order"]: one for one in held["orders"]}
    best, first = scores[facts["order"]], scores[min(scores)]
    others = f"the commonest value is right for {first['accuracy']:.1%}, chance for {held['uniform']['accuracy']:.1%}."
    lines = [f"Of users of whom it has learnt nothing it guesses {best['accuracy']:.1%} of the next values; {others}"]
    if best["nats"] >= held["uniform"]["nats"]:
        lines.append("    It predicts no better than knowing nothing: its events do not hang together, or are too few.")
    elif facts["order"] > 0 and best["nats"] > first["nats"] - 2 * best["standard_error"]:
        lines.append(
            "    What came before hardly helps it: it is within two standard errors of not looking at the past."
        )
    return lines


def _read(facts: dict[str, Any]) -> list[str]:
    refused_rows = sum(one["count"] for one in facts["refused"].values())
    read = f"{facts['rows']:,} rows, {facts['events']:,} events of {facts['users']:,} users"
    lines = [f"Read {facts['source']}: {read}; {refused_rows:,} rows refused."]
    lines += refused_lines(facts["refused"], facts["kind"])
    if not facts["order_can_be_checked"]:
        lines.append("    a user's rows were taken in the order in which they stand; --time FIELD would check it")
    if facts["users_with_one_event"]:
        lines.append(
            f"    {facts['users_with_one_event']:,} users have one event: of them only first values are learnt"
        )
    if facts["clock"] is not None:
        clock = facts["clock"]
        lines.append(
            f"    by the clock: {clock['again']:,} more within a step and {clock['late']:,} late are left out; "
            f"{clock['apart']:,} times a step or more was skipped, and what came after follows nothing"
        )
    return lines


def refused_lines(told: dict[str, Any], kind: str) -> list[str]:
    """Each reason with how many records have it, and where the first of them lie."""
    lines = []
    for reason, one in told.items():
        places = ", ".join(str(place) for place in one["first"]) + (", ..." if one["count"] > len(one["first"]) else "")
        lines.append(f"    {reason}: {one['count']:,}, at {kind} {places}{in_words(reason)}")
    return lines


def _model(facts: dict[str, Any], written: str) -> list[str]:
    lines = [f"Model {facts['model']}: {facts['values']:,} values, order {facts['order']}{written}."]
    if facts["listed"]:
        lost = facts["lost_by_listing"]
        lines.append(
            f"    {facts['listed']:,} pasts of more than one value are listed; the others would tell {lost:.4f} nats"
        )
    if facts["pooled_values"]:
        lines.append(
            f"    {facts['pooled_values']:,} rare values are one value now; producers must write it, too, or the "
            "pipeline refuses those records as outside_alphabet"
        )
    if facts["order_given_up"] is not None:
        lines.append(f"    pasts of {facts['order_given_up']} values were given up: there are too many different ones")
    return lines


def _predicts(facts: dict[str, Any]) -> list[str]:
    held, chosen = facts["held_out"], facts["order_that_predicts_best"]
    lines = [f"Predicting users of whom nothing was learnt ({held['events']:,} events; lower nats are better):"]
    for one in held["orders"]:
        mark = "*" if one["order"] == chosen else " "
        lines.append(
            f"  {mark} order {one['order']:<2} {one['nats']:8.4f} +- {one['standard_error']:.4f} nats an event, "
            f"{one['accuracy']:6.1%} right, mixed in: {one['smoothing']}"
        )
    lines.append(
        f"    uniform  {held['uniform']['nats']:8.4f}           nats an event, {held['uniform']['accuracy']:6.1%} right"
    )
    return lines


def _sure(facts: dict[str, Any]) -> list[str]:
    radius = facts["radius"]
    seen = f"{radius['rows_seen']:,} of {radius['rows_possible']:,} possible rows were seen"
    lines = [
        f"How sure: but for a probability of {radius['failure']:g}, each row is this near the truth in variation;",
        f"    {EACH_ITS_OWN}:",
        f"    average row {radius['average']:.4f}, worst {radius['worst']:.4f}, first value {radius['start']:.4f};",
        f"    {seen}",
    ]
    if radius["rows_beyond_a_half"]:
        lines.append(f"    {radius['rows_beyond_a_half']:,} rows may be off by more than a half: too few events")
    lines.append("    rows from which more events would help most:")
    lines += [
        f"        after {row['after']}: {row['visits']:,} visits, radius {row['radius']:.4f}"
        for row in radius["weightiest"]
    ]
    lines.append("A radius for the settings, and what is left of epsilon (as much is withheld from every release):")
    lines += [_proposed(one, facts["epsilon"]) for one in facts["proposed"]]
    return [*lines, *_NOT_ENOUGH, *_chain_error(facts["chain_error"], facts["epsilon"])]


def _chain_error(told: dict[str, Any], epsilon: float) -> list[str]:
    if told["error"] is None:
        unseen = f"{told['unseen']:,} of {told['possible']:,} first values and transitions"
        return [
            f"mechanism.chain_error: none can be justified. {unseen} were never seen,",
            "    so nothing says by which factor the model may be wrong about them: take more events, or fewer values",
        ]
    left = f"{told['epsilon']:.4f} of {epsilon:g}"
    lines = [f"mechanism.chain_error: {told['error']:g} is justified, but for the same probability, and leaves {left}:"]
    lines.append("    each first value and transition is within that factor (e to its power) of the truth")
    if told["epsilon"] <= epsilon / 2:
        lines.append("    half of epsilon holds against every reader anyway, so this says no more than that")
    return lines


def _proposed(one: dict[str, Any], epsilon: float) -> str:
    if one["radius"] >= 1.0:
        return f"    none ({one['of']} row): too little is known; against readers who know better there is 2 epsilon"
    return f"    mechanism.radius: {one['radius']:g} ({one['of']} row) leaves {one['epsilon']:.4f} of {epsilon:g}"


def justified(fitted: Fitted) -> dict[str, Any]:
    """The chain error that covers whoever knows the true chain, and what it leaves of epsilon."""
    factor, chain, epsilon = fitted.factor, fitted.model.chain, budget_units(fitted.task.epsilon)
    told: dict[str, Any] = {"error": factor.largest, "unseen": factor.unseen, "possible": factor.possible}
    if factor.largest is None:
        return {**told, "epsilon": None}
    apart = chain_error_units(factor.largest, chain.contraction, chain.span)
    return {**told, "epsilon": (epsilon - min(apart, -(-epsilon // 2))) / UNITS_PER_NAT}


def proposed(task: Task, radii: Radii) -> list[dict[str, Any]]:
    """Radii as they may stand in the settings, rounded up, and what they leave of epsilon."""
    found = []
    for name in _RADII:
        radius = min(1.0, math.ceil(getattr(radii, name) * 10_000) / 10_000)
        found.append({"of": name, "radius": radius, "epsilon": robust_epsilon(task.epsilon, radius)})
    return found
