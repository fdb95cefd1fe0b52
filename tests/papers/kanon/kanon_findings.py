"""What may be found of a figure's claim, beside whether it holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from paper_findings import Claim, verdict_of

REPRODUCED: Final = "Reproduced"
ARTEFACT: Final = "An artefact"
REVERSED: Final = "Reversed"
NOT_REPRODUCED: Final = "Not reproduced"
IMPOSSIBLE: Final = "Impossible inputs"
POSSIBLE: Final = "Possible inputs"
KINDS: Final = (REPRODUCED, ARTEFACT, REVERSED, NOT_REPRODUCED, IMPOSSIBLE, POSSIBLE)


def seen(name: str, claim: str, kind: str, cases: Iterable[bool], found: str, reason: str) -> Claim:
    return Claim(name, claim, verdict_of(cases), f"{kind}. {found}", reason)
