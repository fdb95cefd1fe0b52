"""The verdicts as they are known. A run that comes to another one says so: then the code has changed, or the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from paper_command import differing
from paper_findings import FAILS, HOLDS, ONLY_WHEN, Section

VERDICTS: Final[dict[str, str]] = {
    "Definition 2": ONLY_WHEN,
    "Theorem 1": ONLY_WHEN,
    "Remark 1": ONLY_WHEN,
    "Theorem 4": ONLY_WHEN,
    "Linear queries: the histogram": ONLY_WHEN,
    "Theorem 2": ONLY_WHEN,
    "Appendix A": FAILS,
    "Theorem 3 (1)": HOLDS,
    "Theorem 3 (2)": HOLDS,
    "Theorem 3 (3)": ONLY_WHEN,
    "Theorem 3: more values of x_i": ONLY_WHEN,
    "Lemma 3": ONLY_WHEN,
    "Theorem 5 (chain rule)": ONLY_WHEN,
    "Algorithm 1: the answer": FAILS,
    "The chain rule, repaired": HOLDS,
    "Theorem 5 and Algorithm 1": ONLY_WHEN,
    "The size of the graph": ONLY_WHEN,
    "Eq. (16) and (17)": HOLDS,
    "Corollary 1 (1)": HOLDS,
    "Corollary 1 (2)": FAILS,
    "Corollary 1 (3)": ONLY_WHEN,
    "Lemma 2": HOLDS,
    "Theorem 6": HOLDS,
    "Corollary 2": HOLDS,
    "Positive covariances": ONLY_WHEN,
    "Releases that follow each other": FAILS,
    "fig2: positive": HOLDS,
    "fig2: negative": HOLDS,
    "fig2: independent": HOLDS,
    "fig2: weak correlations": HOLDS,
    "fig2: the order of the five": HOLDS,
    "Example 1: whom the adversary knows": FAILS,
    "Example 2: the numbers": ONLY_WHEN,
    "Example 2: Eq. (5) and (6)": HOLDS,
    "Example 2: stricter than DP": ONLY_WHEN,
    "Example 3": HOLDS,
    "Example 4": HOLDS,
    "Table II (c): the strongest adversary": ONLY_WHEN,
    "fig3: nodes and layers": HOLDS,
    "fig3: the largest node": FAILS,
    "Example 5: the formula": HOLDS,
    "Example 5: who learns more": HOLDS,
    "Example 5: the ends": ONLY_WHEN,
    "fig4: layer 1": HOLDS,
    "fig4a: grows with the correlation": HOLDS,
    "fig4a: grows with the layer": ONLY_WHEN,
    "fig4b: no trend, highest at layer 1": HOLDS,
    "fig4: weights of both signs": HOLDS,
    "fig4c: grows": HOLDS,
    "fig4d: falls with the layer": HOLDS,
    "fig4d: the range": ONLY_WHEN,
    "fig4: a law instead of weights": ONLY_WHEN,
    "fig5: above the full search": ONLY_WHEN,
    "fig5: very close": ONLY_WHEN,
    "fig5: weak correlations": HOLDS,
    "fig5d: far less time": HOLDS,
    "fig5: weights of both signs": FAILS,
    "Propositions 1 and 2": HOLDS,
}


def changed(sections: Sequence[Section], quick: bool) -> list[str]:
    return differing(sections, VERDICTS)
