"""The command that makes a paper's figures and tables again; what is a paper's own is handed in."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import machine
from paper_findings import Section, write_all

from stream.moving_line import MovingLine

Tick = Callable[[float], None]
Size = TypeVar("Size")
Part = Callable[[Size, Path, Tick], list[Section]]


@dataclass(frozen=True)
class Paper(Generic[Size]):
    """`parts`: what is made together, by the names of its sections in the paper's order.

    `changed` answers one sentence for each verdict that is not the known one.
    """

    described: str
    title: str
    opening: str
    whole: Size
    quick: Size
    quick_is: str
    parts: Mapping[tuple[str, ...], Part[Size]]
    changed: Callable[[Sequence[Section], bool], list[str]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for names in self.parts for name in names)

    def make(self, out: Path, size: Size, only: Sequence[str]) -> list[Section]:
        """The sections in the paper's order, with progress on the standard error."""
        line, sections = MovingLine(sys.stderr, at_once=True), list[Section]()
        for names, part in self.parts.items():
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
        return sorted(sections, key=lambda section: self.names.index(section.name))

    def command(self, arguments: Sequence[str] | None = None) -> int:
        """0: all verdicts are the known ones; 1: one of them is another; 2: refused."""
        chosen = self._parser().parse_args(arguments)
        try:
            chosen.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            print(
                f"paper: cannot make the folder {chosen.out}: {error.strerror}. Name one with --out.", file=sys.stderr
            )
            return 2
        began = time.monotonic()
        try:
            sections = self.make(chosen.out, self.quick if chosen.quick else self.whole, chosen.only)
        except machine.MachineError as error:
            print(f"paper: {error}", file=sys.stderr)
            return 2
        write_all(chosen.out, self.title, f"{self.opening} {self._extent(chosen.quick)}", sections)
        others = self.changed(sections, chosen.quick)
        for other in others:
            print(f"paper: {other}", file=sys.stderr)
        claims = sum(len(section.claims) for section in sections)
        print(f"{claims} claims in {time.monotonic() - began:.0f} s: {chosen.out / 'findings.html'}")
        return 1 if others else 0

    def _extent(self, quick: bool) -> str:
        return f"A quick pass: {self.quick_is}." if quick else "The whole pass."

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(
            description=self.described, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("--out", type=Path, required=True, help="folder for findings and pictures; made if missing")
        parser.add_argument("--quick", action="store_true", help=f"{self.quick_is}: less than two minutes")
        parser.add_argument(
            "--only", nargs="+", choices=self.names, default=self.names, metavar="PART", help=", ".join(self.names)
        )
        return parser


def differing(sections: Sequence[Section], known: Mapping[str, str]) -> list[str]:
    """One sentence for each claim whose verdict is not the known one."""
    return [
        f"the verdict about '{claim.name}' is '{claim.verdict}', known is '{known.get(claim.name, 'nothing')}'"
        for section in sections
        for claim in section.claims
        if known.get(claim.name) != claim.verdict
    ]
