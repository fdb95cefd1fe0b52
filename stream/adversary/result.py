"""What an attack came to: figures for programs, over all users and never about one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from stream.adversary.hindsight import Hindsight
from stream.attack.bounds import interval_of
from stream.attack.reidentify import Attempt
from stream.attack.scores import FAR_U, GAIN_U, HEARD_U, ROUNDING, Scores
from stream.audit.amounts import Floats
from stream.audit.sample import quantiles
from stream.names import EXIT_DONE, EXIT_FAILED


@dataclass(frozen=True)
class Result:
    """`accounts` and the rows of `scores.users` belong to `keys`, which are for `exposed` alone. `facts` is how many
    raw values the adversary was given; those that fit no released event are of no use to it.
    """

    pipeline: str
    scores: Scores
    accounts: Floats = field(repr=False)
    keys: list[bytes] = field(repr=False)
    lost: int
    unusable: int
    waiting: int
    reads_by_the_model: bool
    facts: int = 0
    hindsight: Hindsight | None = None
    attempts: Mapping[str, Mapping[str, Attempt]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def beyond_the_ledger(self) -> int:
        """Users about one of whose values the releases said more than the ledger's account of them."""
        far = int((self.scores.users[:, FAR_U] > self.accounts + ROUNDING).sum())
        return max(far, 0 if self.hindsight is None else self.hindsight.beyond(self.accounts))

    @property
    def stays_under_the_bound(self) -> bool:
        return not (self.scores.too_often or self.scores.beyond or self.beyond_the_ledger)

    @property
    def exit_status(self) -> int:
        return EXIT_DONE if self.stays_under_the_bound else EXIT_FAILED

    def furthest(self) -> list[float]:
        """Of each user who was told anything, by how much the furthest value was moved, in nats."""
        users = self.scores.users
        return [float(far) for far in users[users[:, HEARD_U] > 0, FAR_U]]

    def gains(self) -> dict[str, dict[str, float]] | None:
        """Quantiles over users who were told anything, in nats."""
        heard = self.scores.users[:, HEARD_U] > 0
        if not heard.any():
            return None
        users = self.scores.users[heard]
        found = {
            "mean_gain": quantiles((users[:, GAIN_U] / users[:, HEARD_U]).tolist()),
            "furthest_value": quantiles(self.furthest()),
        }
        if self.hindsight is not None and self.hindsight.far:
            found["furthest_value_in_hindsight"] = quantiles([far for _, far, _ in self.hindsight.far])
        return found | {"ledger": quantiles(self.accounts[heard].tolist())}

    def exposed(self, count: int, *, are_pseudonyms: bool) -> list[tuple[str, float, float]]:
        """The users about whom most was learnt: a pseudonym, the furthest value, the ledger's account. For the eyes of
        whoever asked, and for no file."""
        far = self.scores.users[:, FAR_U].copy()
        for user, hind, _ in self.hindsight.far if self.hindsight is not None else ():
            far[user] = max(far[user], hind)
        order = sorted(range(len(self.keys)), key=lambda user: (-far[user], user))[:count]
        return [
            (pseudonym_of(self.keys[user], is_one=are_pseudonyms), float(far[user]), float(self.accounts[user]))
            for user in order
        ]

    def as_json(self) -> dict[str, Any]:
        scores, hindsight = self.scores, self.hindsight
        return {
            "verdict": "under the bound" if self.stays_under_the_bound else "beyond the bound",
            "pipeline": self.pipeline,
            "reader": "knows the model" if self.reads_by_the_model else "believes or knows something else",
            "events": {
                "released": scores.released,
                "told_nothing": scores.silent,
                "known_beforehand": scores.given,
                "facts_given": self.facts,
                "contradict_the_model": scores.refuted,
                "unusable": self.unusable,
                "in_windows_that_go_on": self.waiting,
            },
            "users": {"seen": len(self.keys), "not_followed": self.lost},
            "guesses": self._guesses(),
            "beliefs": {
                "sure": scores.mean("sure"),
                "sure_before_this_release": scores.mean("before"),
                "sure_without_any_release": scores.mean("blind"),
                "sure_at_most": scores.mean("possible"),
                "sure_in_hindsight": None if hindsight is None else part(hindsight.sure, hindsight.released),
                "mean_gain_nats": scores.mean("gain"),
            },
            "bound": self._bound(),
            "calibration": {
                "error": scores.calibration_error,
                "bins": [
                    {"guesses": count, "sure": sure, "came_true": true, "interval": list(interval)}
                    for count, sure, true, interval in scores.calibration
                ],
            },
            "gain_over_users": self.gains(),
            "reidentified": {
                stream: {name: attempt_told(each) for name, each in tried.items()}
                for stream, tried in self.attempts.items()
            },
            "left_out_of_hindsight": None if hindsight is None else hindsight.left_out,
            "seconds": round(self.seconds, 3),
        }

    def _guesses(self) -> dict[str, Any]:
        scores, hindsight = self.scores, self.hindsight
        return {
            "scored": scores.scored,
            "right": scores.rate("right"),
            "right_interval": list(interval_of(scores.right, scores.scored)) if scores.scored else None,
            "right_before_this_release": scores.rate("before_right"),
            "right_without_any_release": scores.rate("blind_right"),
            "allowed": scores.rate("allowed"),
            "allowed_for": "right",  # each way of guessing has a ceiling of its own, and hindsight has none by epsilon
            "right_in_hindsight": None if hindsight is None else part(hindsight.right, hindsight.scored),
        }

    def _bound(self) -> dict[str, Any]:
        users, right, allowed = self.scores.one_each
        return {
            "nats": self.scores.limits.reader,
            "nats_downwards": self.scores.limits.down,
            "per": self.scores.unit.name,
            "events_at_most": self.scores.unit.events,
            "largest_nats": self.scores.largest,
            "releases_beyond": self.scores.beyond,
            "users_beyond_the_ledger": self.beyond_the_ledger,
            "log10_evidence_against": self.scores.evidence.log10 if self.scores.scored else None,
            "one_release_each": {"users": users, "right": right, "allowed": allowed} if users else None,
        }


def part(amount: float, of: int) -> float | None:
    return amount / of if of else None


def attempt_told(attempt: Attempt) -> dict[str, Any]:
    return {"rank_1": attempt.rate, "interval_99": list(attempt.interval), "chance": attempt.chance}


def pseudonym_of(key: bytes, *, is_one: bool) -> str:
    """The released key where it is a pseudonym already; otherwise the first digits of its hash (blake2b, 6 bytes)."""
    return key.decode("utf-8", "replace") if is_one else blake2b(key, digest_size=6).hexdigest()
