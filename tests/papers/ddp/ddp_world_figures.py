"""Table I and Figures 2 to 4: the stand-in for the check-ins, its friends, and one person under attack."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from paper_drawing import Line, Panel, draw, save
from paper_findings import Cell, Claim, Numbers, Section, verdict_of
from paper_table_picture import draw_table

from beliefs.dependence.attack import entropy_bits
from stream.social.attacker import ALONE, FRIENDS, PRODUCT, Attacker, Belief
from stream.social.draws import Draws
from stream.social.release import Release, nearest_centre
from stream.social.world import GRID, REGIONS, Integers, World

PRINTED: Final = ((997, 11277, 1641), (507, 7116, 1680), (811, 9344, 2392), (1228, 16347, 2066),
                  (862, 12647, 2319), (656, 13114, 1803), (1083, 19848, 4383), (825, 9109, 1486))  # fmt: skip
"""People, check-ins and places of each region."""

SUMS: Final = (6969, 98802, 17770)
CITY_NAMES: Final = ("New York", "San Francisco", "Los Angeles")
COLOURS: Final = ("#1b6ca8", "#c8553d", "#3a7d44", "#e0a030", "#6a51a3", "#1f9e8f", "#8c2d19", "#444444")
EARTH_KM: Final = 6371.0


def kilometres(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The earth's surface distance between latitudes and longitudes."""
    (a, b), (c, d) = (np.moveaxis(np.radians(each), -1, 0) for each in (one, two))
    half = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return 2 * EARTH_KM * np.arcsin(np.sqrt(half))


def table_1(folder: Path, world: World) -> Section:
    found = np.bincount(world.region, minlength=len(REGIONS))
    rows: list[list[Cell]] = [
        [region.name, *row, int(made)] for region, row, made in zip(REGIONS, PRINTED, found, strict=True)
    ]
    rows.append(["together", *(sum(column) for column in zip(*PRINTED, strict=True)), int(found.sum())])
    numbers = Numbers("Table I", ["region", "people", "check-ins", "places", "people of the stand-in"], rows)
    shares = np.bincount(world.cells(), minlength=3 * GRID * GRID) / world.size
    return Section(
        "table1",
        "Table I: the check-ins",
        "The check-ins themselves are not part of the project; people who are made up stand for them: eight Gaussian "
        "places with the printed sizes, sociability log-normal, friends near each other.",
        [
            Claim(
                "table1: the sums",
                "6,969 users, 98,802 check-ins, 17,770 locations.",
                verdict_of([tuple(rows[-1][1:4]) == SUMS, world.size == SUMS[0]]),
                f"{rows[-1][1]:,}, {rows[-1][2]:,} and {rows[-1][3]:,}; the stand-in has {world.size:,} people.",
                "the columns add up.",
            ),
            Claim(
                "table1: H(D_i)",
                "A user's cell has 8.38 bits (20 x 20 cells in each of three cities).",
                verdict_of([abs(entropy_bits(shares) - 8.38) < 0.01]),
                f"{entropy_bits(shares):.3f} bits.",
                "the spread of homes was chosen so.",
            ),
        ],
        [numbers],
        [draw_table(folder / "table1.png", "Table I: people, check-ins and places", numbers)],
    )  # fmt: skip


def figure_2(folder: Path, world: World) -> Section:
    cluster = nearest_centre(world.city, world.homes)
    one, two = world.friends.T
    within = float((cluster[one] == cluster[two]).mean())
    shuffled = cluster[two[Draws.of(21).order("shuffled", two.size)]]
    chance = float((cluster[one] == shuffled).mean())
    figure = Figure(figsize=(12.0, 4.9), facecolor="white")
    for city, axis in enumerate(figure.subplots(1, 3)):
        here = world.city == city
        ties = world.friends[here[one] & here[two]][::4]
        axis.add_collection(LineCollection(list(world.homes[ties]), colors="#bbbbbb", linewidths=0.25, alpha=0.6))
        axis.scatter(*world.homes[here].T, c=[COLOURS[each] for each in cluster[here]], s=4, linewidths=0, zorder=2)
        axis.set_title(CITY_NAMES[city], fontsize=10)
        axis.set_aspect("equal")
        axis.set_xlim(0, 1)
        axis.set_ylim(0, 1)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.subplots_adjust(left=0.02, right=0.98, top=0.84, bottom=0.09, wspace=0.05)
    figure.suptitle("Figure 2: friends, coloured by cluster", fontsize=12, x=0.02, ha="left", weight="bold")
    caption = "The most frequented place of each made-up person in a square of 50 km; every fourth friendship is drawn."
    figure.text(0.02, 0.03, caption, fontsize=8.5, color="#333333")
    save(figure, folder / "fig2.png")
    return Section(
        "fig2",
        "Figure 2: the social graph by clusters",
        "Clusters are the nearest of eight public centres.",
        [
            Claim(
                "fig2: friends share a cluster",
                "The social graph represents how locations hang together.",
                verdict_of([within > 2 * chance]),
                f"{within:.0%} of friends are of one cluster; shuffled {chance:.0%}.",
                "friends were drawn near each other. (Of the stand-in: it shows that, and nothing about Gowalla.)",
            )
        ],
        [],
        ["fig2.png"],
    )


def pattern_distances(world: World, pairs: Integers) -> np.ndarray:
    """Eq. 5: the mean distance of the places of the same rank."""
    earth = world.on_earth()
    return kilometres(earth[pairs[:, 0]], earth[pairs[:, 1]]).mean(axis=1)


def figure_3(folder: Path, world: World) -> Section:
    source = Draws.of(31)
    strangers = (source.even("strangers", 20_000, 2) * world.size).astype(np.int64)
    of_friends = _friends_of_friends(world)
    kinds = {
        "friends": pattern_distances(world, world.friends),
        "friends of friends": pattern_distances(world, of_friends),
        "any two of a city": pattern_distances(
            world, strangers[world.city[strangers[:, 0]] == world.city[strangers[:, 1]]]
        ),
        "any two": pattern_distances(world, strangers),
    }
    across = [float(each) for each in np.geomspace(1.0, 5000.0, 90)]
    lines = [Line(name, across, [float((told <= at).mean()) for at in across]) for name, told in kinds.items()]
    panel = Panel(
        "distance of location patterns", "km", "share of pairs", lines, log_across=True, ticks_at_points=False
    )
    middles = {name: float(np.median(told)) for name, told in kinds.items()}
    return Section(
        "fig3",
        "Figure 3: distances between friends and others",
        "Eq. 5: six places by rank, on the earth's surface.",
        [
            Claim(
                "fig3: closer friends, closer places",
                "The distance between location patterns is smaller for closer friends.",
                verdict_of([bool(np.all(np.diff(list(middles.values())) > 0))]),
                "; ".join(f"{name} {told:.1f} km" for name, told in middles.items()) + " (medians).",
                "made so: by (distance + .03)^-2 within a region.",
            )
        ],
        [
            Numbers(
                "km", ["pairs", "median", "mean"], [[n, middles[n], float(told.mean())] for n, told in kinds.items()]
            )
        ],
        [
            draw(
                folder / "fig3.png",
                "Figure 3: how far apart people's places are",
                [panel],
                "Made-up people; the steps at 550 and 4,000 km are between cities.",
            )
        ],
    )


def _friends_of_friends(world: World) -> Integers:
    people = Draws.of(32).order("people", world.size)[:600].tolist()
    pairs = []
    for person in people:
        friends = world.friends_of(person)
        further = np.unique(np.concatenate([world.friends_of(int(each)) for each in friends[:3]] or [friends]))
        further = further[~np.isin(further, [*friends.tolist(), person])][:10]
        pairs.append(np.stack([np.full(further.size, person), further], axis=1))
    return np.concatenate(pairs)


def figure_4(folder: Path, world: World, released: Release) -> Section:
    degrees = world.degrees()
    person = int(np.flatnonzero((degrees >= 6) & (degrees <= 8))[17])
    found = {kind: Attacker.of(world, released, kind, world.size).look_at(person) for kind in (ALONE, FRIENDS, PRODUCT)}
    cell = int(world.cells()[person])
    at_truth = {kind: float(told.prior[cell]) for kind, told in found.items()}
    return Section(
        "fig4",
        "Figure 4: one person under attack",
        f"What each attack believes of one made-up person before looking at the release; {degrees[person]} friends.",
        [
            Claim(
                "fig4: cells near friends weigh more",
                "With friends the prior gives more weight to cells within their circles.",
                verdict_of([at_truth[ALONE] < at_truth[FRIENDS]]),
                f"The true cell: {at_truth[ALONE]:.4f} by Attack 1, {at_truth[FRIENDS]:.4f} by Attack 2, "
                f"{at_truth[PRODUCT]:.4f} with a product of weights.",
                "friends live near. The paper does not say the weight: here (distance + .03)^-.6, summed or "
                "multiplied.",
            )
        ],
        [],
        [_draw_beliefs(folder / "fig4.png", world, person, found)],
    )


def _draw_beliefs(path: Path, world: World, person: int, found: dict[str, Belief]) -> str:
    figure = Figure(figsize=(11.6, 4.6), facecolor="white")
    city = int(world.city[person])
    friends = world.friends_of(person)
    friends = friends[world.city[friends] == city]
    titles = {ALONE: "(a) Attack 1: others", FRIENDS: "(b) Attack 2: near friends", PRODUCT: "near every friend"}
    for axis, (kind, told) in zip(figure.subplots(1, 3), found.items(), strict=True):
        square = told.prior[city * GRID * GRID : (city + 1) * GRID * GRID].reshape(GRID, GRID)
        axis.imshow(square, origin="lower", extent=(0, 1, 0, 1), cmap="YlOrRd", vmin=0.0)
        axis.scatter(*world.homes[friends].T, marker="s", s=22, color="#1b6ca8", label="friends", zorder=3)
        axis.scatter(*world.homes[person], marker="*", s=110, color="#3a7d44", label="the person", zorder=4)
        axis.set_title(f"{titles[kind]} (largest cell {told.prior.max():.3f})", fontsize=9.5)
        axis.set_xticks([])
        axis.set_yticks([])
    axis.legend(loc="lower center", bbox_to_anchor=(-0.6, -0.16), ncols=2, fontsize=8.5, frameon=False)
    figure.subplots_adjust(left=0.02, right=0.98, top=0.82, bottom=0.12, wspace=0.06)
    title = f"Figure 4: where one person of {CITY_NAMES[city]} lives, by three attacks"
    figure.suptitle(title, fontsize=12, x=0.02, ha="left", weight="bold")
    save(figure, path)
    return path.name
