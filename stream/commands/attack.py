"""`sottovoce attack`: published attacks on noisy totals of people who are made up, and what each one really learnt.

Exit status 0 when every attack stays under what its noise claims, 1 when one gets beyond, 2 when it cannot be tried.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from stream.commands.report import errors_told, say, say_json
from stream.errors import CannotPlan
from stream.names import EXIT_DONE, EXIT_FAILED
from stream.planning.progress import Progress
from stream.social.attacker import ALONE, FRIENDS, KINDS, KNOWN_LEAST, PRODUCT
from stream.social.group import FRIENDS_MOST, Group, Told, region_of, somebody_with_friends
from stream.social.survey import Asked, Cell, Row, one_person, survey
from stream.social.world import PEOPLE, World, social_world

OWN, DEPENDENT = "own", "dependent"
NOISES: Final = (OWN, DEPENDENT)
CITY_NAMES: Final = ("New York", "San Francisco", "Los Angeles")
EPSILON_MOST: Final = Fraction(32)
POWER_DIGITS_MAX: Final = 4
_WORDS: Final = {
    ALONE: "others only",
    FRIENDS: "friends, as published",
    PRODUCT: "friends, better",
}


@dataclass(frozen=True)
class Options:
    """As they were given."""

    epsilons: Sequence[str]
    kinds: Sequence[str]
    knows: int
    people: int
    windows: int
    friends: int
    noise: str
    seed: int


@dataclass(frozen=True)
class Found:
    options: Options
    asked: Asked
    rows: Sequence[Row]
    cells: Sequence[Cell]
    region: str
    told: Told

    @property
    def is_beyond(self) -> bool:
        return self.told.is_beyond or any(row.is_beyond for row in self.rows)


def attack_command(options: Options, *, as_json: bool) -> int:
    with errors_told(as_json=as_json), Progress("attack", sys.stderr) as progress:
        _check(options)
        found = _attacked(options, progress)
        progress.clear()
        if as_json:
            say_json(figures(found))
        else:
            say("\n".join(lines(found)))
    return EXIT_FAILED if found.is_beyond else EXIT_DONE


def _attacked(options: Options, progress: Progress) -> Found:
    epsilons = [_epsilon(text) for text in options.epsilons]
    world, covered = social_world(), options.noise == DEPENDENT
    # A person with all friends moves the totals by at most their number times what he moves alone.
    dependent = Fraction(1 + int(world.degrees().max())) if covered else Fraction(1)
    asked = Asked(epsilons, options.kinds, options.knows, options.people, dependent, options.seed)
    rows = survey(world, asked, lambda done, of: progress("attacks", done, of))
    person = somebody_with_friends(world, options.friends)
    told = _watched(world, person, options, epsilons[-1])
    return Found(options, asked, rows, one_person(world, asked), region_of(world, person), told)


def _watched(world: World, person: int, options: Options, epsilon: Fraction) -> Told:
    group = Group.of(world, person, options.friends)
    return group.watch(epsilon, options.windows, options.seed, dependent=options.noise == DEPENDENT)


def _check(options: Options) -> None:
    limits = (
        ("--knows", options.knows, KNOWN_LEAST, PEOPLE),
        ("--people", options.people, 1, PEOPLE),
        ("--windows", options.windows, 1, 1000),
        ("--friends", options.friends, 0, FRIENDS_MOST),
        ("--seed", options.seed, 0, (1 << 64) - 1),
    )
    for name, value, least, most in limits:
        if not least <= value <= most:
            raise cannot(name, f"{value} is not from {least} to {most}", "write a whole number in that range")
    for name, given, known in (("--attack", options.kinds, KINDS), ("--noise", [options.noise], NOISES)):
        for each in given:
            if each not in known:
                raise cannot(name, f"{each} is not known here", f"write one of {', '.join(known)}")


def _epsilon(text: str) -> Fraction:
    # Ten to a power of many digits would take all memory before it is found to be out of range.
    power = text.lower().partition("e")[2]
    try:
        epsilon = Fraction(text) if len(power) <= POWER_DIGITS_MAX else Fraction(0)
    except (ValueError, ZeroDivisionError):
        epsilon = Fraction(0)
    if not Fraction(1, 1000) <= epsilon <= EPSILON_MOST:
        raise cannot("--epsilon", f"{text} is no number of nats from 0.001 to {EPSILON_MOST}", "write --epsilon 0.5")
    return epsilon


def cannot(where: str, why: str, fix: str) -> CannotPlan:
    return CannotPlan("The attack cannot be tried.", where=f"option {where}", why=why, fix=fix)


def figures(found: Found) -> dict[str, Any]:
    told = found.told
    return {
        "ok": True,
        "beyond": found.is_beyond,
        "noise": found.options.noise,
        "attacks": [{**row._asdict(), "epsilon": float(row.epsilon), "beyond": row.is_beyond} for row in found.rows],
        "one_person": [cell._asdict() for cell in found.cells],
        "windows": {
            "region": found.region,
            "before": told.believed,
            "truth": told.truth,
            "seen": [seen._asdict() for seen in told.windows],
            "claimed": told.claimed,
            "may_tell": told.may_tell,
            "realised": told.realised,
            "claimed_of_one": told.one_window,
            "shown_of_one": told.shown,
            "beyond": told.is_beyond,
        },
    }


def lines(found: Found) -> Iterator[str]:
    asked = found.asked
    yield f"People who are made up: {PEOPLE:,} in three cities, attacked with {asked.people:,} of them as targets,"
    yield f"{min(asked.knows, PEOPLE - 1):,} others known. Noise for {_covered(found)}."
    yield ""
    yield "Totals of where people live: what is believed of somebody's cell (1,200 of them; means)"
    yield (
        f"    {'attack':<22} {'epsilon':>8} {'surprise before, after':>23} {'bits by friends':>16} "
        f"{'by the release':>15} {'odds moved by':>14}"
    )
    for row in found.rows:
        surprise = f"{row.surprise_before:.2f}, {row.surprise_after:.2f} bits"
        yield (
            f"    {_WORDS[row.kind]:<22} {float(row.epsilon):>8g} {surprise:>23} {_bits(row.context_bits):>16.3f} "
            f"{_bits(row.release_bits):>15.4f} {row.moved:>14.4f}"
        )
    yield ""
    yield f"One of them, by '{_WORDS[asked.kinds[-1]]}' at epsilon {float(asked.epsilons[-1]):g}"
    for cell in found.cells:
        mark = "  lives here" if cell.is_home else ""
        place = f"{CITY_NAMES[cell.city]}, cell {cell.east}/{cell.north}"
        yield f"    {place:<28} before {cell.before:>7.2%}   after {cell.after:>7.2%}{mark}"
    yield ""
    yield from _window_lines(found)
    yield ""
    yield f"verdict: {'BEYOND THE CLAIM' if found.is_beyond else 'UNDER THE CLAIM'}"


def _bits(told: float) -> float:
    """Without a minus before nothing."""
    return round(told, 4) + 0.0


def _window_lines(found: Found) -> Iterator[str]:
    told = found.told
    yield (
        f"Somebody with {found.options.friends} unknown friends: does he live in {found.region}? {len(told.windows)} "
        f"windows count who does, epsilon {told.one_window:g} each"
    )
    yield f"    {'window':>6} {'released':>9} {'believed':>9} {'may tell':>9}"
    yield f"    {'before':>6} {'':>9} {told.believed:>9.2%}"
    for number, seen in enumerate(told.windows, 1):
        yield f"    {number:>6} {seen.released:>9} {seen.belief:>9.2%} {seen.charge:>9.4f}"
    yield f"    the truth is {'yes' if told.truth else 'no'}; these windows told {told.realised:.4f} nats, at most "
    yield f"    {told.may_tell:.4f} were possible, {told.claimed:.4f} are claimed. One window leaks at least"
    yield f"    {told.shown:.4f} nats by what draws show for certain, {told.one_window:g} are claimed."


def _covered(found: Found) -> str:
    if found.options.noise == DEPENDENT:
        return "a person and all friends together"
    return "one person alone, as if nobody depended on anybody"
