"""The counters that workers export, read from their metrics pages and added up."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from stream.errors import CannotAudit
from stream.names import METRIC_PREFIX

SECONDS: Final = 5.0
LARGEST_PAGE: Final = 16 << 20

EVENTS: Final = METRIC_PREFIX + "events_total"
ABOVE_EPSILON: Final = METRIC_PREFIX + "releases_above_epsilon_total"

_LINE = re.compile(r'^(\w+)\{(?:outcome|side)="(\w+)"\} ([0-9.e+]+)$', re.MULTILINE)

Counts = Counter[tuple[str, str]]


async def read_counters(addresses: Sequence[str]) -> Counts:
    """The sum over all pages of the counters that an audit can check."""
    return counters_of(await read_pages(addresses))


async def read_pages(addresses: Sequence[str]) -> list[str]:
    return [await asyncio.to_thread(_page, address) for address in addresses]


def counters_of(pages: Sequence[str]) -> Counts:
    total: Counts = Counter()
    for page in pages:
        total.update(counters_in(page))
    return total


def counters_in(page: str) -> Counts:
    found: Counts = Counter()
    for name, label, number in _LINE.findall(page):
        if name in (EVENTS, ABOVE_EPSILON):
            found[name, label] += int(float(number))
    return found


def _page(address: str) -> str:
    refusal = CannotAudit(
        "The exported counters cannot be read.",
        where=address,
        why="no metrics page answered at this address",
        fix="give the address of a worker's /metrics, or leave it out: the audit then says nothing about counters",
    )
    if urlsplit(address).scheme not in ("http", "https"):
        raise refusal
    try:
        with urlopen(address, timeout=SECONDS) as answer:  # noqa: S310 the scheme was looked at
            text: bytes = answer.read(LARGEST_PAGE)
            return text.decode("utf-8", errors="replace")
    except (URLError, OSError, ValueError):
        raise refusal from None
