"""The verdicts as they are known. A run that comes to another one says so: then the code has changed, or the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from paper_command import differing
from paper_findings import FAILS, HOLDS, ONLY_WHEN, Section

VERDICTS: Final[dict[str, str]] = {
    "Definitions 3 and 4": ONLY_WHEN,
    "Theorem 1 (LPM)": HOLDS,
    "Theorem 2": ONLY_WHEN,
    "Theorem 3 (sequential)": ONLY_WHEN,
    "Theorem 4 (parallel)": ONLY_WHEN,
    "Theorem 5 (post-processing)": HOLDS,
    "Theorem 6 (convexity)": HOLDS,
    "Theorem 7 (baseline)": ONLY_WHEN,
    "Theorems 8 and 9 (DPM)": ONLY_WHEN,
    "Theorem 9: any query": ONLY_WHEN,
    "VI-D3: too large and too small rho": HOLDS,
    "A budget for any releases": HOLDS,
    "Eq. 14: two tuples": HOLDS,
    "rho = 1 if and only if determined": ONLY_WHEN,
    "Eq. 18": FAILS,
    "Zhu et al.: correlations": FAILS,
    "Eq. 26": FAILS,
    "The scale in rho": FAILS,
    "Theorem 10": ONLY_WHEN,
    "Lemma 2": ONLY_WHEN,
    "Definition 6": FAILS,
    "IV-B: noise on centroids": FAILS,
    "VII-B3: the sensitivity of a degree histogram": ONLY_WHEN,
    "fig6: the sum": HOLDS,
    "fig6: other queries": HOLDS,
    "fig6: dependence costs": HOLDS,
    "table1: the sums": HOLDS,
    "table1: H(D_i)": HOLDS,
    "fig2: friends share a cluster": HOLDS,
    "fig3: closer friends, closer places": HOLDS,
    "fig4: cells near friends weigh more": HOLDS,
    "fig5a: friends help": HOLDS,
    "fig5a: errors fall": ONLY_WHEN,
    "fig5b: half of the others is enough": HOLDS,
    "fig5b: DP is violated": ONLY_WHEN,
    "fig7: little degradation": HOLDS,
    "fig8a: alpha = 1000, epsilon = 1": ONLY_WHEN,
    "fig8b: privacy at the same utility": HOLDS,
    "fig8: where the gain comes from": FAILS,
    "fig8: Lemma 1": HOLDS,
    "fig9a: clustering at epsilon .9": FAILS,
    "fig9b: the affinity graph": FAILS,
    "fig9b: classification": ONLY_WHEN,
    "fig9c: degrees": ONLY_WHEN,
    "fig10a: back to independence": FAILS,
    "fig10a: what the release tells": HOLDS,
    "fig10b: more known, more leaked": HOLDS,
}


def changed(sections: Sequence[Section], quick: bool) -> list[str]:
    return differing(sections, VERDICTS)
