"""In which order the positions of a window are released when all of them may be waited for."""

from __future__ import annotations

from collections.abc import Iterator


def bisected(length: int) -> Iterator[int]:
    """All positions, always the middle of the largest gap between those before; the earliest of equal gaps."""
    gaps = [(0, length)]
    while gaps:
        start, end = max(gaps, key=lambda gap: (gap[1] - gap[0], -gap[0]))
        gaps.remove((start, end))
        middle = (start + end - 1) // 2
        yield middle
        gaps += [gap for gap in ((start, middle), (middle + 1, end)) if gap[0] < gap[1]]
