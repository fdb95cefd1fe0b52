"""A model from noisy counts: what it tells about any one user is at most an epsilon of its own. Proof:
beliefs/learning/noise.md.

The alphabet is declared, each user counts with a bounded number of events, whole-number noise goes onto every count,
and everything after that is computed from the noisy counts.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from beliefs.alphabet import Alphabet
from beliefs.chain import Chain, Indices
from beliefs.checks import require
from beliefs.learning.counts import Counting
from beliefs.learning.noise import Below, below_from_bits, two_sided_geometric
from beliefs.learning.private import Noisy, PrivateLaws, private_laws
from beliefs.learning.written import TAIL_FROM
from beliefs.model_file import Model, parse, serialise
from mechanisms.coins import KEY_BYTES, keystream
from stream.errors import CannotFit
from stream.fitting.clock import Clock, Order
from stream.fitting.doubts import doubts_of
from stream.fitting.progress import Progress
from stream.fitting.reading import Events, Reading, Refusals, Users
from stream.fitting.task import Facts, Task
from stream.settings.kinds import write_duration

EPSILON_LEAST: Final = Fraction(1, 1000)
EPSILON_MOST: Final = Fraction(32)
_AT_ONCE: Final = 4096


@dataclass(frozen=True)
class Privacy:
    """`epsilon` for a user being there or not; `events` of each user count."""

    epsilon: Fraction
    events: int

    @property
    def rate(self) -> Fraction:
        return self.epsilon / self.events


@dataclass(frozen=True)
class OwnView:
    """What the run saw. It is not part of the release: whoever starts the run may read it, nobody else."""

    rows: int
    users: int
    events: int
    counted: int
    refusals: Refusals
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class FittedPrivate:
    data: bytes
    model: Model
    laws: PrivateLaws
    privacy: Privacy
    task: Task
    own: OwnView


class Bits:
    """Even bits from 32 bytes that nobody keeps."""

    def __init__(self, seed: bytes) -> None:
        require(len(seed) == KEY_BYTES, "a seed has 32 bytes")
        self._seed = seed
        self._next = 0
        self._pool = 0
        self._width = 0

    def __call__(self, width: int) -> int:
        while self._width < width:
            block = keystream(self._seed, self._next, _AT_ONCE).astype("<u8").tobytes()
            self._pool |= int.from_bytes(block, "little") << self._width
            self._width += 8 * len(block)
            self._next += _AT_ONCE
        drawn = self._pool & ((1 << width) - 1)
        self._pool >>= width
        self._width -= width
        return drawn


class FirstEvents:
    """Lets each user's first events through, and none after them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = np.zeros(0, dtype=np.int64)

    def of(self, events: Events, apart: Indices | None) -> tuple[Events, Indices | None]:
        if events.users.size == 0:
            return events, apart
        most = int(events.users.max())
        if most >= self._taken.size:
            self._taken = np.concatenate([self._taken, np.zeros(max(most + 1, 1024), dtype=np.int64)])
        order = np.argsort(events.users, kind="stable")
        users = events.users[order]
        first = np.append(True, users[1:] != users[:-1])
        places = np.arange(users.size)
        rank = self._taken[users] + places - np.maximum.accumulate(np.where(first, places, 0))
        kept = order[rank < self._most]
        np.add.at(self._taken, events.users[kept], 1)
        return Events(*(column[kept] for column in events)), None if apart is None else apart[kept]


def fit_private(task: Task, privacy: Privacy, progress: Progress, seed: bytes | None = None) -> FittedPrivate:
    """Count, put noise onto the counts, and learn from these. Without a seed there is one from the operating system."""
    alphabet = task.alphabet
    if alphabet is None or alphabet.size >= TAIL_FROM or task.order not in (None, 1):
        raise _not_private(task, alphabet)
    table, own = _count(task, alphabet, privacy, progress)
    progress.say("drawing the noise")
    below = below_from_bits(Bits(secrets.token_bytes(KEY_BYTES) if seed is None else seed))
    noisy = Noisy(with_noise(table, privacy.rate, below), float(privacy.rate))
    laws = private_laws(noisy, task.failure)
    chain = Chain.from_dense(laws.laws[0], laws.laws[1:])
    data = serialise(alphabet, chain, _learnt_from(task, privacy, noisy, laws))
    return FittedPrivate(data, parse(data), laws, privacy, task, own)


def with_noise(table: Indices, rate: Fraction, below: Below) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Every count with noise of its own, those that are 0 as well."""
    noise = np.array([[two_sided_geometric(rate, below) for _ in row] for row in table], dtype=np.int64)
    return (table + noise).astype(np.float64).reshape(table.shape[0], table.shape[1])


def _count(task: Task, alphabet: Alphabet, privacy: Privacy, progress: Progress) -> tuple[Indices, OwnView]:
    users = Users(1)
    counting, first = Counting(alphabet.size, 1), FirstEvents(privacy.events)
    clock = None if task.step is None else Clock(task.step)
    progress.begin("how values follow one another")
    reading = Reading(task.source, task.record, alphabet, users, progress)
    seen = counted = 0
    order = Order()
    for events in reading.events():
        order.look(events)
        kept, apart = (events, None) if clock is None else clock.of(events)
        seen += kept.users.size
        kept, apart = first.of(kept, apart)
        counted += kept.users.size
        counting.add(kept.users, kept.values, users.groups_of(kept.users), apart)
    counts = counting.counts()
    table = np.zeros((alphabet.size + 1, alphabet.size), dtype=np.int64)
    follows = counts.pasts > 0
    table[counts.pasts[follows], counts.values[follows]] = counts.counts[follows]
    table[0] = counts.starts[0]
    facts = Facts(reading.rows, seen, len(users), backwards=order.backwards, once=order.once, refusals=reading.refusals)
    facts.last_time = order.last_time
    doubts = tuple(doubts_of(task, facts, alphabet))
    return table, OwnView(reading.rows, len(users), seen, counted, reading.refusals, doubts)


def privacy_of(epsilon: str, events: int) -> Privacy:
    """From decimals as they are written, so that no double comes between."""
    try:
        asked = Fraction(epsilon)
    except (ValueError, ZeroDivisionError):
        asked = Fraction(0)
    if not EPSILON_LEAST <= asked <= EPSILON_MOST:
        raise CannotFit(
            "What is asked for cannot be done.",
            where="--private-epsilon",
            why=f"it is no number from {float(EPSILON_LEAST):g} to {float(EPSILON_MOST):g}",
            fix="write for example --private-epsilon 1.0",
        )
    return Privacy(asked, events)


def _not_private(task: Task, alphabet: Alphabet | None) -> CannotFit:
    why = f"order {task.order} is asked for, and only order 1 is released with noise"
    fix = "leave --order away"
    if alphabet is None:
        why = "the values are to be learnt, and which values there are tells about the users who had them"
        fix = "declare the values, from something else than these data: --alphabet FILE, --integers or --bins"
    elif alphabet.size >= TAIL_FROM:
        why = f"there are {alphabet.size} values, and noise on each pair of more than {TAIL_FROM - 1} drowns the counts"
        fix = "declare fewer values or wider cells; or learn from a public sample"
    return CannotFit("No private model can be learnt.", where=task.source.name, why=why, fix=fix)


def _learnt_from(task: Task, privacy: Privacy, noisy: Noisy, laws: PrivateLaws) -> dict[str, object]:
    """Of the data only what the noisy counts say."""
    return {
        "sample": "private",
        "private_epsilon": str(privacy.epsilon),
        "events_of_a_user": privacy.events,
        "step": "event" if task.step is None else write_duration(task.step),
        "order": 1,
        "noisy_users": int(noisy.table[0].sum()),
        "noisy_transitions": int(noisy.table[1:].sum()),
        "radius": {
            "failure": task.failure,
            "worst_row": round(float(laws.radii[1:].max()), 6),
            "start": round(float(laws.radii[0]), 6),
        },
    }
