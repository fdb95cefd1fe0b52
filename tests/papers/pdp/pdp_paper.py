"""Every example, table and figure of the paper on prior differential privacy (PDP) once more, as PNG and numbers, each
claim beside what is found:

    python tests/papers/pdp/pdp_paper.py --out DIR [--quick] [--only table2 fig4 ...]

DIR gets findings.md, findings.html, findings.json and a PNG for each figure and table. The paper has no data of its
own: laws are those that it names, and weights and tables that are drawn with a seed. Exit status: 0 all verdicts are
those that are written down in pdp_verdicts.py; 1 one of them has changed; 2 refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices: more threads only wait for each other
sys.path.extend(
    str(Path(__file__).resolve().parents[3] / each) for each in ("", "tests", "tests/papers", "deploy/bootstrap")
)

import pdp_examples
import pdp_gaussian_figures
import pdp_graph_figure
import pdp_layers_figure
import pdp_search_figure
import pdp_theorem_claims
from paper_command import Paper, Part
from pdp_verdicts import changed


class Size(NamedTuple):
    """How much is done."""

    laws: int
    steps: int
    tuples: int
    graphs: int
    runs: int


WHOLE: Final = Size(laws=300, steps=20, tuples=15, graphs=5, runs=30)
QUICK: Final = Size(laws=60, steps=10, tuples=11, graphs=2, runs=4)

PARTS: Final[Mapping[tuple[str, ...], Part[Size]]] = {
    ("theorems",): lambda size, out, tick: [pdp_theorem_claims.section(size.laws)],
    ("fig2",): lambda size, out, tick: [pdp_examples.figure_2(out)],
    ("table2",): lambda size, out, tick: [pdp_examples.table_2(out)],
    ("fig3",): lambda size, out, tick: [pdp_graph_figure.figure(out)],
    ("example5",): lambda size, out, tick: [pdp_gaussian_figures.example_5(out, size.steps)],
    ("fig4",): lambda size, out, tick: [pdp_layers_figure.figure(out, size.tuples, size.graphs, tick)],
    ("fig5",): lambda size, out, tick: [pdp_search_figure.figure(out, range(1, size.tuples + 1), size.runs, tick)],
}
PAPER: Final = Paper(
    described=__doc__,
    title="Prior differential privacy: the paper's examples and figures, made again",
    opening="Each claim of the paper beside what is found here: holds, fails, or holds only when. A leak is the most "
    "that a noisy sum tells an adversary about one tuple, in nats. Where nothing else is said it is computed exactly.",
    whole=WHOLE,
    quick=QUICK,
    quick_is="fewer laws, tuples and runs",
    parts=PARTS,
    changed=changed,
)
main = PAPER.command

if __name__ == "__main__":
    sys.exit(main())
