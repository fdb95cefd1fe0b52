"""A model from the released topic alone: nobody is asked for anything that was not released.

What each release says about its value is worked out as the auditor does: by following the user's releases under the
model in use. That gives the exact column of the channel for every mechanism that releases value by value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from beliefs.chain import Chain, Indices
from beliefs.learning.hidden import PRIOR, Heard, Hidden, closed_form, learn_hidden, spread_of, told_by
from beliefs.model_file import Model, parse, serialise
from stream.audit.book import OUTCOME, RELEASE, STEP, SYMBOL, USER, new_book, new_desk, new_verdicts
from stream.audit.exact import write_columns
from stream.audit.field_joint import joint_of
from stream.audit.public import Public
from stream.audit.records import OTHER_MODEL, OTHER_POLICY, UNUSABLE, Reader
from stream.audit.task import public_of
from stream.audit.windows import rows_of
from stream.errors import CannotFit
from stream.fitting.progress import Progress
from stream.fitting.topic import Topic
from stream.settings.model import Settings

VALUES_MOST: Final = 128
EVENTS_MOST: Final = 5_000_000
"""Events that are kept, 40 bytes each; users who come when there are so many are left out."""
COLUMNS_MOST: Final = 50_000_000
"""Different columns times values, 8 bytes each."""
USERS_LEAST: Final = 16
_GROUPS: Final = 8
_OF_MODEL: Final = 0.1


@dataclass
class Gathered:
    """What was read: how many users and events, and how many users could not be followed."""

    users: int = 0
    events: int = 0
    forecasts: int = 0
    left_out: int = 0
    too_many: int = 0


@dataclass(frozen=True)
class FittedHidden:
    data: bytes
    model: Model
    hidden: Hidden
    in_use: float
    """The mean log-likelihood of an event under the model in use."""
    spread: np.ndarray[Any, np.dtype[np.float64]]
    gathered: Gathered
    settings: Settings
    cut: bool


@dataclass
class _Columns:
    """Different columns, each kept once."""

    values: int
    known: dict[bytes, int] = field(default_factory=dict)

    def number_of(self, column: np.ndarray[Any, np.dtype[np.float64]]) -> int:
        if len(self.known) * self.values > COLUMNS_MOST:
            raise CannotFit(
                "There are too many different releases to learn from.",
                why=f"more than {COLUMNS_MOST // self.values:,} different channels were in use",
                fix="learn from a shorter released topic, or from randomised_response, whose channel does not change",
            )
        return self.known.setdefault(column.tobytes(), len(self.known))

    def table(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.frombuffer(b"".join(self.known)).reshape(-1, self.values).copy()


def fit_released(settings: Settings, model: Model, topic: Topic, progress: Progress) -> FittedHidden:
    """Learn a chain of order 1 from what the pipeline of these settings has released."""
    public = public_of(settings, model, joint_of(settings))
    refuse_unless_followable(public, model)
    gathered = Gathered()
    events = _read(public, topic, gathered, progress)
    progress.say("working out what each release tells")
    heard, pairs = _heard(public, events, gathered)
    if heard.users < USERS_LEAST:
        raise _too_few(topic, gathered)
    start, matrix = _first_guess(settings, model, heard, pairs)
    hidden = learn_hidden(
        heard, start, matrix, lambda rounds, told: progress.meanwhile(f"step {rounds}: {told:.6f} nats")
    )
    progress.say("learning again without each group of users, to see how sure it is")
    spread = spread_of(heard, np.arange(heard.users) % _GROUPS, hidden)
    in_use = told_by(heard, model.chain.start, dense(model.chain))
    chain = Chain.from_dense(hidden.start, hidden.matrix)
    data = serialise(model.alphabet, chain, _learnt_from(settings, model, gathered, hidden, in_use, spread))
    return FittedHidden(data, parse(data), hidden, in_use, spread, gathered, settings, topic.is_cut)


def refuse_unless_followable(public: Public, model: Model) -> None:
    kind = ""
    if public.windows is not None:
        kind = "values are released in windows, whose channel is one of whole sequences"
    elif public.rules.interval > 0:
        kind = "the model in use goes by the clock"
    elif model.order > 1:
        kind = "the model in use remembers more than the last value"
    elif model.chain.has_tail or model.alphabet.size > VALUES_MOST:
        kind = f"there are more than {VALUES_MOST} values"
    if kind:
        raise CannotFit(
            "No model can be learnt from these releases.",
            where=public.released_topic,
            why=f"{kind}; single releases under a model of order 1, event by event, are known",
            fix="learn from a public or consenting sample instead: --from FILE --sample public",
        )


def dense(chain: Chain) -> np.ndarray[Any, np.dtype[np.float64]]:
    matrix = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        following, chances = chain.row(state)
        matrix[state, following] = chances
    return matrix


def _read(public: Public, topic: Topic, gathered: Gathered, progress: Progress) -> list[Indices]:
    """The usable events of each user, in their order."""
    progress.begin("releases")
    found: list[Indices] = []
    readers: dict[int, Reader] = {}
    parts: dict[int, list[Indices]] = {}
    kept = 0
    for partition, records, share in topic.fetched():
        reader = readers.setdefault(partition, Reader(public.form))
        known = len(reader.users)
        parsed = reader.read(records)
        ours = parsed.form & (UNUSABLE | OTHER_POLICY | OTHER_MODEL) == 0
        if kept > EVENTS_MOST:
            ours &= parsed.user < known
        events = rows_of(parsed, np.flatnonzero(ours)).events
        kept += events.shape[0]
        parts.setdefault(partition, []).append(events)
        progress.read(len(records), sum(len(one.users) for one in readers.values()), share)
    for partition, reader in readers.items():
        events = np.concatenate(parts[partition])
        events = events[np.argsort(events[:, USER], kind="stable")]
        users = [one for one in np.split(events, np.flatnonzero(np.diff(events[:, USER])) + 1) if one.shape[0]]
        gathered.too_many += len(reader.users) - len(users)
        found += users
    return found


def _heard(public: Public, users: Sequence[Indices], gathered: Gathered) -> tuple[Heard, Indices]:
    """The column of each event, and how often one release followed another at the very next step."""
    desk = new_desk(public.states, public.symbols, public.distance)
    columns = _Columns(public.symbols)
    which: list[int] = []
    begins = [0]
    pairs = np.zeros((public.symbols, public.symbols), dtype=np.int64)
    for given in users:
        events = np.ascontiguousarray(given[:, : OUTCOME + 1])
        events[:, USER] = 0
        table = np.ones((int(events[:, STEP].max()), public.symbols))
        book, verdicts = new_book(1, public.states), new_verdicts(events.shape[0])
        if not write_columns(public.rules, public.law, desk, book, events, verdicts, table):
            gathered.left_out += 1
            continue
        which += [columns.number_of(column) for column in table]
        begins.append(len(which))
        gathered.events += events.shape[0]
        told = events[events[:, OUTCOME] == RELEASE]
        gathered.forecasts += events.shape[0] - told.shape[0]
        next_to = np.diff(told[:, STEP]) == 1
        np.add.at(pairs, (told[:-1, SYMBOL][next_to], told[1:, SYMBOL][next_to]), 1)
    gathered.users = len(begins) - 1
    heard = Heard(columns.table(), np.array(which, dtype=np.int64), np.array(begins, dtype=np.int64))
    return heard, pairs


def _first_guess(settings: Settings, model: Model, heard: Heard, pairs: Indices) -> tuple[Any, Any]:
    """The closed form where the channel never changes; otherwise the model in use, a little of everything mixed in."""
    if settings.mechanism.name == "randomised_response" and pairs.sum() > 0 and model.alphabet.size > 1:
        widest = heard.columns[int(np.argmax(heard.columns.max(axis=1) - heard.columns.min(axis=1)))]
        if widest.max() > widest.min():
            return closed_form(pairs.astype(np.float64), float(widest.max()), float(widest.min()))
    size = model.alphabet.size
    return (1 - _OF_MODEL) * model.chain.start + _OF_MODEL / size, (1 - _OF_MODEL) * dense(
        model.chain
    ) + _OF_MODEL / size


def _too_few(topic: Topic, gathered: Gathered) -> CannotFit:
    return CannotFit(
        "There are too few releases to learn from.",
        where=topic.name,
        why=f"{gathered.users} users could be followed, and at least {USERS_LEAST} are needed; {gathered.left_out} "
        "others have releases that the settings and the model in use do not explain",
        fix="name the settings and the model that the topic was released with; wait for more users",
    )


def row_errors(fitted: FittedHidden) -> list[float]:
    """Of each row about how far it is off in total variation: half the sum of the standard errors of its entries."""
    return [min(1.0, float(row.sum()) / 2) for row in fitted.spread[1:]]


def _learnt_from(
    settings: Settings,
    model: Model,
    gathered: Gathered,
    hidden: Hidden,
    in_use: float,
    spread: np.ndarray[Any, np.dtype[np.float64]],
) -> Mapping[str, object]:
    return {
        "source": settings.kafka.released_topic,
        "sample": "released",
        "events": gathered.events,
        "users": gathered.users,
        "mechanism": settings.mechanism.name,
        "epsilon": settings.mechanism.epsilon,
        "model_in_use": model.short,
        "rounds": hidden.rounds,
        "prior": PRIOR,
        "nats_an_event": round(-hidden.told, 6),
        "nats_an_event_in_use": round(-in_use, 6) if np.isfinite(in_use) else None,
        "typical_error": round(max(min(1.0, float(row.sum()) / 2) for row in spread[1:]), 6),
    }
