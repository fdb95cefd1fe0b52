"""Table II: what eight mechanisms leak beside Algorithm 2's bound."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from cpl_estimates import nmse
from cpl_leaks import MECHANISMS, SHOWN, Pairs
from cpl_printed import TABLE_2
from paper_command import Tick
from paper_findings import Cell, Claim, Numbers, Section, verdict_of
from paper_table_picture import draw_table

GUESSED, PRINTED, REPORTS = "guessed", "printed", "the reports"
Rows = dict[tuple[str, float, str], list[float]]
"""Data set, epsilon and kind: one number for each mechanism."""


def table(folder: Path, found: Sequence[Pairs], tick: Tick) -> Section:
    rows: Rows = {}
    for place, pairs in enumerate(found):
        for (data, epsilon), printed in TABLE_2.items():
            if data != pairs.data.name:
                continue
            bound = pairs.bound(epsilon)
            rows[data, epsilon, GUESSED] = [nmse(pairs.attacked(m, epsilon), bound, epsilon) for m in MECHANISMS]
            rows[data, epsilon, PRINTED] = list(printed)
            rows[data, epsilon, REPORTS] = [nmse(pairs.exact(m, epsilon), bound, epsilon) for m in MECHANISMS]
        tick((place + 1) / len(found))
    labels = {pairs.data.name: pairs.data.label for pairs in found}
    cells: list[list[Cell]] = [[labels[data], epsilon, kind, *row] for (data, epsilon, kind), row in rows.items()]
    columns = ["data", "epsilon", "", *(SHOWN[mechanism] for mechanism in MECHANISMS)]
    numbers = Numbers("NMSE-CPL against Algorithm 2", columns, cells)
    real = [pairs.data.name for pairs in found if pairs.data.real]
    return Section(
        "table2",
        "Table II: eight mechanisms and Algorithm 2",
        f"{'; '.join(pairs.data.source for pairs in found)}. NMSE of Equation (29) against Algorithm 2; guesses in "
        "closed form.",
        _claims(rows, real),
        [numbers],
        [draw_table(folder / "table2.png", "Table II: NMSE-CPL against Algorithm 2", numbers)],
    )


def _claims(rows: Rows, real: Sequence[str]) -> list[Claim]:
    def column(kind: str, mechanism: str) -> list[float]:
        return [row[MECHANISMS.index(mechanism)] for (_, _, which), row in rows.items() if which == kind]

    close = {mechanism: max(column(GUESSED, mechanism)) for mechanism in ("grr", "ss")}
    others = [mechanism for mechanism in MECHANISMS if mechanism not in close]
    least = {kind: min(min(column(kind, mechanism)) for mechanism in others) for kind in (GUESSED, REPORTS)}
    any_set = max(max(column(REPORTS, mechanism)) for mechanism in others if mechanism != "exp")
    apart = [
        abs(here - printed)
        for (data, epsilon, kind), row in rows.items()
        if kind == GUESSED and data in real
        for here, printed in zip(row, rows[data, epsilon, PRINTED], strict=True)
    ]
    return [
        Claim(
            "table2: GRR and SS are close to the bound",
            "GRR and SS leak close to what Algorithm 2 allows.",
            verdict_of([each < 0.2 for each in close.values()]),
            f"Largest NMSE: GRR {close['grr']:.4f}, SS {close['ss']:.4f}; least of the other guesses "
            f"{least[GUESSED]:.3f}.",
            "single values are often nearly the best set.",
        ),
        Claim(
            "table2: the others are far from it",
            "RAPPOR, EXP, OUE, BLH, OLH and SHE leak much less than Algorithm 2 allows.",
            verdict_of([each > 0.1 for each in least.values()]),
            f"NMSE of guesses at least {least[GUESSED]:.3f}; of the reports of all of these but EXP at most "
            f"{any_set:.1g}.",
            "guesses are compared (or EXP, which spends half of its budget). The five others' reports leak the bound.",
        ),
        Claim(
            "table2: the printed numbers",
            "The numbers of Table II, where the data are the paper's own.",
            verdict_of([each < 0.06 for each in apart]),
            f"{', '.join(real)}: {len(apart)} numbers, at most {max(apart):.3f} and on average "
            f"{float(np.mean(apart)):.3f} apart.",
            "they are the guesses' closed forms, RAPPOR being SUE; which attributes the paper took, and how it binned "
            "numbers, it does not say.",
        ),
    ]
