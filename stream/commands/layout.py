"""How an explanation is laid out: titles with wrapped sentences below, and warnings in a frame."""

import textwrap
from collections.abc import Iterable
from typing import Final

_WIDTH: Final = 100


def section(title: str, lines: Iterable[str]) -> str:
    return "\n".join([title, *(_wrapped(line) for line in lines)])


def warned(warnings: Iterable[str]) -> str:
    border = "!" * _WIDTH
    return "\n".join([border, *(_wrapped(f"WARNING: {warning}") for warning in warnings), border])


def _wrapped(line: str) -> str:
    return textwrap.fill(line, _WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
