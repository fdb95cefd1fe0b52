"""The statistical estimate of a leak with its permutation test, by keyed coins: the same key, the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Places
from beliefs.correlation.sampled import sampled_leak
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.registry import drawn
from stream.compute.sequence import Result

COPIES, SHUFFLES = 50, 999
REPORTS_MAX: Final = 1 << 24
"""Reports, and records times shuffles, that one answer may take."""


def sampled(
    secrets: Sequence[int],
    neighbours: Sequence[int],
    epsilon: float,
    values: int,
    key: bytes,
    copies: int = COPIES,
    shuffles: int = SHUFFLES,
) -> Result:
    """Each record's neighbour through randomised response `copies` times; secrets shuffled for the p-value."""
    if len(neighbours) != len(secrets):
        raise Invalid("neighbours", f"has {len(neighbours)} entries, but secrets has {len(secrets)}")
    if max(neighbours) >= values:
        raise Invalid("neighbours", f"holds a value that is none of {values}; values start at 0")
    for name, times in (("copies", copies), ("shuffles", shuffles)):
        if len(secrets) * times > REPORTS_MAX:
            raise Invalid(name, f"times the {len(secrets)} records is above {REPORTS_MAX}, the most that is drawn here")
    response, shuffling = drawn("grr", values, epsilon), _Shuffling(field_key(key, "shuffles"))
    coins = field_key(key, "reports")

    def perturb(given: Places) -> Places:
        found: Places = response.draw(given, report_coins(coins, 0, given.size, response.words))
        return found

    hidden = np.array(secrets, dtype=np.int64)
    values_of = np.array(neighbours, dtype=np.int64)
    found = sampled_leak(hidden, values_of, values, perturb, shuffling, copies=copies, times=shuffles)
    return found._asdict()


class _Shuffling:
    """Another order each time: that of fresh words of 64 bits, two of which are equal once in 2^64."""

    def __init__(self, key: bytes) -> None:
        self.key, self.done = key, 0

    def __call__(self, places: Places) -> Places:
        words = report_coins(self.key, self.done, places.size, 1)[:, 0]
        self.done += places.size
        return places[np.argsort(words, kind="stable")]
