"""How far partitions have come that learn their model, for Prometheus and for the status page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from stream.learning.carried import ALARM
from stream.learning.learners import Learners
from stream.learning.standing import Standing
from stream.metrics.metric import Kind, Metric
from stream.metrics.rows import card

_WHERE = "of a partition that learns its model"

LEARNING_EPOCH: Final = Metric(
    "sottovoce_learning_epochs", Kind.GAUGE, "epochs", f"Number of the epoch {_WHERE}, from 1.", ("partition",)
)
LEARNING_INFORMED: Final = Metric(
    "sottovoce_learning_informed",
    Kind.GAUGE,
    "",
    "1 where a partition releases under a model that it has learnt, 0 while it learns and is locally private.",
    ("partition",),
)
LEARNING_CHANGES: Final = Metric(
    "sottovoce_learning_epoch_changes_total",
    Kind.COUNTER,
    "epochs",
    "Epochs that began while this worker had the partition: informed, a model was learnt; learning, the releases had "
    "contradicted it.",
    ("phase",),
)
LEARNING_PAIRS: Final = Metric(
    "sottovoce_learning_pairs",
    Kind.GAUGE,
    "pairs",
    f"Pairs of consecutive releases {_WHERE}: those counted in this epoch, or those its model was learnt from.",
    ("partition",),
)
LEARNING_NEXT: Final = Metric(
    "sottovoce_learning_next_look_records",
    Kind.GAUGE,
    "records",
    f"Offsets that are left {_WHERE} until it is decided next whether its epoch ends.",
    ("partition",),
)
LEARNING_ERROR: Final = Metric(
    "sottovoce_learning_chain_error_nats",
    Kind.GAUGE,
    "nats",
    f"How far the probabilities of the model {_WHERE} may be off, as a factor's logarithm; absent while nothing bounds "
    "that.",
    ("partition",),
)
LEARNING_WITHHELD: Final = Metric(
    "sottovoce_learning_withheld_ratio",
    Kind.GAUGE,
    "ratio",
    "Share of epsilon that is withheld for that error; 0 while a partition learns.",
    ("partition",),
)
LEARNING_AGREEMENT: Final = Metric(
    "sottovoce_learning_predicted_agreement_ratio",
    Kind.GAUGE,
    "ratio",
    "Share of values that releases were predicted to keep at the latest checkpoint: blind, without a model; informed, "
    "with the one learnt so far. Absent before the first.",
    ("partition", "releases"),
)
LEARNING_EVIDENCE: Final = Metric(
    "sottovoce_learning_evidence_ratio",
    Kind.GAUGE,
    "ratio",
    f"The most that one unit of money bet against the learnt model has been worth in this epoch; at {ALARM:g} the "
    "partition begins to learn anew.",
    ("partition",),
)

Samples = tuple[Metric, Mapping[tuple[str, ...], float]]


def learning_samples(learners: Learners | None) -> Iterator[Samples]:
    """Nothing but the names where no partition learns."""
    found = {} if learners is None else {str(each): learners.standings[each] for each in sorted(learners.standings)}
    yield LEARNING_EPOCH, {(name,): now.epoch for name, now in found.items()}
    yield LEARNING_INFORMED, {(name,): float(now.informed) for name, now in found.items()}
    changes = learners.changes if learners is not None and found else {}
    yield LEARNING_CHANGES, {(phase,): number for phase, number in changes.items()}
    yield LEARNING_PAIRS, {(name,): now.pairs for name, now in found.items()}
    yield LEARNING_NEXT, {(name,): max(0, now.next_look - now.reached) for name, now in found.items()}
    yield LEARNING_ERROR, {(name,): now.error for name, now in found.items() if math.isfinite(now.error)}
    yield LEARNING_WITHHELD, {(name,): now.withheld for name, now in found.items()}
    looked = {name: now for name, now in found.items() if now.blind_agreement > 0.0}
    agreements: dict[tuple[str, ...], float] = {
        (name, kind): amount
        for name, now in looked.items()
        for kind, amount in (("blind", now.blind_agreement), ("informed", now.informed_agreement))
    }
    yield LEARNING_AGREEMENT, agreements
    yield LEARNING_EVIDENCE, {(name,): now.evidence for name, now in found.items() if now.informed}


def learning_card(learners: Learners | None) -> str:
    """A section of the status page; nothing where no partition learns."""
    if learners is None or not learners.standings:
        return ""
    rows = "".join(_row(partition, now) for partition, now in sorted(learners.standings.items()))
    head = '<th scope="col">partition</th><th scope="col">phase</th><th scope="col" class="n">next look in</th>'
    return card("Learning the model", f"<table><tr>{head}</tr>{rows}</table>", wide=True)


def _row(partition: int, now: Standing) -> str:
    phase = f"informed by {escape(now.model)}" if now.informed else f"learning, {now.pairs:,} pairs"
    notes = []
    if now.blind_agreement:
        notes.append(
            f"keeps {now.blind_agreement:.1%} without a model, {now.informed_agreement:.1%} with one, predicted"
        )
    if math.isfinite(now.error):
        notes.append(f"model off by at most {now.error:.4f}")
    if now.informed:
        notes.append(f"{now.withheld:.1%} of epsilon withheld for that")
    left = max(0, now.next_look - now.reached)
    return (
        f'<tr><th scope="row">{partition}</th><td>epoch {now.epoch}: {phase}<small>{"; ".join(notes)}</small></td>'
        f'<td class="n">{left:,}<small>records</small></td></tr>'
    )
