"""The way from a source to a model: what the values are, how often they follow one another, which order predicts best,
how sure that is, and the file.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from beliefs.alphabet import Alphabet, Categories
from beliefs.checks import Invalid
from beliefs.learning.choice import Chosen, choose
from beliefs.learning.counts import Counting, Counts, largest_order
from beliefs.learning.entries import factor_of
from beliefs.learning.levels import levels_of
from beliefs.learning.radius import Radii, radii_of
from beliefs.learning.written import TAIL_FROM, Learnt, keepings_of, learn
from beliefs.model_file import parse, serialise, serialise_contexts
from stream.errors import CannotFit
from stream.fitting.alphabets import OpenTexts, closed_integers, closed_texts
from stream.fitting.clock import Clock, Order
from stream.fitting.doubts import REFUSED_SHARE
from stream.fitting.progress import Progress
from stream.fitting.reading import Events, Reading, Refusals, Users, open_alphabet, told
from stream.fitting.reasons import mending
from stream.fitting.task import GROUPS, Facts, Fitted, Task
from stream.settings.kinds import write_duration

_MORE: Final = (
    "give events of more users, each user's in their order; and see that --user, --value and the values declared are "
    "those of the records"
)


def fit(task: Task, progress: Progress) -> Fitted:
    """Learn, and write what was learnt; the file is parsed back before it counts as one."""
    facts, users = Facts(), Users(GROUPS)
    alphabet = task.alphabet if task.alphabet is not None else _survey(task, users, facts, progress)
    counts = _count(task, alphabet, users, facts, progress)
    progress.say("choosing the order and the smoothing")
    levels, rows = levels_of(counts)
    if levels and task.order is not None and task.order > len(levels) - 1:
        raise _order_too_long(task, len(levels) - 1)
    keepings = keepings_of(levels, alphabet.size, task.least)
    try:
        chosen = choose(levels, rows, alphabet.size, keepings, task.order)
    except Invalid as problem:
        raise _nothing_to_judge(task, facts, problem) from None
    learnt = learn(levels, chosen, keepings, alphabet.size, counts.starts.sum(axis=0))
    level = levels[max(learnt.order, 1)]
    radii = radii_of(level, learnt.deepest, counts, learnt.start, task.failure)
    factor = factor_of(level, learnt.deepest, counts, learnt.start, task.failure)
    data = _written(alphabet, learnt, _learnt_from(task, facts, chosen, learnt, radii))
    return Fitted(data, parse(data), chosen, learnt, radii, factor, level.pasts, facts, task)


def _survey(task: Task, users: Users, facts: Facts, progress: Progress) -> Alphabet:
    """The first pass: which values there are, and where it matters how many users had them."""
    alphabet = open_alphabet(task.source, task.record)
    progress.begin("which values there are")
    reading = Reading(task.source, task.record, alphabet, users, progress)
    owners: dict[int, set[int]] = {}
    for events in reading.events():
        if task.other is not None:
            _note_owners(events, owners, task.rare)
    found = alphabet.lookup
    if not isinstance(alphabet, OpenTexts):
        if task.other is not None:
            raise CannotFit(
                "Integers cannot be pooled.",
                task.source.name,
                "--other is a text beside them",
                "declare the integers that are meant: --integers LOW:HIGH",
            )
        return closed_integers([value for value in found if isinstance(value, int)])
    seen = {text: len(owners.get(number, ())) for text, number in found.items() if isinstance(text, str)}
    closed, facts.pooled = closed_texts(seen, task.rare, task.other)
    return closed


def _note_owners(events: Events, owners: dict[int, set[int]], rare: int) -> None:
    pairs = np.unique(np.stack([events.values, events.users]), axis=1)
    for value, user in pairs.T.tolist():
        those = owners.setdefault(value, set())
        if len(those) < rare:
            those.add(user)


def _count(task: Task, alphabet: Alphabet, users: Users, facts: Facts, progress: Progress) -> Counts:
    """The pass that counts."""
    wanted = task.most_order if task.order is None else task.order
    if alphabet.size >= TAIL_FROM:
        wanted = min(wanted, 1)
    wanted = max(1, min(wanted, largest_order(alphabet.size, GROUPS)))
    counting = Counting(alphabet.size, wanted, GROUPS)
    clock, order = None if task.step is None else Clock(task.step), Order()
    progress.begin("how values follow one another")
    reading = Reading(task.source, task.record, alphabet, users, progress, Refusals())
    try:
        for events in reading.events():
            order.look(events)
            apart = None
            if clock is not None:
                events, apart = clock.of(events)
            facts.events += events.users.size
            counting.add(events.users, events.values, users.groups_of(events.users), apart)
        counts = counting.counts()
    except Invalid as problem:
        raise CannotFit(
            "The transitions do not fit into memory.",
            task.source.name,
            f"values {problem.reason}",
            "pool the values of few users: --rare 20 --other other; or declare wider cells: --bins",
        ) from None
    facts.rows, facts.users, facts.refusals, facts.backwards = (
        reading.rows,
        len(users),
        reading.refusals,
        order.backwards,
    )
    facts.once, facts.last_time = order.once, order.last_time
    facts.order_given_up = wanted if counts.order < wanted else None
    if clock is not None:
        facts.again, facts.late, facts.parted = clock.again, clock.late, clock.parted
    return counts


def _order_too_long(task: Task, possible: int) -> CannotFit:
    return CannotFit(
        f"Order {task.order} cannot be learnt here.",
        where=task.source.name,
        why=f"with so many values or pasts, {possible} is the longest",
        fix=f"write --order {possible}, or leave --order away; or pool values, or declare wider cells",
    )


def _nothing_to_judge(task: Task, facts: Facts, problem: Invalid) -> CannotFit:
    why = f"{facts.events} events of {facts.users} users {problem.reason}"
    if facts.once == facts.users > 1:
        why = f"{facts.events} events of {facts.users} users: each has one event, and nothing follows it"
    mend = mending(facts.refusals.counts) if facts.refusals.total > REFUSED_SHARE * facts.rows else ""
    return CannotFit(
        "There is too little to learn from.",
        where=task.source.name,
        why=why
        + (f"; of {facts.rows} rows were refused: {told(facts.refusals, task.source.kind)}" if mend else "")
        + (f"; {facts.parted:,} times a step or more was skipped" if facts.parted else ""),
        fix=("choose a longer --step; or " if facts.parted else "") + (f"{mend}; or " if mend else "") + _MORE,
    )


def _written(alphabet: Alphabet, learnt: Learnt, learnt_from: dict[str, object]) -> bytes:
    if isinstance(alphabet, Categories):
        alphabet = Categories(alphabet.values)  # one that pools is written like any other
    if learnt.chain is not None:
        return serialise(alphabet, learnt.chain, learnt_from)
    return serialise_contexts(alphabet, learnt.order, learnt.start, learnt.laws, learnt_from)


def _learnt_from(task: Task, facts: Facts, chosen: Chosen, learnt: Learnt, radii: Radii) -> dict[str, object]:
    """What stands in the model file, which is public: amounts, and no value but those of the alphabet."""
    best = chosen.scores[learnt.order]
    return {
        "source": task.source.name,
        "sample": task.sample,
        "events": facts.events,
        "users": facts.users,
        "refused": facts.refusals.total,
        "step": "event" if task.step is None else write_duration(task.step),
        "order": learnt.order,
        "held_out": {
            "nats_an_event": [round(score.loss, 6) for score in chosen.scores],
            "standard_error": round(best.error, 6),
            "accuracy": round(best.accuracy, 6),
        },
        "smoothing": [str(strength) for strength in chosen.strengths[: learnt.order + 1]],
        "radius": {
            "failure": radii.failure,
            "worst_row": round(radii.worst, 6),
            "average_row": round(radii.average, 6),
            "start": round(radii.start, 6),
        },
    }
