"""Table I: leaks as the paper estimates them from samples, beside Algorithm 1; and what such estimates are worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from cpl_data import Floats
from cpl_leaks import COPIES, SHOWN, Pairs, guess_rows, leak_of_counts, perturbed
from cpl_printed import TABLE_1
from paper_command import Tick
from paper_findings import Cell, Claim, Numbers, Section, verdict_of
from paper_table_picture import draw_table

from beliefs.correlation.benchmarks import scores
from beliefs.correlation.outputs import response_leak

MOST: Final = 5.5e-3
_ROUNDINGS: Final = 1e-20
"""Two ways to one number differ by no more."""
FEW, MORE = 350, 3_500


def nmse(estimate: Floats, reference: Floats, epsilon: float) -> float:
    """Equation (29)."""
    found = scores(reference, estimate, epsilon).squared_error
    assert found is not None
    return found if found > _ROUNDINGS else 0.0


def table(folder: Path, found: Sequence[Pairs], samples: int, tick: Tick) -> Section:
    rows: list[list[Cell]] = []
    told: list[float] = []
    for place, pairs in enumerate(found):
        for (data, epsilon), printed in TABLE_1.items():
            for mechanism in printed if data == pairs.data.name else ():
                source = np.random.default_rng(71)
                told.append(nmse(pairs.sampled(mechanism, epsilon, source), pairs.exact(mechanism, epsilon), epsilon))
                rows.append([pairs.data.label, epsilon, SHOWN[mechanism], told[-1], printed[mechanism]])
        tick((place + 1) / len(found))
    numbers = Numbers("NMSE-CPL, estimates against Algorithm 1", ["data", "epsilon", "", "here", "printed"], rows)
    (adult,) = (pairs for pairs in found if pairs.data.name == "Adult")
    small = Claim(
        "table1: small errors",
        "The errors between estimated CPL and Algorithm 1 are below 5.5e-3, which validates Algorithm 1.",
        verdict_of([each < MOST for each in told]),
        f"From {min(told):.1e} to {max(told):.1e}.",
        "no value of the secret is rare: from few reports the largest ratio is estimated too large. Whether rows or "
        "columns of the channel are compared this cannot tell, as those of GRR and EXP are the same.",
    )
    return Section(
        "table1",
        "Table I: estimates and Algorithm 1",
        f"{'; '.join(pairs.data.source for pairs in found)}. {COPIES} reports of every record; NMSE of Equation (29).",
        [small, _significance(samples), _few_records(adult, samples)],
        [numbers],
        [draw_table(folder / "table1.png", "Table I: NMSE-CPL of estimates against Algorithm 1", numbers)],
    )


def _significance(samples: int) -> Claim:
    honest, copied = (false_alarms(copies, samples) for copies in (1, COPIES))
    return Claim(
        "table1: significance",
        f"With {COPIES} copies of the data the estimates are significant at the 5 % level.",
        verdict_of([copied < 0.1]),
        f"{FEW} records of independent attributes, GRR at epsilon 1: {honest:.0%} of {samples} such data sets are "
        f"called significant without copies, {copied:.0%} with {COPIES}.",
        "copies are no new people. Columns are shuffled as if each copy were one, so that what two attributes of a "
        "sample have in common by chance is significant, too.",
    )


def _few_records(adult: Pairs, samples: int) -> Claim:
    few, more = (bias(adult, people, samples) for people in (FEW, MORE))
    truth = response_leak(adult.laws[adult.place("gender", "education")], 1.0)
    return Claim(
        "table1: copies make up for few records",
        "Replicating the records overcomes a small sample.",
        verdict_of([abs(few) < 0.01, abs(more) < 0.01]),
        f"Adult's gender through education, {truth:.4f} nats, estimated from {COPIES} copies: on average {few:+.3f} "
        f"with {FEW} records, {more:+.3f} with {MORE:,}.",
        "there are thousands of records: copies take away the mechanism's noise and leave the sample's, and the "
        "largest of several noisy ratios is too large.",
    )


def false_alarms(copies: int, samples: int, shuffles: int = 99) -> float:
    """How often two independent attributes are called correlated at 5 %, by shuffled columns of the perturbed records.

    Two shuffled columns have a table with the margins of the true ones, and are drawn as such.
    """
    source, rows, alarms = np.random.default_rng(72), guess_rows("grr", 3, 1.0), 0
    law = np.outer([0.5, 0.5], [0.5, 0.3, 0.2]).ravel()
    for _ in range(samples):
        reported = perturbed(source.multinomial(FEW, law).reshape(2, 3).astype(np.float64), rows, copies, source)
        margin, above = reported.sum(axis=0).astype(np.int64), int(reported[0].sum())
        shuffled = source.multivariate_hypergeometric(margin, above, size=shuffles, method="marginals")
        chance = [leak_of_counts(np.stack([each, margin - each]).astype(np.float64)) for each in shuffled]
        seen = leak_of_counts(reported)
        alarms += (1 + sum(each >= seen for each in chance)) / (shuffles + 1) <= 0.05
    return alarms / samples


def bias(adult: Pairs, people: int, samples: int) -> float:
    """How far the estimate of gender's leak through education is off, on average over so many samples of people."""
    place, source = adult.place("gender", "education"), np.random.default_rng(73)
    counts, off = adult.counts[place], 0.0
    rows = guess_rows("grr", counts.shape[1], 1.0)
    for _ in range(samples):
        seen = source.multinomial(people, (counts / counts.sum()).ravel()).reshape(counts.shape).astype(np.float64)
        off += leak_of_counts(perturbed(seen, rows, COPIES, source)) - response_leak(adult.laws[place], 1.0)
    return off / samples
