"""Every figure and table of the paper on Sequence Information Privacy once more, as PNG and numbers, each claim beside
what is found:

    python tests/papers/sip/paper.py --out DIR [--quick] [--only fig5 fig6 ...]

DIR gets findings.md, findings.html, findings.json and a PNG for each figure. With SOTTOVOCE_DATA naming the folder of
the Kosarak click-stream Figure 6 is made of real sessions, otherwise of a seeded stand-in. `--quick` makes everything
smaller. Exit status: 0 all verdicts are those that are written down in paper_verdicts.py; 1 one of them has changed;
2 refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices: more threads only wait for each other
sys.path.extend(
    str(Path(__file__).resolve().parents[3] / each) for each in ("", "tests", "tests/papers", "deploy/bootstrap")
)

import paper_binary
import paper_binary_figure
import paper_clicks
import paper_eyes
import paper_eyes_figures
import paper_noise_figure
import paper_notions
import paper_theorem_claims
import paper_whose
from click_stream import ITEMS, of_sessions
from paper_command import Paper, Part, Tick
from paper_findings import Section
from paper_verdicts import changed

from stream.attack.recurrent import Training


class Size(NamedTuple):
    """How much is done."""

    points: int
    epsilons: Sequence[float]
    tops_users: int
    items: int
    users: int
    stand_in: int
    click_epsilons: Sequence[float]
    click_windows: Sequence[float]
    samples: int
    side: int
    people: int
    states: int
    stretch: int
    gaze_epsilons: Sequence[float]
    training: int
    pieces: tuple[int, int]
    whose_epsilons: Sequence[float]
    net: Training
    sides: Sequence[int]
    dense: Sequence[int]


WHOLE: Final = Size(
    points=121, epsilons=paper_binary.EPSILONS, tops_users=2_000,
    items=ITEMS, users=1_000, stand_in=36_680, click_epsilons=(0.5, 1.0, 2.0, 4.0),
    click_windows=(1.0, 2.0),
    samples=900_000, side=100, people=10, states=40_000, stretch=900, gaze_epsilons=(5.0, 10.0, 20.0),
    training=9_000, pieces=(8, 80), whose_epsilons=(10.0, 50.0), net=Training(),
    sides=(10, 30, 100), dense=(10, 100, 1_000),
)  # fmt: skip
QUICK: Final = Size(
    points=25, epsilons=paper_binary.QUICK, tops_users=100,
    items=1_500, users=25, stand_in=3_000, click_epsilons=(1.0, 2.0), click_windows=(1.0,),
    samples=20_000, side=20, people=4, states=1_200, stretch=150, gaze_epsilons=(10.0,),
    training=600, pieces=(2, 40), whose_epsilons=(10.0,), net=Training(units=8, rounds=8),
    sides=(5, 10), dense=(5, 10),
)  # fmt: skip


@lru_cache(maxsize=1)
def _study(size: Size) -> paper_eyes.Study:
    return paper_eyes.study(size.samples, size.side, size.people, size.states)


def _clicks(size: Size, out: Path, tick: Tick) -> list[Section]:
    found = of_sessions(size.items, size.stand_in)
    return [paper_clicks.figure(out, found, size.users, size.click_epsilons, size.click_windows, tick)]


def _whose(size: Size, out: Path, tick: Tick) -> list[Section]:
    what = _study(size)
    cut = paper_whose.pieces_of(what, size.training, *size.pieces)
    return [paper_whose.figure(out, what, cut, size.whose_epsilons, size.net, tick)]


PARTS: Final[Mapping[tuple[str, ...], Part[Size]]] = {
    ("theorems",): lambda size, out, tick: [paper_theorem_claims.section()],
    ("table1",): lambda size, out, tick: [paper_notions.section(size.sides, size.dense, tick)],
    ("fig3",): lambda size, out, tick: [paper_noise_figure.figure(out, "fig3", size.points, tick)],
    ("fig4",): lambda size, out, tick: [paper_noise_figure.figure(out, "fig4", size.points, tick)],
    ("fig5",): lambda size, out, tick: [paper_binary_figure.figure(out, size.epsilons, size.tops_users, tick)],
    ("fig6",): _clicks,
    ("fig7", "fig9"): lambda size, out, tick: list(
        paper_eyes_figures.figures(out, _study(size), size.stretch, size.gaze_epsilons, tick)
    ),
    ("fig8",): _whose,
}
PAPER: Final = Paper(
    described=__doc__,
    title="Sequence Information Privacy: the paper's figures and tables, made again",
    opening="Each claim of the paper beside what is found here: holds, fails, or holds only when. Epsilon is in nats; "
    "SIP is against a reader who knows the model, LDP against every reader.",
    whole=WHOLE,
    quick=QUICK,
    quick_is="small grids, few users",
    parts=PARTS,
    changed=changed,
)
main = PAPER.command

if __name__ == "__main__":
    sys.exit(main())
