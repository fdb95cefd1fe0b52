"""Meters, blocks and users' rows for the tests of metrics and the admin server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beliefs.rounding import UNITS_PER_NAT
from stream.metrics import BlockCounts, MeterSettings
from stream.state import Word

COMMITTED_AT_MS = 1_800_000_000_000


def meter_settings(**changes: Any) -> MeterSettings:
    usual: dict[str, Any] = {
        "pipeline": "phones",
        "policy": "1:aabbccdd",
        "model": "2:00112233",
        "mechanism": "optimal",
        "epsilon": UNITS_PER_NAT,
        "upper_budget": 10 * UNITS_PER_NAT,
        "lower_budget": 10 * UNITS_PER_NAT,
        "row_bytes": 104,
        "version": "0.1.0",
    }
    return MeterSettings(**{**usual, **changes})


def heads_of(spent: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Users who spent so much, upper and lower, in their window and in their lives, in one step."""
    heads = np.zeros((len(spent), 8), np.int64)
    for row, (upper, lower) in zip(heads, spent, strict=True):
        row[[Word.UPPER, Word.WINDOW_UPPER]] = upper
        row[[Word.LOWER, Word.WINDOW_LOWER]] = lower
    heads[:, Word.MARKS] = 1
    heads[:, Word.STEPS] = 1
    return heads


def a_block(
    outcomes: Mapping[str, int] | None = None,
    reasons: Mapping[str, int] | None = None,
    upper: Sequence[int] = (),
    lower: Sequence[int] = (),
    append_ages_ms: Sequence[int] = (),
    uncertified: int = 0,
    cut_short: int = 0,
) -> BlockCounts:
    nobody = np.zeros((0, 8), np.int64)
    return BlockCounts(
        outcomes=outcomes or {},
        reasons=reasons or {},
        upper=np.array(upper, np.int64),
        lower=np.array(lower, np.int64),
        old_heads=nobody,
        new_heads=nobody,
        append_times_ms=COMMITTED_AT_MS - np.array(append_ages_ms, np.int64),
        append_time_weight=1,
        committed_at_ms=COMMITTED_AT_MS,
        compute_seconds=0.003,
        publish_seconds=0.004,
        uncertified=uncertified,
        cut_short=cut_short,
    )
