"""The verdicts as they are known. A run that comes to another one says so: then the code has changed, or the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cpl_data import faces
from paper_command import differing
from paper_findings import FAILS, HOLDS, ONLY_WHEN, Section

VERDICTS: Final[dict[str, str]] = {
    "Algorithm 1": ONLY_WHEN,
    "Algorithm 2": HOLDS,
    "Algorithm 3": FAILS,
    "Equation (6)": ONLY_WHEN,
    "Definition (4)": FAILS,
    "Equation (13) for delta > 0": HOLDS,
    "Equation (20): the relaxation f*": ONLY_WHEN,
    "Equation (16)": ONLY_WHEN,
    "Corollary H.2": ONLY_WHEN,
    "Corollary H.1": ONLY_WHEN,
    "Corollary IV.4 (OB2)": HOLDS,
    "Lemma IV.5": ONLY_WHEN,
    "Lemma C.1": ONLY_WHEN,
    "The outputs of OUE, RAPPOR, BLH, OLH and SHE": FAILS,
    "Appendix A: RAPPOR's constants": FAILS,
    "Appendix A: EXP": FAILS,
    "Appendix N: CPL grows with the budget": ONLY_WHEN,
    "fig4a: GRR leaks most": ONLY_WHEN,
    "fig4a: occupation before education": HOLDS,
    "fig4a: one pattern for all mechanisms": ONLY_WHEN,
    "fig4a: the guess": HOLDS,
    "fig4a: Equation (6) on Adult": ONLY_WHEN,
    "fig4b: beard, necklace, smiling": HOLDS,
    "fig4b: the necklace saturates": HOLDS,
    "fig4b: all saturate": ONLY_WHEN,
    "fig4b: below the budget": HOLDS,
    "fig4b: the sum is a tight bound": ONLY_WHEN,
    "fig4c: the two numbers": HOLDS,
    "fig4c: not symmetric (OB1)": HOLDS,
    "fig4c: a patient's cholesterol": ONLY_WHEN,
    "fig4c: most near 0": HOLDS,
    "fig4d: most near 0": ONLY_WHEN,
    "fig4d: below the worst case": HOLDS,
    "fig5: CPL grows with the metrics": HOLDS,
    "fig5: no metric tells it (OB3)": HOLDS,
    "fig5: symmetric metrics": HOLDS,
    "fig6: SPL-ANL overestimates": HOLDS,
    "fig6: EXP-ANL lies in R1": HOLDS,
    "fig6: CBP underestimates": HOLDS,
    "fig6: GRF lies in R3": HOLDS,
    "fig6: ITS for any mechanism": HOLDS,
    "fig6: GRR-ANL where ITS is": HOLDS,
    "fig6: ITS and CBP for GRR": HOLDS,
    "fig6: ITS overestimates OUE": ONLY_WHEN,
    "fig6: ITS is safe for OUE": ONLY_WHEN,
    "fig7: OLH at 60 % of SS": ONLY_WHEN,
    "fig7: mechanisms leak differently": ONLY_WHEN,
    "fig7: 0-1 error behaves alike": HOLDS,
    "fig7: other data sets": ONLY_WHEN,
    "fig8: five times the budget": FAILS,
    "fig8: less error": HOLDS,
    "fig8: the limit is kept": ONLY_WHEN,
    "fig8: pairwise sums suffice": HOLDS,
    "fig8: public data do as well": HOLDS,
    "table1: small errors": ONLY_WHEN,
    "table1: significance": FAILS,
    "table1: copies make up for few records": ONLY_WHEN,
    "table2: GRR and SS are close to the bound": HOLDS,
    "table2: the others are far from it": ONLY_WHEN,
    "table2: the printed numbers": HOLDS,
    "table3: weak by the usual metrics": HOLDS,
    "table3: the largest leak": HOLDS,
    "table3: estimates agree": HOLDS,
    "table3: the theoretical columns": ONLY_WHEN,
}
REAL: Final[Mapping[str, str]] = {"fig8: five times the budget": ONLY_WHEN, "fig8: pairwise sums suffice": ONLY_WHEN}
"""Where CelebA itself comes to another verdict than its stand-in."""
REAL_AND_SMALL: Final[Mapping[str, str]] = {
    "fig8: five times the budget": FAILS,
    "fig8: the limit is kept": FAILS,
    "fig8: pairwise sums suffice": FAILS,
    "fig8: public data do as well": FAILS,
}
"""And where its first few attributes do."""


def changed(sections: Sequence[Section], quick: bool) -> list[str]:
    real = (REAL_AND_SMALL if quick else REAL) if faces().real else {}
    return differing(sections, {**VERDICTS, **real})
