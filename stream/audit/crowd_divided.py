"""The crowds of one window against the people who were there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from stream.audit.crowd_attributes import loss_of
from stream.audit.crowd_boxes import Boxed, dealt_out, in_order, read_box, read_counts
from stream.audit.crowd_numbers import is_up, same, up
from stream.audit.crowd_present import People
from stream.audit.crowd_records import Said
from stream.audit.crowd_rules import Crowds
from stream.audit.findings import Findings


class Boxes:
    """The crowds of one window, of the people who were there."""

    def __init__(self, crowds: Crowds, findings: Findings, place: str) -> None:
        self._crowds, self._findings, self._place = crowds, findings, place

    def _found(self, code: str, detail: str = "") -> None:
        self._findings.add(code, places=[self._place], detail=detail)

    def check(self, said: Said, records: list[Said], people: People) -> None:
        asked = self._crowds.asked
        everybody_has = Counter(each.secret for each in people.values())
        boxed = [self._one(record, everybody_has) for record in records]
        boxes = [each for each in boxed if each is not None]
        if not same(said.parts.get("crowds"), len(records)):
            self._found("crowd_missing", "fewer or more crowds than are said")
        if None in boxed:
            return
        held = sum(each.held for each in boxes)
        if not same(said.parts.get("suppressed"), len(people) - held):
            self._found("crowd_members", "suppressed")
        may_suppress = asked.loss_most < 1 or (
            asked.mixed is not None and not asked.mixed.allows(everybody_has, everybody_has)
        )
        if held != len(people) and not may_suppress:
            self._found("crowd_needless", "suppressed")
        if not in_order([each.box for each in boxes]):
            self._found("crowd_members", "order of the boxes")
        kinds = Counter((each.values, each.secret) for each in people.values())
        if not dealt_out(kinds, boxes):
            self._found("crowd_members", "boxes and people")
        self._loss(said.parts.get("release"), boxes)

    def _one(self, record: Said, everybody_has: Mapping[int, int]) -> Boxed | None:
        asked, told = self._crowds.asked, record.parts
        box, held = read_box(asked, told.get("box")), told.get("users")
        if box is None or type(held) is not int:
            self._found("crowd_box", "attributes")
            return None
        if held < self._crowds.k:
            self._found("crowd_small")
        if not is_up(told.get("loss"), loss_of(asked.attributes, box)):
            self._found("crowd_box", "loss")
        elif told["loss"] > up(asked.loss_most):
            self._found("crowd_box", "more loss than is allowed")
        values = read_counts(asked.mixed, told.get("sensitive"), held)
        if isinstance(values, bool):
            self._found("crowd_mixed", "counts")
            return None
        if asked.mixed is not None and values is not None and not asked.mixed.allows(values, everybody_has):
            self._found("crowd_mixed")
        return Boxed(box, held, values)

    def _loss(self, told: Any, boxes: list[Boxed]) -> None:
        """The mean over all who are in a crowd."""
        if not isinstance(told, dict) or told.keys() != {"kind", "loss"} or told["kind"] != "records":
            self._found("crowd_strange")
            return
        held = sum(each.held for each in boxes)
        lost = sum((loss_of(self._crowds.asked.attributes, each.box) * each.held for each in boxes), Fraction(0))
        if not (is_up(told["loss"], lost / held) if held else told["loss"] is None):
            self._found("crowd_box", "mean loss")
