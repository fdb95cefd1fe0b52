"""What one worker's partitions have learnt so far, kept for the metrics and told to the log at each checkpoint."""

from __future__ import annotations

import math
from collections.abc import Collection
from logging import Logger
from typing import Final

from stream.learning.carried import ALARM
from stream.learning.standing import Standing
from stream.protocol.effects import BlockReport
from stream.protocol.observer import NullObserver

LEARNING_LOG: Final = "sottovoce.learning"


class Learners:
    """Where each partition of this worker stands, and how many epochs have begun while it looked."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self.standings: dict[int, Standing] = {}
        self.changes: dict[str, int] = {"informed": 0, "learning": 0}

    def stands(self, partition: int, standing: Standing) -> None:
        """As it was found when the partition was taken over."""
        self.standings[partition] = standing
        self._log.info("Partition %d goes on in epoch %d: %s.", partition, standing.epoch, in_words(standing))

    def committed(self, partition: int, standing: Standing) -> None:
        before = self.standings.get(partition)
        self.standings[partition] = standing
        began = before is None or before.epoch != standing.epoch
        if began:
            self._tell_epoch(partition, standing)
            if before is not None:
                self.changes["informed" if standing.informed else "learning"] += 1
        elif before is not None and before.looks != standing.looks and not standing.informed:
            self._log.info("Partition %d goes on learning: %s.", partition, in_words(standing))

    def lost(self, partitions: Collection[int]) -> None:
        for partition in partitions:
            self.standings.pop(partition, None)

    def _tell_epoch(self, partition: int, standing: Standing) -> None:
        if standing.drifted:
            self._log.warning(
                "Partition %d: its releases have contradicted the learnt model (odds of %g to 1 against it). From "
                "offset %d on, epoch %d, it learns anew, and until then releases are locally private.",
                partition,
                ALARM,
                standing.first,
                standing.epoch,
            )
            return
        what = "has learnt a model" if standing.informed else "has no model and learns one"
        self._log.info(
            "Partition %d %s: epoch %d from offset %d on; %s.",
            partition,
            what,
            standing.epoch,
            standing.first,
            in_words(standing),
        )


class LearningObserver(NullObserver):
    """Takes what blocks say of the learning, after their commits."""

    def __init__(self, learners: Learners) -> None:
        self._learners = learners

    def block_committed(self, report: BlockReport) -> None:
        if isinstance(report.effects.learning, Standing):
            self._learners.committed(report.partition, report.effects.learning)

    def revoked(self, partitions: Collection[int]) -> None:
        self._learners.lost(partitions)


def in_words(standing: Standing) -> str:
    """Where a partition stands, in one clause."""
    agreements = f"{standing.blind_agreement:.3f} of the values kept without a model, {standing.informed_agreement:.3f}"
    if standing.informed:
        return (
            f"model {standing.model}, learnt from {standing.pairs} pairs of releases; {100 * standing.withheld:.1f} % "
            f"of epsilon is withheld for its error of at most {standing.error:.4f}; predicted: {agreements} with it"
        )
    if not standing.looks:
        return (
            f"releases are locally private; the first look at {standing.pairs} pairs or more is before offset "
            + str(standing.next_look)
        )
    error = "not bounded yet" if math.isinf(standing.error) else f"at most {standing.error:.4f}"
    return (
        f"{standing.pairs} pairs of releases so far; at the latest look the model's error was {error}; predicted: "
        f"{agreements} with it; the next look is before offset {standing.next_look}"
    )
