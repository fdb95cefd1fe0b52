"""Crowds of a window or a stream as numbers: who leaves with whom, and in which box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

import numpy as np

from beliefs.checks import Invalid, kind_of
from mechanisms.crowds.attributes import ATTRIBUTES_MOST, CELLS_MOST, Attribute, Attributes, Box, Numeric, tree_of
from mechanisms.crowds.diversity import K_MOST, Rule, millionths
from mechanisms.crowds.flow import EVENTS_MOST, Emitted, FlowForm
from mechanisms.crowds.mondrian import mondrian
from mechanisms.crowds.registry import REGISTRY
from stream.compute.inputs import indices, listed, objects, whole_number
from stream.compute.sequence import Result

PEOPLE_MOST = 1 << 16
"""So many boxes still fit on a page."""

VALUES_MOST = 1 << 12

Person = tuple[tuple[int, ...], int]
"""The cells and the sensitive value, -1 where there is none."""


class Ruled(TypedDict, total=False):
    """What else is asked of a crowd."""

    values: int
    diverse: int
    close: float
    loss_most: float


def attributes(value: object, field: str) -> Attributes:
    """Of each attribute its number of cells, or its hierarchy."""
    listing = objects(value, field)
    if not 1 <= len(listing) <= ATTRIBUTES_MOST:
        raise Invalid(field, f"must be 1 to {ATTRIBUTES_MOST}")
    return Attributes(tuple(_attribute(each, field) for each in listing))


def _attribute(each: dict[str, object], field: str) -> Attribute:
    if set(each) == {"tree"}:
        return tree_of(each["tree"], field)
    if set(each) != {"cells"}:
        raise Invalid(field, "must each be an object with cells, or with tree")
    cells = whole_number(each["cells"], field)
    if not 1 <= cells <= CELLS_MOST:
        raise Invalid(field, f"must have 1 to {CELLS_MOST} cells")
    return Numeric(cells)


def rows(value: object, field: str) -> list[list[object]]:
    """Lists, each of what one event or one person is."""
    found = listed(value, field)
    if len(found) > PEOPLE_MOST:
        raise Invalid(field, f"must be at most {PEOPLE_MOST}")
    for each in found:
        if not isinstance(each, list):
            raise Invalid(field, f"must hold lists, found {kind_of(each)}")
    return [each for each in found if isinstance(each, list)]


def flow(
    grouper: str,
    attributes: Attributes,
    k: int,
    events: int,
    time: int,
    stream: Sequence[Sequence[object]],
    until: int | None = None,
    **ruled: Unpack[Ruled],
) -> Result:
    """Each event is [time, user, cells] or [time, user, cells, sensitive]; at the end the clock may speak once more."""
    rule = _rule(k, ruled)
    if not k <= events <= EVENTS_MOST:
        raise Invalid("events", f"must be from k to {EVENTS_MOST}")
    running = REGISTRY[grouper](FlowForm(attributes, rule, events, time))
    left: list[Result] = []
    now = 0
    for seq, each in enumerate(stream):
        at, user, person = _event(each, attributes, rule)
        if at < now:
            raise Invalid("stream", "goes back in time: events come in the order of their times")
        now = at
        left += [_told(seq, emitted) for emitted in running.take(seq, at, user, *person)]
    if until is not None:
        if until < now:
            raise Invalid("until", "lies before the last event")
        left += [_told(None, emitted) for emitted in running.overdue(until)]
    return {"left": left, "waiting": running.waiting}


def window(
    attributes: Attributes,
    k: int,
    people: Sequence[Sequence[object]],
    **ruled: Unpack[Ruled],
) -> Result:
    """Each of the people is [cells] or [cells, sensitive]."""
    rule = _rule(k, ruled)
    found = [_person(each, "people", attributes, rule) for each in people]
    cells = np.array([cells for cells, _ in found], dtype=np.int64)
    sensitive = np.array([value for _, value in found], dtype=np.int64) if rule.values else None
    crowds = mondrian(attributes, cells, sensitive, rule)
    return {
        "crowds": [
            {"people": group.tolist(), "box": _listed(box), "loss": loss}
            for group, box, loss in zip(crowds.groups, crowds.boxes, crowds.losses, strict=True)
        ],
        "suppressed": crowds.suppressed.tolist(),
        "reason": crowds.reason,
    }


def _rule(k: int, ruled: Ruled) -> Rule:
    values, diverse, close = ruled.get("values", 0), ruled.get("diverse", 1), ruled.get("close")
    if not 2 <= k <= K_MOST:
        raise Invalid("k", f"must be from 2 to {K_MOST}")
    if values > VALUES_MOST:
        raise Invalid("values", f"must be at most {VALUES_MOST}")
    if values == 0 and (diverse != 1 or close is not None):
        raise Invalid("values", "is missing: diverse and close are about sensitive values")
    return Rule(k, values, diverse, -1 if close is None else millionths(close), ruled.get("loss_most", 1.0))


def _event(each: Sequence[object], attributes: Attributes, rule: Rule) -> tuple[int, int | bytes, Person]:
    if len(each) < 2:
        raise Invalid("stream", "must hold [time, user, cells], and the sensitive value where there is one")
    time, user = whole_number(each[0], "stream"), each[1]
    if not isinstance(user, str):
        return time, whole_number(user, "stream"), _person(each[2:], "stream", attributes, rule)
    return time, user.encode(), _person(each[2:], "stream", attributes, rule)


def _person(each: Sequence[object], field: str, attributes: Attributes, rule: Rule) -> Person:
    if len(each) != (2 if rule.values else 1):
        sensitive = "the cells and a sensitive value" if rule.values else "the cells, and no sensitive value"
        raise Invalid(field, f"must give of everybody {sensitive}")
    cells = tuple(indices(each[0], field))
    if not attributes.inside(cells):
        raise Invalid(field, "has cells that are none of the attributes'")
    value = whole_number(each[1], field) if rule.values else -1
    if value >= max(1, rule.values):
        raise Invalid(field, "has a sensitive value that is none of the declared ones")
    return cells, value


def _told(at: int | None, emitted: Emitted) -> Result:
    box = None if emitted.box is None else _listed(emitted.box)
    return {"at": at, **emitted._asdict(), "seqs": list(emitted.seqs), "box": box}


def _listed(box: Box) -> list[list[int]]:
    return [list(ends) for ends in box]
