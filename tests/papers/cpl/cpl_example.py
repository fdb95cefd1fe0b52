"""Table III and Appendix K: a weak correlation with the largest leak, Equation (28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from cpl_attack import KEY
from cpl_printed import TABLE_3, TABLE_3_EPSILONS
from cpl_theorems import EXAMPLE
from paper_command import Tick
from paper_findings import Cell, Claim, Numbers, Section, verdict_of
from paper_table_picture import draw_table

from beliefs.correlation.outputs import response_leak
from beliefs.correlation.sampled import Perturb, Sampled, sampled_leak
from beliefs.correlation.tables import conditional_of, correlation_of
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.registry import drawn

PEOPLE: Final = 100_000
VALUES: Final = 4
FORTH, BACK = TABLE_3


class Row(NamedTuple):
    way: str
    epsilon: float
    exact: float
    theoretical: float
    estimated: float
    experimental: float
    p_value: float


def rows(copies: int, shuffles: int, tick: Tick) -> list[Row]:
    laws = {FORTH: conditional_of(EXAMPLE).laws, BACK: conditional_of(EXAMPLE.T).laws}
    found: list[Row] = []
    for way, printed in TABLE_3.items():
        for place, epsilon in enumerate(TABLE_3_EPSILONS):
            told = estimated(way, epsilon, copies, shuffles)
            exact, theory = response_leak(laws[way], epsilon), printed["theoretical"][place]
            found.append(Row(way, epsilon, exact, theory, told.epsilon, printed["experimental"][place], told.p_value))
            tick(len(found) / 6)
    return found


def estimated(way: str, epsilon: float, copies: int, shuffles: int) -> Sampled:
    """The paper's 100,000 people, drawn with a seed; reports by GRR from keyed coins."""
    source = np.random.default_rng(74)
    cells = source.choice(EXAMPLE.size, PEOPLE, p=EXAMPLE.ravel())
    columns = [cells // VALUES, cells % VALUES]
    secrets, neighbours = columns if way == FORTH else columns[::-1]
    return sampled_leak(
        secrets, neighbours, VALUES, reporting(way, epsilon), source.permutation, copies=copies, times=shuffles
    )


def reporting(way: str, epsilon: float) -> Perturb:
    found, key = drawn("grr", VALUES, epsilon), field_key(KEY, f"{way} {epsilon:g}")
    return lambda values: found.draw(values, report_coins(key, 0, values.size, found.words))


def table(folder: Path, copies: int, shuffles: int, tick: Tick) -> Section:
    found = rows(copies, shuffles, tick)
    columns = ["leak from", "epsilon", "exact", "theoretical, printed", "estimated", "experimental, printed", "p-value"]
    cells: list[list[Cell]] = [
        [row.way, row.epsilon, *(f"{nats:.6f}" for nats in row[2:6]), row.p_value] for row in found
    ]
    numbers = Numbers("nats", columns, cells)
    return Section(
        "table3",
        "Table III and Appendix K: the largest leak under a weak correlation",
        f"Equation (28); {PEOPLE:,} people drawn from it, {copies} reports of each by GRR, {shuffles} shuffles of the "
        "secrets.",
        _claims(found, correlation_of(EXAMPLE)._asdict()),
        [numbers],
        [draw_table(folder / "table3.png", "Table III: leaks of Equation (28)", numbers)],
    )


def _claims(found: Sequence[Row], metrics: Mapping[str, float]) -> list[Claim]:
    forth, back = ([row for row in found if row.way == way] for way in TABLE_3)
    apart = [abs(row.estimated - row.exact) for row in found]
    own = {way: max(abs(row.theoretical - row.exact) for row in found if row.way == way) for way in TABLE_3}
    return [
        Claim(
            "table3: weak by the usual metrics",
            "NMI is .164 and PCC .357.",
            verdict_of([abs(metrics["normalised"] - 0.164) < 1e-3, abs(metrics["pearson"] - 0.357) < 1e-3]),
            f"{metrics['normalised']:.6f} and {metrics['pearson']:.6f}.",
            "NMI is I/H(X, Y), cut after three digits.",
        ),
        Claim(
            "table3: the largest leak",
            "One way the CPL is epsilon, though the correlation is weak.",
            verdict_of([abs(row.exact - row.epsilon) < 1e-9 for row in forth]),
            ", ".join(f"{row.exact:.6f} at {row.epsilon:g}" for row in forth) + ".",
            "x1 and x2 see one value each, different ones.",
        ),
        Claim(
            "table3: estimates agree",
            "Estimates from 100,000 people agree with the theory.",
            verdict_of([each < 0.05 for each in apart]),
            f"Largest difference {max(apart):.4f}; largest p-value {max(row.p_value for row in found):.3f}.",
            "there are many people and no value is rare.",
        ),
        Claim(
            "table3: the theoretical columns",
            "The theory gives epsilon one way and .2810, .6203, 1.4340 the other way.",
            verdict_of([each < 5e-5 for each in own.values()]),
            f"(28) gives {', '.join(f'{row.exact:.6f}' for row in back)}: ln(1 + (e^epsilon - 1)/2).",
            "it is the first column. The second one is not (28)'s; it would be that of people drawn from it.",
        ),
    ]
