"""What the log says about partitions: enough to follow a recovery, and nothing about users."""

from __future__ import annotations

import logging

import pytest

from stream.protocol.logbook import EVERY_SECONDS, Logbook, listed
from stream.protocol.observer import Recovery


@pytest.mark.parametrize(
    ("partitions", "text"),
    [
        ([], "no partition"),
        ([7], "partition 7"),
        ([3, 1, 2, 0], "partitions 0-3"),
        ({0, 2, 3, 4, 9}, "partitions 0, 2-4, 9"),
    ],
)
def test_partitions_are_listed_in_runs(partitions: list[int], text: str) -> None:
    assert listed(partitions) == text


def test_a_recovery_can_be_followed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="sottovoce")
    now = [0.0]
    logbook = Logbook(lambda: now[0])
    logbook.assigned([0, 1])
    logbook.recovering(Recovery(0, 600, 1_000, 77, 0, start=200))
    assert len(caplog.messages) == 1  # not yet time for another word
    now[0] += EVERY_SECONDS
    logbook.recovering(Recovery(1, 10, 10, 77, 0))
    logbook.ready(Recovery(0, 1_000, 1_000, 77, 2, start=200), 6.25)
    logbook.ready(Recovery(1, 10, 10, 77, 0), 0.04)
    logbook.revoked([])
    logbook.revoked([0, 1])
    assert caplog.messages == [
        "This worker has partitions 0-1; their beliefs are read first.",
        "Beliefs are being read: 75 % of partitions 0-1.",
        "Partition 0 serves; its belief changelog was read from offset 200 to 1000 in 6.2 s, 2 rows could not be read.",
        "Partition 1 serves; its belief changelog was read from offset 0 to 10 in 0.0 s.",
        "The consumer group is being rebalanced; partitions 0-1 paused.",
    ]
    assert "77" not in caplog.text
