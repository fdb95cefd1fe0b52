"""Figures 5, 7 and 10: what attacks learn from noisy totals, and from friends alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from ddp_noise import coverage
from ddp_world_figures import kilometres
from paper_command import Tick
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of

from beliefs.dependence.attack import entropy_bits
from beliefs.dependence.underestimate import kept
from stream.social.attacker import ALONE, FRIENDS, PRODUCT, Attacker
from stream.social.draws import Draws
from stream.social.release import release
from stream.social.world import CITIES, GRID, SQUARE_KM, Floats, World, cell_centres, social_world

EVERYBODY, HALF = 6968, 3500
NAMES: Final = {ALONE: "Attack 1", FRIENDS: "Attack 2", PRODUCT: "Attack 2, better"}
KNOWS: Final = (500, 1500, HALF, EVERYBODY)
ONE_PERSON: Final = Fraction(1)
Curve = tuple[str, int]


class Told(NamedTuple):
    """Means over people: Eq. 10 in km, Eq. 11 in bits, the part of it that the release tells, and nats at most."""

    error: float
    leaked: float
    of_release: float
    most: float


@cache
def world() -> World:
    return social_world()


@cache
def told(kind: str, knows: int, epsilon: Fraction, dependent: Fraction, people: int) -> Told:
    """The release of seed 1, attacked for so many people."""
    made = world()
    attacker = Attacker.of(made, release(made, epsilon, dependent=dependent), kind, knows)
    homes, cells, errors, leaks, of_release, most = made.on_earth()[:, 0], _cells_on_earth(), [], [], [], []
    for person in Draws.of(51).order("attacked", made.size)[:people].tolist():
        belief = attacker.look_at(person)
        guess = int(belief.posterior.argmax())
        errors.append(float(kilometres(homes[person], cells[guess])))
        leaks.append(_without_graph(attacker, person) - entropy_bits(belief.posterior))
        of_release.append(belief.release_bits)
        most.append(belief.told)
    return Told(float(np.mean(errors)), float(np.mean(leaks)), float(np.mean(of_release)), max(most))


def _without_graph(attacker: Attacker, person: int) -> float:
    """H(D_i) of Eq. 11: by Eq. 8, without friends and without smoothing."""
    others = attacker.known.copy()
    others[person] = False
    counts = np.bincount(attacker.world.cells()[others], minlength=len(CITIES) * GRID * GRID)
    return entropy_bits(counts / counts.sum())


@cache
def _cells_on_earth() -> Floats:
    apart = (cell_centres() - 0.5) * SQUARE_KM / 111.195
    rows = [
        np.stack([middle[0] + apart[:, 1], middle[1] + apart[:, 0] / np.cos(np.radians(middle[0]))], axis=1)
        for middle in CITIES
    ]
    return np.concatenate(rows)


def figure_5(folder: Path, epsilons: Sequence[Fraction], people: int, tick: Tick) -> Section:
    curves = [(kind, knows) for kind in (ALONE, FRIENDS, PRODUCT) for knows in (EVERYBODY, HALF)]
    found: dict[Curve, list[Told]] = {}
    for place, (kind, knows) in enumerate(curves):
        found[kind, knows] = [told(kind, knows, epsilon, ONE_PERSON, people) for epsilon in epsilons]
        tick((place + 1) / len(curves))
    across = [float(epsilon) for epsilon in epsilons]

    def panel(title: str, up: str, field: str) -> Panel:
        lines = [Line(_name(curve), across, [getattr(each, field) for each in row]) for curve, row in found.items()]
        if field != "error":
            lines.append(Line("epsilon, in bits", across, [each / np.log(2.0) for each in across]))
        return Panel(title, "epsilon", up, lines)

    return Section(
        "fig5",
        "Figure 5: two attacks on noisy totals",
        f"{people} of 6,969 made-up people; counts and sums of the most frequented place with public centres, Laplace "
        "noise for one person; the attacker knows the cells of everybody else, or of 3,500.",
        _claims_5(across, found),
        [_numbers(across, found)],
        [
            draw(
                folder / "fig5.png",
                "Figure 5: errors and leaked information",
                [
                    panel("(a) inference error, Eq. 10", "km", "error"),
                    panel("(b) leaked information, Eq. 11", "bits", "leaked"),
                    panel("what the release itself tells", "bits", "of_release"),
                ],
                "Eq. 11 takes H(D_i) without friends and the posterior with them: nearly all of it was known before "
                "the release. The last panel is not in the paper.",
            )
        ],
    )


def _name(curve: Curve) -> str:
    return f"{NAMES[curve[0]]}, {'all' if curve[1] == EVERYBODY else f'{curve[1]:,}'} known"


def _numbers(across: Sequence[float], found: Mapping[Curve, Sequence[Told]]) -> Numbers:
    rows = [
        [_name(curve), epsilon, *each]
        for curve, row in found.items()
        for epsilon, each in zip(across, row, strict=True)
    ]
    columns = ["attack", "epsilon", "error in km", "Eq. 11 in bits", "of the release", "largest change in nats"]
    return Numbers("means over people", columns, rows)


def _claims_5(across: Sequence[float], found: Mapping[Curve, Sequence[Told]]) -> list[Claim]:
    one, two, half = found[ALONE, EVERYBODY], found[FRIENDS, EVERYBODY], found[FRIENDS, HALF]
    better = found[PRODUCT, EVERYBODY]
    beyond = [each.leaked > epsilon for each, epsilon in zip(better, across, strict=True)]
    of_release = [each.of_release / 1.4427 for each in two]
    within = all(each.most <= epsilon * (1 + 1e-9) for row in found.values()
                 for each, epsilon in zip(row, across, strict=True))  # fmt: skip
    return [
        Claim(
            "fig5a: friends help",
            "Attack 2 errs less than Attack 1.",
            verdict_of([b.error < a.error for a, b in zip(one, two, strict=True)]),
            f"{two[0].error:.0f} km and {one[0].error:.0f} km at epsilon {across[0]:g}; multiplied weights "
            f"{better[0].error:.0f} km.",
            "friends tell the city, which the totals do not.",
        ),
        Claim(
            "fig5a: errors fall",
            "Larger epsilon means smaller errors.",
            verdict_of([row[-1].error <= row[0].error + 1e-9 for row in (one, two, better)]),
            f"Attack 1: {one[0].error:.0f} km at {across[0]:g}, {one[-1].error:.0f} km at {across[-1]:g}; Attack 2: "
            f"{two[0].error:.0f} and {two[-1].error:.0f} km.",
            "the totals say something about one person; at these epsilons little, one draw of noise decides which way.",
        ),
        Claim(
            "fig5b: half of the others is enough",
            "Attack 2 knowing 3,500 leaks more than Attack 1 knowing all.",
            verdict_of([b.leaked > a.leaked for a, b in zip(one, half, strict=True)]),
            f"{half[0].leaked:.2f} and {one[0].leaked:.2f} bits at epsilon {across[0]:g}.",
            "as Eq. 11 measures: friends are context, known with or without a release.",
        ),
        Claim(
            "fig5b: DP is violated",
            "The leaked information exceeds epsilon.",
            verdict_of([all(beyond), any(told > epsilon for told, epsilon in zip(of_release, across, strict=True))]),
            f"Eq. 11 at {across[0]:g}: {two[0].leaked:.2f} bits, with multiplied weights {better[0].leaked:.2f}. Of "
            f"these the release tells {two[0].of_release:.4f} and {better[0].of_release:.4f}; odds were moved by at "
            f"most epsilon: {'always' if within else 'not always'}.",
            "what friends tell is counted as a leak of the release. Eq. 11 gives it without any release as well.",
        ),
    ]


def figure_7(folder: Path, epsilons: Sequence[Fraction], people: int, tick: Tick) -> Section:
    found: dict[str, list[Told]] = {}
    shares = (1.0, 0.9, 0.8)
    full = coverage(world()).eq_18
    for place, share in enumerate(shares):
        dependent = Fraction(1) + Fraction(share) * (Fraction(full) - 1)
        name = "the right rho" if share == 1.0 else f"rho taken at {share:g}"
        found[name] = [told(PRODUCT, EVERYBODY, epsilon, dependent, people) for epsilon in epsilons]
        tick((place + 1) / len(shares))
    across = [float(epsilon) for epsilon in epsilons]
    true = [kept(full, 1.0, share, 1.0).epsilon for share in shares]
    panels = [
        _from_zero("leaked information, Eq. 11", "bits", across, found, "leaked"),
        _from_zero("by how much odds are moved at most", "nats", across, found, "most"),
    ]
    degraded = [abs(row[-1].leaked - found["the right rho"][-1].leaked) for row in found.values()]
    return Section(
        "fig7",
        "Figure 7: coefficients taken too small",
        f"Noise for {full:.0f} times one person's sensitivity: Eq. 18 for friends, at the person with most; {people} "
        "people.",
        [
            Claim(
                "fig7: little degradation",
                "With rho at .9 and .8 the leaked information hardly grows.",
                verdict_of([max(degraded) < 0.01, true[2] <= 1.25]),
                f"At most {max(degraded):.4f} bits more; the true epsilon is {true[1]:.4f} and {true[2]:.4f} times "
                "the one promised.",
                "it is at most 1/.9 and 1/.8 times as much.",
            )
        ],
        [Numbers("bits at the largest epsilon", ["rho", "Eq. 11", "of the release"],
                 [[name, row[-1].leaked, row[-1].of_release] for name, row in found.items()])],
        [draw(folder / "fig7.png", "Figure 7: underestimated coefficients", panels, "The better Attack 2, all known.")],
    )  # fmt: skip


def _from_zero(title: str, up: str, across: Sequence[float], found: Mapping[str, Sequence[Told]], field: str) -> Panel:
    lines = [Line(name, across, [getattr(each, field) for each in row]) for name, row in found.items()]
    return Panel(title, "epsilon", up, lines, corner=True)


def figure_10(folder: Path, epsilons: Sequence[Fraction], people: int, tick: Tick) -> Section:
    across = [float(epsilon) for epsilon in epsilons]
    dependent = Fraction(coverage(world()).eq_18)
    curves = {
        "LPM, Attack 1": (ALONE, EVERYBODY, ONE_PERSON),
        "LPM, Attack 2": (FRIENDS, EVERYBODY, ONE_PERSON),
        "DPM, Attack 2": (FRIENDS, EVERYBODY, dependent),
    }
    found: dict[str, list[Told]] = {}
    for place, (name, (kind, knows, noise)) in enumerate(curves.items()):
        found[name] = [told(kind, knows, epsilon, noise, people) for epsilon in epsilons]
        tick((place + 1) / 7)
    known: dict[str, list[Told]] = {}
    for place, knows in enumerate(KNOWS):
        known[f"{knows:,} known"] = [told(FRIENDS, knows, epsilon, dependent, people) for epsilon in epsilons]
        tick((place + 4) / 7)

    return Section(
        "fig10",
        "Figure 10: DPM under attack",
        f"Noise of DPM: Eq. 18 for friends ({float(dependent):.0f} times LPM's); {people} people.",
        _claims_10(found, known),
        [
            Numbers(
                "bits at the largest epsilon",
                ["", "Eq. 11", "of the release"],
                [[name, row[-1].leaked, row[-1].of_release] for name, row in [*found.items(), *known.items()]],
            )
        ],
        [
            draw(
                folder / "fig10.png",
                "Figure 10: leaked information of LPM and DPM",
                [
                    _from_zero("(a) Eq. 11", "bits", across, found, "leaked"),
                    _from_zero("(a) what the release tells", "bits", across, found, "of_release"),
                    _from_zero("(b) DPM by what is known, Eq. 11", "bits", across, known, "leaked"),
                ],
                "Made-up people, one release for each epsilon. The middle panel is not in the paper.",
            )
        ],
    )


def _claims_10(found: Mapping[str, Sequence[Told]], known: Mapping[str, Sequence[Told]]) -> list[Claim]:
    one, lpm, dpm = (row[0] for row in found.values())
    last = {name: row[-1] for name, row in found.items()}
    by_known = [row[0].leaked for row in known.values()]
    return [
        Claim(
            "fig10a: back to independence",
            "With DPM Attack 2 leaks much less than with LPM, about as much as Attack 1.",
            verdict_of([dpm.leaked < 0.5 * lpm.leaked, dpm.leaked < one.leaked + 0.1]),
            f"Eq. 11: {dpm.leaked:.3f} with DPM, {lpm.leaked:.3f} with LPM, Attack 1 {one.leaked:.3f}.",
            "no noise takes back what friends tell. As Eq. 11 is defined this cannot happen.",
        ),
        Claim(
            "fig10a: what the release tells",
            "(Ours.) DPM's release tells less than LPM's.",
            verdict_of([abs(last["DPM, Attack 2"].of_release) < abs(last["LPM, Attack 2"].of_release)]),
            f"{last['DPM, Attack 2'].of_release:.4f} and {last['LPM, Attack 2'].of_release:.4f} bits at the largest "
            f"epsilon; odds moved by {last['DPM, Attack 2'].most:.4f} and {last['LPM, Attack 2'].most:.4f} nats at "
            "most.",
            "it has so much more noise.",
        ),
        Claim(
            "fig10b: more known, more leaked",
            "DPM's leaked information grows with what is known.",
            verdict_of([bool(np.all(np.diff(by_known) > 0))]),
            f"{', '.join(f'{each:.3f}' for each in by_known)} bits for {', '.join(f'{each:,}' for each in KNOWS)} "
            "known.",
            "more friends are known: context again.",
        ),
    ]
