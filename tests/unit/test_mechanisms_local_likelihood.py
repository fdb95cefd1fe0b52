"""The weights of a report are those of how often each value makes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beliefs.alphabet import IntegerRange
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.likelihood import weights_of
from mechanisms.local.registry import REGISTRY, drawn
from mechanisms.local.texts import texts_of
from mechanisms.local.wire import shape_of

VALUES, DRAWS = 3, 40_000
DISCRETE = [name for name in REGISTRY if name not in ("she", "blh", "olh")]


def made(name: str) -> Any:
    return drawn(name, VALUES, 1.0, **({"top": [2]} if name == "top_k" else {}))


@pytest.mark.parametrize("name", DISCRETE)
def test_reports_come_as_often_as_their_weights_say(name: str) -> None:
    """Of 40,000 draws a value: the ratio of two counts of at least 400 is right to within 20 %, nearly always."""
    found, counts, weights = made(name), {}, {}
    shape = shape_of(found, IntegerRange(0, VALUES - 1))
    for value in range(VALUES):
        coins = report_coins(field_key(bytes(range(32)), name), value * DRAWS, DRAWS, found.words)
        reports = found.draw(np.full(DRAWS, value), np.ascontiguousarray(coins))
        data, ends, at = texts_of(shape, reports)
        texts = [data[start:end].tobytes() for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)]
        for text, row in zip([texts[i] for i in at.tolist()], weights_of(found, reports), strict=True):
            counts.setdefault(text, np.zeros(VALUES))[value] += 1
            weights[text] = row
    assert sum(int(each.sum()) for each in counts.values()) == VALUES * DRAWS
    compared = 0
    for text, seen in counts.items():
        if seen.min() >= 400:
            compared += 1
            assert seen / seen[0] == pytest.approx(weights[text] / weights[text][0], rel=0.2)
    assert compared >= 2


@pytest.mark.parametrize("name", list(REGISTRY))
def test_no_weight_is_further_from_another_than_the_level(name: str) -> None:
    found = made(name)
    coins = report_coins(field_key(bytes(32), name), 0, 2_000, found.words)
    weights = weights_of(found, found.draw(np.arange(2_000) % VALUES, np.ascontiguousarray(coins)))
    spread = np.log(weights.max(axis=1) / weights.min(axis=1))
    assert spread.max() <= found.level + 1e-9
    assert spread.max() > 0.25


@pytest.mark.parametrize("name", ["blh", "olh", "she"])
def test_bayes_rule_with_the_weights_finds_the_law_of_those_who_reported(name: str) -> None:
    """The mean posterior of many reports of one law is that law: true for right likelihoods, and not for others."""
    found, law = made(name), np.array([0.6, 0.3, 0.1])
    values = np.repeat(np.arange(VALUES), (law * 60_000).astype(int))
    coins = report_coins(field_key(bytes(range(32)), name), 0, values.size, found.words)
    weights = weights_of(found, found.draw(values, np.ascontiguousarray(coins)))
    posterior = weights * law
    mean = (posterior / posterior.sum(axis=1, keepdims=True)).mean(axis=0)
    assert mean == pytest.approx(law, abs=0.006)
    wrong = weights**2 * law
    assert np.abs((wrong / wrong.sum(axis=1, keepdims=True)).mean(axis=0) - law).max() > 0.006
