"""A law of dependent people from public or past events: contributions of households, of windows, of friends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.laws.dependence import Blocks, Members, OverWindows, People
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.law_file import LawFile, parse, serialise
from beliefs.laws.learning import block_table, covariance_of, nearness_of, pair_table, window_chain
from beliefs.laws.rows import divided
from beliefs.laws.tree import TreeLaw
from stream.errors import CannotFit
from stream.fitting.law_asked import BLOCKS, FRIENDS, GAUSSIAN, TREE, WINDOWS, LawTask
from stream.fitting.law_reading import Contributions, LawFacts, Persons, number, read_records, whole
from stream.fitting.progress import Progress

PLACES_MAX: Final = 1_024


@dataclass(frozen=True)
class FittedLaw:
    data: bytes
    file: LawFile
    facts: LawFacts
    task: LawTask


def fit_law(task: LawTask, progress: Progress) -> FittedLaw:
    """The file is parsed back before it counts as one."""
    facts = LawFacts()
    progress.begin("how people depend on each other")
    learn = {BLOCKS: _blocks, WINDOWS: _windows, GAUSSIAN: _gaussian, FRIENDS: _friends, TREE: _tree}[task.kind]
    try:
        found = learn(task, facts, progress)
    except Invalid as problem:
        raise CannotFit(
            "The law cannot be learnt.",
            where=task.source.name,
            why=f"{problem.field} {problem.reason}",
            fix="see what the reason says of the records, or ask for a smaller law: a lower --most, larger cells",
        ) from None
    learnt_from = {
        "source": task.source.name,
        "sample": task.sample,
        "rows": facts.rows,
        "users": facts.users,
        "refused": facts.refusals.total,
        **facts.figures,
    }
    data = serialise(LawFile(found.law, found.names, found.dependence, learnt_from))
    return FittedLaw(data, parse(data), facts, task)


def _blocks(task: LawTask, facts: LawFacts, progress: Progress) -> LawFile:
    read = Contributions(task, facts, progress)
    households: dict[bytes, list[dict[int, int]]] = {}
    for person in read.amounts:
        households.setdefault(read.components[person], []).append(read.clipped(person))
    seen: dict[int, list[Counter[tuple[int, ...]]]] = {}
    for members in households.values():
        met = sorted(set().union(*members))
        windows = Counter(tuple(sorted(amounts.get(window, 0) for amounts in members)) for window in met)
        windows[(0,) * len(members)] += read.count - len(met)
        seen.setdefault(len(members), []).append(+windows)
    found = {size: block_table(each, size, task.most, task.failure / len(seen)) for size, each in sorted(seen.items())}
    facts.figures |= {"windows": read.count, "failure": task.failure}
    facts.figures["components"] = {str(size): len(each) for size, each in sorted(seen.items())}
    facts.figures["radius"] = {str(size): each.radius for size, each in found.items()}
    assert task.component is not None, "the kind needs it"
    rule = Members("field", f"$.{'.'.join(str(step) for step in task.component.steps)}")
    return LawFile(dependence=Blocks({size: each.law for size, each in found.items()}, rule))


def _windows(task: LawTask, facts: LawFacts, progress: Progress) -> LawFile:
    read = Contributions(task, facts, progress)
    if read.count < 2:
        why = "all records lie in one window"
        raise CannotFit("The law cannot be learnt.", task.source.name, why, "take shorter windows, or more records")
    steps, firsts = np.zeros((task.most + 1,) * 2), np.zeros(task.most + 1)
    for person in read.amounts:
        row = np.zeros(read.count, dtype=np.int64)
        for window, amount in read.clipped(person).items():
            row[window] = amount
        firsts[row[0]] += 1.0
        np.add.at(steps, (row[:-1], row[1:]), 1.0)
    found = window_chain(steps, firsts, task.length, task.failure)
    facts.figures |= {"windows": read.count, "failure": task.failure}
    facts.figures["radius"] = {"start": found.start, "rows": found.rows.tolist()}
    return LawFile(dependence=OverWindows(found.law))


def _gaussian(task: LawTask, facts: LawFacts, progress: Progress) -> LawFile:
    rows: list[list[float]] = []

    def take(values: list[Any]) -> str | None:
        numbers = [number(value) for value in values]
        for each in numbers:
            if isinstance(each, str):
                return each
        rows.append([float(each) for each in numbers])
        return None

    read_records(task.source, task.values, facts, progress, take)
    names = tuple(".".join(str(step) for step in path.steps) for path in task.values)
    facts.figures["records"] = len(rows)
    return LawFile(covariance_of(np.array(rows), task.span), names)


def _friends(task: LawTask, facts: LawFacts, progress: Progress) -> LawFile:
    people = Persons(task, facts, progress, number)
    places, at = np.unique(np.array(people.values), axis=0, return_inverse=True)
    if len(places) > PLACES_MAX:
        raise Invalid("places", f"are {len(places):,} different ones, more than {PLACES_MAX:,}: round them to cells")
    distances = city_blocks(places)
    near = nearness_of(people.friends, at.reshape(-1), distances)
    law = FriendsLaw(len(people.values), people.friends, distances, near.offset, near.exponent, near.people)
    facts.figures |= {"places": len(places), "offset": near.offset, "exponent": near.exponent, "score": near.score}
    facts.figures["largest_component"] = law.components().largest
    return LawFile(dependence=People(law, tuple(people.numbers)))


def _tree(task: LawTask, facts: LawFacts, progress: Progress) -> LawFile:
    people = Persons(task, facts, progress, whole)
    given = [int(value) for (value,) in people.values]
    values = np.minimum(given, task.most)
    facts.clipped = sum(value > task.most for value in given)
    apart = FriendsLaw(values.size, people.friends, np.zeros((1, 1)), 1.0, 0.0)
    pair = pair_table(values[people.friends], task.most + 1)
    alone = pair.sum(axis=1)
    nothing = np.zeros(values.size, dtype=np.int64)
    domain = np.arange(task.most + 1.0)
    law = TreeLaw(apart.tree().parents, alone[None] / alone.sum(), divided(pair)[None], nothing, domain)
    facts.figures["largest_component"] = law.components().largest
    return LawFile(dependence=People(law, tuple(people.numbers)))
