"""The verdicts as they are known. A run that comes to another one says so: then the code has changed, or the reason.

Figure 8 is not among them. Its guesses come from a net that is trained in floating point: on another processor last
bits differ, training makes them grow, and some of so few guesses turn. What it found is in the findings all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from paper_command import differing
from paper_findings import FAILS, HOLDS, ONLY_WHEN, Section

NOT_COMPARED: Final = "fig8"
VERDICTS: Final[dict[str, str]] = {
    "Definition (6)": FAILS,
    "Theorem 1": ONLY_WHEN,
    "Theorem 2": FAILS,
    "Theorem 2, batches": FAILS,
    "Theorem 3": HOLDS,
    "Theorem 5": HOLDS,
    "Theorem 4: the bound": ONLY_WHEN,
    "Theorem 4: optimal": ONLY_WHEN,
    "Theorem 4: as printed": FAILS,
    "Theorem 4: marginals": ONLY_WHEN,
    "Algorithm 2": FAILS,
    "Window CRR": FAILS,
    "A different prior": FAILS,
    "Mutual information": HOLDS,
    "Bounded release": HOLDS,
    "Table I: SIP costs O(|X|)": ONLY_WHEN,
    "Table I: SIP composes": HOLDS,
    "Table I: LDP": HOLDS,
    "Table I: MIP": HOLDS,
    "fig3: closed forms": ONLY_WHEN,
    "fig3: noises follow the data": HOLDS,
    "fig3: epsilon-SIP": ONLY_WHEN,
    "fig3: less noise at time 2": ONLY_WHEN,
    "fig3: bounded noise": HOLDS,
    "fig4: closed forms": ONLY_WHEN,
    "fig4: noises follow the data": HOLDS,
    "fig4: epsilon-SIP": FAILS,
    "fig4: less noise at time 2": ONLY_WHEN,
    "fig4: bounded noise": ONLY_WHEN,
    "fig4: the steeper prior": HOLDS,
    "fig5: what case 1 is": FAILS,
    "fig5: sandwich, case 1": HOLDS,
    "fig5: batches, case 1": ONLY_WHEN,
    "fig5: sandwich, case 2": ONLY_WHEN,
    "fig5: batches, case 2": ONLY_WHEN,
    "fig5: strong correlation beats 2 epsilon-LDP": ONLY_WHEN,
    "fig5: correlation helps SIP": HOLDS,
    "fig5: CRR keeps epsilon": ONLY_WHEN,
    "fig6: beats 2 epsilon-LDP": HOLDS,
    "fig6: CRR keeps epsilon": FAILS,
    "fig6: larger batches": ONLY_WHEN,
    "fig6: ToPS between": HOLDS,
    "fig7: the trace is kept": HOLDS,
    "fig9: batches": ONLY_WHEN,
    "fig9: better than 2 epsilon": ONLY_WHEN,
    "fig9: CRR keeps epsilon": FAILS,
    "fig9: twice the utility": ONLY_WHEN,
    "fig9: temporal LDP from past values": FAILS,
}
SMALL: Final[dict[str, str]] = {"fig9: batches": HOLDS}
"""Where a quick pass, with its small grids and few epsilons, comes to another verdict than the whole one."""


def changed(sections: Sequence[Section], quick: bool) -> list[str]:
    known = VERDICTS | (SMALL if quick else {})
    return differing([section for section in sections if section.name != NOT_COMPARED], known)
