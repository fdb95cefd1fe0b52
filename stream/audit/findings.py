"""Everything that an audit can find, with why it matters and what to do; and the report that it ends with.

A finding names partitions, offsets, counts and amounts, never a user and never a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from stream.audit.aggregate_kinds import AGGREGATE_KINDS
from stream.audit.crowd_kinds import CROWD_KINDS

PLACES_SHOWN: Final = 5


_KEEP: Final = "stop the pipeline, keep all topics as they are, and find out who or what else writes to them"
_RECOMPUTE: Final = (
    "stop the pipeline; make sure that settings and model are those it ran with, and that nobody else writes to its "
    "topics"
)

# What was found, why it matters, what to do about it.
KINDS: Final[dict[str, tuple[str, str, str]]] = {
    "lost_event": (
        "events are missing: a user's steps have a gap that no spent budget explains",
        "every event is released, forecast, or suppressed for a spent budget; one that vanished breaks the accounting",
        "see whether the released topic's retention or compaction removed records; otherwise restore it from a replica",
    ),
    "released_twice": (
        "inputs were released more than once to readers of committed data",
        "a second release of one input may tell more about the user than was charged",
        _KEEP,
    ),
    "two_values": (
        "inputs were shown with two different values",
        "two draws for one input leak twice, and average the noise away",
        _KEEP,
    ),
    "two_texts": (
        "inputs were shown twice with the same value, but different bytes",
        "a repeated block must show the same bytes; a difference means that something else than the input decided them",
        _KEEP,
    ),
    "out_of_order": (
        "records repeat a step of their user, or come after a later one",
        "the beliefs depend on the order, and a repeated step may be a second draw",
        _KEEP,
    ),
    "needless_forecast": (
        "forecasts where the budget had room for a release",
        "the promise allows a forecast only when the next release would not fit; utility was lost",
        _RECOMPUTE,
    ),
    "over_budget": (
        "releases that the budget had no room for",
        "more was told about users in one window than was promised",
        _RECOMPUTE,
    ),
    "not_certified": (
        "releases whose worst case was above epsilon",
        "a release may be looked at only when no outcome of it can tell more than epsilon",
        _RECOMPUTE,
    ),
    "above_epsilon": (
        "releases that told more than epsilon",
        "each release was promised to tell at most epsilon",
        _RECOMPUTE,
    ),
    "not_likeliest": (
        "forecasts that do not follow from the belief",
        "a forecast must be a function of what everybody knows; any other value tells something that nobody charged",
        "stop the pipeline: a raw value may have been released",
    ),
    "wrong_epoch": (
        "epochs of a learnt model that do not follow from the releases before them",
        "what is withheld for the model's error, and so epsilon itself, is right only for a model that the counts give",
        _RECOMPUTE,
    ),
    "impossible_value": (
        "released values that the mechanism cannot release under the belief at that step",
        "what such a release tells has no bound",
        "stop the pipeline: a raw value may have been released, or another model or mechanism was at work",
    ),
    "long_window": (
        "windows of more values than the settings allow",
        "a window is built for a largest number of values; what more of them tell together is not what was charged",
        _RECOMPUTE,
    ),
    "wrong_place": (
        "records whose place in their window does not follow: values are missing, or windows were split or joined",
        "a window's values are told under one bound; in other windows they told something else than was charged",
        _KEEP,
    ),
    "wrong_stretch": (
        "windows with values of a later stretch of event time than their first",
        "window.stretch promises that a window ends where a user's event time enters the next stretch",
        _RECOMPUTE,
    ),
    "wrong_shown": (
        "released values that are not the likeliest after what the window's channels drew",
        "what is shown must be a function of what was drawn; any other value tells something that nobody charged",
        "stop the pipeline: a raw value may have been released",
    ),
    "wrongly_held": (
        "records of what windows hold that do not go with their user's state",
        "values that wait may be released twice, or with other values than before a crash",
        "restore the changelog from a replica; do not start a worker before",
    ),
    "after_stop": (
        "records of users who had been stopped",
        "when_spent: stop promises that nothing follows a spent budget, for ever",
        _RECOMPUTE,
    ),
    "state_missing": (
        "released events of users who have no state in the belief changelog",
        "their spent budget is not known to the pipeline and would be spent again",
        "restore the changelog from a replica; do not start a worker before",
    ),
    "state_extra": (
        "states of users of whom nothing was released and nothing was due to be suppressed",
        "a state without events was written by something else, or its events are gone",
        _KEEP,
    ),
    "state_behind": (
        "states that do not know of events released before the audit began",
        "what those releases told is not counted, and would be told again",
        "restore the changelog from a replica; do not start a worker before",
    ),
    "state_differs": (
        "states that differ from what the releases imply",
        "the next release of such a user is built and charged for a belief that is not the adversary's",
        _RECOMPUTE,
    ),
    "wrong_watermark": (
        "states whose last input is not the one that the user's latest release came from",
        "an input could be dealt with twice, or not at all",
        _KEEP,
    ),
    "quarantined_rows": (
        "rows of the belief changelog that cannot be read",
        "nothing is released for these users; their history is not known",
        "restore the rows from a replica; a row of another model means that the model was exchanged",
    ),
    "wrong_policy": (
        "records that name another policy",
        "they were released under other settings than the ones given here",
        "audit with the settings that the pipeline ran with",
    ),
    "wrong_model": (
        "records that name another model",
        "beliefs and amounts have a meaning under their own model only",
        "audit with the model that the pipeline ran with",
    ),
    "wrong_segment": (
        "records whose public field says another segment than their user began in, or none",
        "each user is served by one model; what a release under another one tells is not what was charged",
        _KEEP,
    ),
    "state_segment": (
        "states under the model of another segment than the one that their user's releases say",
        "the next release of such a user is built and charged for the belief under another model",
        _RECOMPUTE,
    ),
    "unusable_record": (
        "records without a key, a step, an id, or a value of the alphabet",
        "they are not of this pipeline's making, and nothing can be said about what they tell",
        _KEEP,
    ),
    "strange_field": (
        "records with fields or headers that the settings do not make public",
        "whatever was not declared public must not leave the pipeline",
        "stop the pipeline and remove the records",
    ),
    "wrong_signs": (
        "records whose header `fields` is missing, or says what cannot become of these fields",
        "what was told about a user's fields is counted by it; these users cannot be followed any further",
        _KEEP,
    ),
    "wrong_report": (
        "records with a report of a field that is none of its mechanism at the level that the header names",
        "what such a report tells is not what was charged; a longer or a finer one may tell more",
        "stop the pipeline: a raw value may have been released",
    ),
    "withheld_report": (
        "records that show a field that their header calls withheld",
        "what is shown is not charged",
        "stop the pipeline and remove the records",
    ),
    "missing_report": (
        "records without a field that their header calls reported",
        "the user is charged for what nobody was told, or the record was cut",
        _KEEP,
    ),
    "repeated_member": (
        "records with an object that holds one member twice",
        "a reader sees one of the two; the other may show whatever was not to be released",
        "stop the pipeline and remove the records",
    ),
    "field_beyond_cap": (
        "reports of a field that a cap had no room for",
        "more was told about a field of these users in total than was promised",
        _RECOMPUTE,
    ),
    "field_needless": (
        "fields that were withheld, lowered or coarsened although there was room for more",
        "the promise allows that only where a total would pass its cap; utility was lost",
        _RECOMPUTE,
    ),
    "field_account": (
        "states whose account of a field differs from what was released",
        "the next reports of such a user are decided and charged by an account that is not the adversary's",
        _RECOMPUTE,
    ),
    "broker_time": (
        "records that bear the broker's time, or none",
        "windows of the budget are cut by event time, which such a topic does not keep",
        "set message.timestamp.type=CreateTime on the released topic",
    ),
    "two_partitions": (
        "users who appear in more than one partition",
        "each partition meters its own users, so these have a budget in each",
        "have the producers of the raw topic keep each user in one partition",
    ),
    "wrong_owner": (
        "a belief changelog that says that it belongs to something else",
        "its beliefs were made under another pipeline, topic, model, policy or partition count",
        "audit with the settings that the pipeline ran with",
    ),
    "identity": (
        "outcomes that do not add up to the inputs",
        "in = released + forecast + suppressed + dead letters + replays + waiting: an input was lost, or came twice",
        _KEEP,
    ),
    "group_ahead": (
        "the consumer group is ahead of the beliefs",
        "inputs before the group's offset would be skipped although no belief knows of them",
        "do not start a worker before the group's offsets are reset to those of the belief changelog",
    ),
    "counters": (
        "exported counters that disagree with the topics",
        "what the dashboards show is not what happened",
        "see whether the counters come from all workers of this pipeline; restart the workers, and audit again",
    ),
    **AGGREGATE_KINDS,
    **CROWD_KINDS,
}


@dataclass
class Finding:
    code: str
    count: int = 0
    places: list[str] = field(default_factory=list)
    detail: str = ""

    def add(self, count: int, places: Iterable[str] = ()) -> None:
        self.count += count
        self.places += list(places)[: max(0, PLACES_SHOWN - len(self.places))]

    @property
    def what(self) -> str:
        return KINDS[self.code][0] + (f" ({self.detail})" if self.detail else "")

    def as_json(self) -> dict[str, object]:
        _, why, fix = KINDS[self.code]
        return {
            "code": self.code,
            "count": self.count,
            "what": self.what,
            "where": self.places,
            "why": why,
            "fix": fix,
        }


class Findings:
    """Findings by code and detail, in the order in which they were first made."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Finding] = {}

    def add(self, code: str, count: int = 1, places: Iterable[str] = (), detail: str = "") -> None:
        if count > 0:
            self._found.setdefault((code, detail), Finding(code, detail=detail)).add(count, places)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def codes(self) -> set[str]:
        return {code for code, _ in self._found}
