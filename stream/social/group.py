"""One person and some friends, counted in window after window: what all windows together tell of the person.

Whoever attacks wonders whether a person lives in a region. All other people he knows; the person's friends he does not,
but friends mostly live in one region. Each window counts who lives there, with noise. Nobody moves, so windows repeat
what they count, and friends repeat what the person says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from beliefs.checks import require
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.outward import least_above
from beliefs.prior.releases import Beliefs
from stream.social.draws import Draws, Floats
from stream.social.measured import least_leak
from stream.social.world import APART, REGIONS, Integers, World

FRIENDS_MOST: Final = 9
_BITS: Final = np.array([0.0, 1.0])


class Seen(NamedTuple):
    """One window: the number released, how sure it makes, and the nats that it may tell after those before."""

    released: int
    belief: float
    charge: float


@dataclass(frozen=True)
class Told:
    """What windows told about one person, beside what was claimed for all of them.

    `believed` is the belief before any window, `may_tell` the sum of charges, `realised` what these outputs tell, and
    `shown` a lower bound from draws on what one window leaks.
    """

    believed: float
    truth: bool
    windows: Sequence[Seen]
    claimed: float
    may_tell: float
    realised: float
    one_window: float
    shown: float

    @property
    def is_beyond(self) -> bool:
        return self.shown > self.one_window or self.realised > self.claimed


@dataclass(frozen=True, eq=False)
class Group:
    """The law of a person's bit and his friends' bits: first the person, then each friend given him."""

    lives: float
    together: float
    friends: int

    def __post_init__(self) -> None:
        require(0 <= self.friends <= FRIENDS_MOST, f"a group has at most {FRIENDS_MOST} friends")

    @classmethod
    def of(cls, world: World, person: int, friends: int) -> Group:
        """With so many of the person's friends, all of them at most, and the largest region's share of people."""
        share = float((world.region == world.region[person]).mean())
        return cls(share, 1.0 - APART, min(friends, int(world.degrees()[person]), FRIENDS_MOST))

    @property
    def rows(self) -> Floats:
        """rows[person's bit] is the law of a friend's; as many friends live there as people do."""
        other = self.lives * (1.0 - self.together) / (1.0 - self.lives)
        return np.array([[1.0 - other, other], [1.0 - self.together, self.together]])

    def law(self) -> TableLaw:
        joint = np.array([1.0 - self.lives, self.lives])
        for friend in range(self.friends):
            joint = joint[..., None] * self.rows.reshape(2, *(1,) * friend, 2)
        return TableLaw(joint / joint.sum(), (_BITS,) * (1 + self.friends))

    def scale(self, epsilon: Fraction, *, dependent: bool) -> float:
        """Of the noise that claims epsilon: for the person by himself, or for all of the group moving together.

        The latter holds whatever is believed, so that windows add up.
        """
        return least_above((1 + self.friends if dependent else 1) / epsilon)

    def watch(self, epsilon: Fraction, windows: int, seed: int, *, dependent: bool, draws: int = 4000) -> Told:
        """So many windows with noise that claims epsilon each, and draws to show what one of them leaks."""
        drawn, scale, law = Draws.of(seed), self.scale(epsilon, dependent=dependent), self.law()
        truth = bool(drawn.even("the person", 1)[0] < self.lives)
        people = int(truth) + int((drawn.even("friends", self.friends) < self.rows[int(truth), 1]).sum())
        released = people + noise(drawn, "windows", windows, scale)
        query, beliefs, seen = Query.of(law), Beliefs(law, 0), list[Seen]()
        for each in released.tolist():
            charge = beliefs.charge(query, scale)
            beliefs.condition(query, scale, float(each))
            seen.append(Seen(each, self._belief(beliefs), charge))
        one, other = (self._outputs(drawn, bit, draws, scale) for bit in (1, 0))
        claimed = least_above(epsilon)
        may_tell = math.fsum(each.charge for each in seen)
        return Told(
            self.lives,
            truth,
            seen,
            windows * claimed,
            may_tell,
            min(may_tell, beliefs.realised()),
            claimed,
            least_leak(one, other),
        )

    def _belief(self, beliefs: Beliefs) -> float:
        odds = math.log(self.lives / (1.0 - self.lives)) + float(beliefs.likelihood[1] - beliefs.likelihood[0])
        return 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0

    def _outputs(self, drawn: Draws, bit: int, draws: int, scale: float) -> Integers:
        friends = (drawn.even(f"friends {bit}", draws, max(1, self.friends)) < self.rows[bit, 1])[:, : self.friends]
        counted: Integers = bit + friends.sum(axis=1) + noise(drawn, f"draws {bit}", draws, scale)
        return counted


def noise(drawn: Draws, name: str, count: int, scale: float) -> Integers:
    """Whole numbers z with chances in proportion to e^(-|z|/scale): the difference of two geometric ones."""
    one, two = np.floor(-scale * np.log(drawn.even(name, 2, count))).astype(np.int64)
    found: Integers = one - two
    return found


def somebody_with_friends(world: World, friends: int) -> int:
    """The first person who has at least so many."""
    enough = np.flatnonzero(world.degrees() >= friends)
    require(enough.size > 0, "nobody has so many friends")
    return int(enough[0])


def region_of(world: World, person: int) -> str:
    return REGIONS[int(world.region[person])].name
