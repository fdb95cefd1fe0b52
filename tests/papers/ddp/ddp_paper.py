"""Every figure and table of the paper on dependent differential privacy (DDP) once more, as PNG and numbers, each claim
beside what is found:

    python tests/papers/ddp/ddp_paper.py --out DIR [--quick] [--only fig6 fig5 ...]

DIR gets findings.md, findings.html, findings.json and a PNG for each figure and table. The check-ins, the profiles and
the graph of the paper are not part of the project: people who are made up stand for them, and the findings say so. Exit
status: 0 all verdicts are those that are written down in ddp_verdicts.py; 1 one of them has changed; 2 refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices: more threads only wait for each other
sys.path.extend(
    str(Path(__file__).resolve().parents[3] / each) for each in ("", "tests", "tests/papers", "deploy/bootstrap")
)

import ddp_accuracy_figure
import ddp_attack_figures
import ddp_coefficient_claims
import ddp_example_figure
import ddp_theorem_claims
import ddp_uses_figure
import ddp_world_figures
from ddp_attack_figures import world
from ddp_verdicts import changed
from paper_command import Paper, Part

from stream.social.release import release


class Size(NamedTuple):
    """How much is done."""

    laws: int
    epsilons: Sequence[Fraction]
    attacked: int
    repeats: int
    people: int


WHOLE: Final = Size(
    laws=300, epsilons=[Fraction(tenths, 10) for tenths in (1, 3, 5, 7, 9, 10, 20)], attacked=400, repeats=300,
    people=100_000,
)  # fmt: skip
QUICK: Final = Size(
    laws=60, epsilons=[Fraction(tenths, 10) for tenths in (1, 9, 20)], attacked=40, repeats=10, people=10_000
)
FAILURES: Final = (0.5, 0.3, 0.1, 0.05, 0.01)

PARTS: Final[Mapping[tuple[str, ...], Part[Size]]] = {
    ("theorems",): lambda size, out, tick: [
        ddp_theorem_claims.section(size.laws, ddp_coefficient_claims.claims(size.laws))
    ],
    ("fig6",): lambda size, out, tick: [ddp_example_figure.figure(out, [float(each) for each in size.epsilons])],
    ("table1",): lambda size, out, tick: [ddp_world_figures.table_1(out, world())],
    ("fig2",): lambda size, out, tick: [ddp_world_figures.figure_2(out, world())],
    ("fig3",): lambda size, out, tick: [ddp_world_figures.figure_3(out, world())],
    ("fig4",): lambda size, out, tick: [ddp_world_figures.figure_4(out, world(), release(world(), Fraction(1)))],
    ("fig5",): lambda size, out, tick: [ddp_attack_figures.figure_5(out, size.epsilons, size.attacked, tick)],
    ("fig7",): lambda size, out, tick: [ddp_attack_figures.figure_7(out, size.epsilons, size.attacked, tick)],
    ("fig8",): lambda size, out, tick: [
        ddp_accuracy_figure.figure(out, world(), [float(each) for each in size.epsilons], FAILURES)
    ],
    ("fig9",): lambda size, out, tick: [
        ddp_uses_figure.figure(out, world(), [float(each) for each in size.epsilons], size.repeats, size.people, tick)
    ],
    ("fig10",): lambda size, out, tick: [ddp_attack_figures.figure_10(out, size.epsilons, size.attacked, tick)],
}
PAPER: Final = Paper(
    described=__doc__,
    title="Dependent differential privacy: the paper's figures and tables, made again",
    opening="Each claim of the paper beside what is found here: holds, fails, or holds only when. Nats where nothing "
    "else is said. People, profiles and graphs are made up: such a figure shows how a claim fares on data of that "
    "shape.",
    whole=WHOLE,
    quick=QUICK,
    quick_is="fewer laws, epsilons, people and repetitions",
    parts=PARTS,
    changed=changed,
)
main = PAPER.command

if __name__ == "__main__":
    sys.exit(main())
