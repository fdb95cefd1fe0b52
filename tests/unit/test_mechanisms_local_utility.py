from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms.local.registry import local
from mechanisms.local.utility import noise_of


@pytest.mark.parametrize("name", ["grr", "oue", "ss"])
def test_noise_is_the_variance_of_what_is_estimated(name: str) -> None:
    """Against every report of one person: the mean squared distance of the estimate from what is true of him."""
    law = np.array([0.5, 0.3, 0.2])
    found = local(name, 3, 1.2)
    channel = np.asarray(found.channel())  # type: ignore[attr-defined]
    supports = supported(name, channel.shape[1])
    expected = 0.0
    for value, share in enumerate(law.tolist()):
        for report, chance in enumerate(channel[value].tolist()):
            off = (supports[report] - found.q) / (found.p - found.q) - np.eye(3)[value]  # type: ignore[operator]
            expected += share * chance * float((off**2).sum())
    assert noise_of(found, law) == pytest.approx(expected, rel=1e-12)


def supported(name: str, reports: int) -> np.ndarray:
    if name == "oue":
        return np.array([[report >> (2 - bit) & 1 for bit in range(3)] for report in range(reports)])
    return np.eye(3)


def test_cells_and_reports_that_tell_nothing() -> None:
    law = np.array([0.7, 0.3])
    assert noise_of(local("she", 2, 2.0), law) == pytest.approx(2 * 8 / 4)
    assert noise_of(local("grr", 2, 0.0), law) == math.inf
