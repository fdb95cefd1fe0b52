"""Every figure and theorem of the paper on the performance of k-anonymity once more, as PNG and numbers, each claim
beside what is found:

    python tests/papers/kanon/kanon_paper.py --out DIR [--quick] [--only fig1 theorems ...]

DIR gets findings.md, findings.html, findings.json and a PNG for each figure. The paper has no data, no algorithm and no
measurement: crowds are those that its captions name, and random ones, drawn with a seed. Exit status: 0 all verdicts
are those that are written down in kanon_verdicts.py; 1 one of them has changed; 2 refused.
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

import kanon_dependent_claims
import kanon_known_figures
import kanon_moment_figures
import kanon_theorem_claims
from kanon_verdicts import changed
from paper_command import Paper, Part


class Size(NamedTuple):
    """How much is done."""

    rounds: int
    steps: int


WHOLE: Final = Size(rounds=1_500, steps=1)
QUICK: Final = Size(rounds=150, steps=10)

PARTS: Final[Mapping[tuple[str, ...], Part[Size]]] = {
    ("theorems",): lambda size, out, tick: [kanon_theorem_claims.section(size.rounds)],
    ("dependent",): lambda size, out, tick: [kanon_dependent_claims.dependent(size.rounds)],
    ("alone",): lambda size, out, tick: [kanon_dependent_claims.alone()],
    ("fig1",): lambda size, out, tick: [kanon_moment_figures.figure_1(out, size.steps)],
    ("fig2",): lambda size, out, tick: [kanon_moment_figures.figure_2(out)],
    ("fig3",): lambda size, out, tick: [kanon_known_figures.figure_3(out)],
    ("fig4",): lambda size, out, tick: [kanon_known_figures.figure_4(out)],
}
PAPER: Final = Paper(
    described=__doc__,
    title="k-anonymity against inference: the paper's theorems and figures, made again",
    opening="Each claim of the paper beside what is found here: holds, fails, or holds only when. Formulas are the "
    "paper's as printed, and no guarantee; what is called exact is computed from the laws of the crowd, for all "
    "events.",
    whole=WHOLE,
    quick=QUICK,
    quick_is="fewer random crowds",
    parts=PARTS,
    changed=changed,
)
main = PAPER.command

if __name__ == "__main__":
    sys.exit(main())
