"""Every figure and table of the paper on Sequence Information Privacy once more, as PNG and numbers, each claim beside
what is found:

    python tests/papers/sip/paper.py --out DIR [--quick] [--only fig5 fig6 ...]

DIR gets findings.md, findings.html, findings.json and a PNG for each figure. With SOTTOVOCE_DATA naming the folder of
the Kosarak click-stream Figure 6 is made of real sessions, otherwise of a seeded stand-in. `--quick` makes everything
smaller. Exit status: 0 all verdicts are those that are written down in paper_verdicts.py; 1 one of them has changed;
2 refused.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices: more threads only wait for each other
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(1, str(Path(__file__).resolve().parents[2]))

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
from paper_findings import Section, write_all
from paper_verdicts import changed

from stream.attack.recurrent import Training
from stream.moving_line import MovingLine

Tick = Callable[[float], None]
TITLE: Final = "Sequence Information Privacy: the paper's figures and tables, made again"


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


PARTS: Final[Mapping[tuple[str, ...], Callable[[Size, Path, Tick], list[Section]]]] = {
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
NAMES: Final = tuple(name for names in PARTS for name in names)


def make(out: Path, size: Size, only: Sequence[str]) -> list[Section]:
    """The sections in the paper's order, with progress on the standard error."""
    line, sections = MovingLine(sys.stderr, at_once=True), list[Section]()
    for names, part in PARTS.items():
        if not set(names) & set(only):
            continue
        began = time.monotonic()

        def tick(share: float, names: tuple[str, ...] = names, began: float = began) -> None:
            if line.is_due():
                line.write(f"{' and '.join(names)}: {share:.0%}, {time.monotonic() - began:.0f} s")

        tick(0.0)
        sections += [section for section in part(size, out, tick) if section.name in only]
        line.clear()
        print(f"{' and '.join(names)}: done in {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return sorted(sections, key=lambda section: NAMES.index(section.name))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for findings and pictures; made if missing")
    parser.add_argument("--quick", action="store_true", help="smaller grids, fewer users: less than two minutes")
    parser.add_argument(
        "--only", nargs="+", choices=NAMES, default=NAMES, metavar="PART", help=f"of {', '.join(NAMES)}"
    )
    chosen = parser.parse_args(arguments)
    try:
        chosen.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"paper: cannot make the folder {chosen.out}: {error.strerror}. Name one with --out.", file=sys.stderr)
        return 2
    began = time.monotonic()
    sections = make(chosen.out, QUICK if chosen.quick else WHOLE, chosen.only)
    opening = (
        "Each claim of the paper beside what is found here: holds, fails, or holds only when. Epsilon is in nats; "
        "SIP is against a reader who "
        "knows the model, LDP against every reader. "
        f"{'A quick pass: small grids, few users.' if chosen.quick else 'The whole pass.'}"
    )
    write_all(chosen.out, TITLE, opening, sections)
    others = changed(sections, quick=chosen.quick)
    for other in others:
        print(f"paper: {other}", file=sys.stderr)
    claims = sum(len(section.claims) for section in sections)
    print(f"{claims} claims in {time.monotonic() - began:.0f} s: {chosen.out / 'findings.html'}")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
