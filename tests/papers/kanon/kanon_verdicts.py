"""The verdicts as they are known. A run that comes to another one says so: then the code has changed, or the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kanon_findings import ARTEFACT, IMPOSSIBLE, NOT_REPRODUCED, POSSIBLE, REPRODUCED, REVERSED
from paper_command import differing
from paper_findings import FAILS, HOLDS, ONLY_WHEN, Section

VERDICTS: Final[dict[str, str]] = {
    "Definition 1": ONLY_WHEN,
    "Definition 2": FAILS,
    "Theorem 1 (I)": ONLY_WHEN,
    "Theorem 1: the split": ONLY_WHEN,
    "Theorem 1 (II)": ONLY_WHEN,
    "Theorem 1: the neighbour": FAILS,
    "Lemma 2": ONLY_WHEN,
    "Equation 15": FAILS,
    "Lemma 3": ONLY_WHEN,
    "Theorem 4": ONLY_WHEN,
    "Theorem 4: whose variance": FAILS,
    "Theorem 4: for all O": ONLY_WHEN,
    "Theorem 6": ONLY_WHEN,
    "Theorem 6: whoever is known": HOLDS,
    "Equation 35": ONLY_WHEN,
    "Equation 36": FAILS,
    "Equation 35: its second constant": HOLDS,
    "Theorem 5: what moves": FAILS,
    "Theorem 7": ONLY_WHEN,
    "k offers noiseless privacy": ONLY_WHEN,
    "The bounds of moments": ONLY_WHEN,
    "Sets by their range": ONLY_WHEN,
    "Several releases": FAILS,
    "fig1a: epsilon rises with s": HOLDS,
    "fig1b: delta rises with s": HOLDS,
    "fig1b: delta is more robust": ONLY_WHEN,
    "fig1c: epsilon rises with k": FAILS,
    "fig1b: the caption's sums": FAILS,
    "fig2a: delta rises with lambda1": HOLDS,
    "fig2a: the caption's sums": HOLDS,
    "fig2b: delta rises with epsilon": ONLY_WHEN,
    "fig2c: epsilon rises with s": HOLDS,
    "fig3a: delta rises with lambda2": ONLY_WHEN,
    "fig3a: the caption's sums": FAILS,
    "fig3b: epsilon falls with lambda2": FAILS,
    "fig4a: falls, then rises": ONLY_WHEN,
    "fig4b: delta rises with lambda1": HOLDS,
    "fig4: the captions' sums": HOLDS,
    "fig4c: epsilon falls with lambda2": FAILS,
}

FIGURES: Final[dict[str, str]] = {
    "fig1a: epsilon rises with s": REPRODUCED,
    "fig1b: delta rises with s": REPRODUCED,
    "fig1b: delta is more robust": REPRODUCED,
    "fig1c: epsilon rises with k": ARTEFACT,
    "fig1b: the caption's sums": IMPOSSIBLE,
    "fig2a: delta rises with lambda1": REPRODUCED,
    "fig2a: the caption's sums": POSSIBLE,
    "fig2b: delta rises with epsilon": REPRODUCED,
    "fig2c: epsilon rises with s": REPRODUCED,
    "fig3a: delta rises with lambda2": NOT_REPRODUCED,
    "fig3a: the caption's sums": IMPOSSIBLE,
    "fig3b: epsilon falls with lambda2": REVERSED,
    "fig4a: falls, then rises": REPRODUCED,
    "fig4b: delta rises with lambda1": REPRODUCED,
    "fig4: the captions' sums": POSSIBLE,
    "fig4c: epsilon falls with lambda2": REVERSED,
}
"""What is found of a figure's claim, beside its verdict."""


def changed(sections: Sequence[Section], quick: bool) -> list[str]:
    return differing(sections, VERDICTS)
