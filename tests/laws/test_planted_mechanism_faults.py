"""The laws can fail: each of these faults is caught, by the law that stands beside it."""

from __future__ import annotations

import numpy as np
import pytest
from channels import channel_of, epsilon_units, registered
from mechanism_laws import LAWS, taken_down
from planted import planted
from random_beliefs import ROUNDING_WEIGHS_MOST, cases

from mechanisms import registry

FAULTS = {
    "cap one per cent too high": (
        "optimal",
        [
            (
                "    cap, floor = constants[CAP], constants[FLOOR]",
                "    cap, floor = constants[CAP] * R, constants[FLOOR] / R",
            ),
            (
                "constants[REVEAL], constants[CAP], constants[FLOOR]",
                "constants[REVEAL], constants[CAP] * R, constants[FLOOR] / R",
            ),
            ("max(constants[FLOOR] - belief", "max(constants[FLOOR] / R - belief"),
            ("HOLDS_EPSILON = True", "HOLDS_EPSILON = True\nR = 1.01"),
        ],
        "both_sides_keep_epsilon",
    ),
    "base without its share of exp(-epsilon)": (
        "optimal",
        [("int(constants[LOWER] * work.scratch[i] * TOTAL) + 1 + int(pad)", "1 + int(pad)")],
        "both_sides_keep_epsilon",
    ),
    "donor lends nothing": ("optimal", [("    work.size[DONOR] = donor\n", "")], "both_sides_keep_epsilon"),
    "donor lends and keeps": (
        "optimal",
        [("(rest - lent if i == donor else rest)\n    return value", "rest\n    return value")],
        "reported_ratios_are_outward",
    ),
    "values that release something else forgotten": (
        "optimal",
        [("    if others > 0:\n        smallest, largest", "    if others > 1:\n        smallest, largest")],
        "reported_ratios_are_outward",
    ),
    "column of the ideal channel": (
        "optimal",
        [("common = float(base + work.tail[i])", "common = (base + work.tail[i]) * (1.0 + 4.5e-16)")],
        "columns_are_the_rows",
    ),
    "column that forgets the donor": (
        "optimal",
        [("float(base + work.size[REST] - (work.size[LENT] if i == donor else 0))", "float(base + work.size[REST])")],
        "columns_are_the_rows",
    ),
    "ratio rounded to nearest": (
        "optimal",
        [("guard = outward(symbols)", "guard = 1.0")],
        "reported_ratios_are_outward",
    ),
    "reserve of the first release only": (
        "optimal",
        [("    for i in range(work.size[COUNT]):\n        marginal", "    for i in range(1):\n        marginal")],
        "the_reserve_covers_every_release",
    ),
    "remainder lost": ("optimal", [("    row[0] += left\n", "")], "rows_are_whole"),
    "window one per cent too short": (
        "marginal_preserving",
        [("constants[FLOOR] * (CIRCLE // 2)", "constants[FLOOR] / 1.01 * (CIRCLE // 2)")],
        "both_sides_keep_epsilon",
    ),
    "circle cut open": (
        "marginal_preserving",
        [("range(-1 if earliest < 0 else 0, 2 if latest > around else 1)", "range(1)")],
        "rows_are_whole",
    ),
    "bound of the mean instead of the largest": (
        "marginal_preserving",
        [("(work.tail[y] / work.size[WINDOW])", "(work.tail[y] / work.size[AROUND])")],
        "the_reserve_covers_every_release",
    ),
    "rest that no double holds": (
        "marginal_preserving",
        [("    work.size[REST] = rest - rest % REST_STEP\n", "    work.size[REST] = rest\n")],
        "rows_are_whole",
    ),
    "published mechanism that claims epsilon": (
        "published_crr",
        [("    return (base + rest) / marginal * guard,", "    return marginal / base * guard,")],
        "reported_ratios_are_outward",
    ),
    "impossible value called free": (
        "published_crr",
        [("        return inf, inf, inf\n", "        return 1.0, 1.0, 1.0\n")],
        "an_infinite_leak_is_called_infinite",
    ),
    "response with room for a tenth more than epsilon": (
        "randomised_response",
        [("respond(belief, constants[UPPER], work)", "respond(belief, constants[UPPER] * 1.1, work)")],
        "rows_are_within_what_is_declared",
    ),
    "twice epsilon under the name of one": (
        "top_k_grr",
        [("respond(belief, constants[UPPER], work)", "respond(belief, constants[UPPER] * constants[UPPER], work)")],
        "both_sides_keep_epsilon",
    ),
    "twice epsilon that is only one": (
        "randomised_response_double",
        [("constants[UPPER] * constants[UPPER]", "constants[UPPER]")],
        "rows_are_within_what_is_declared",
    ),
    "column of another release": (
        "temporal_ldp",
        [("    return respond_column(i, belief, work)", "    return respond_column(0, belief, work)")],
        "columns_are_the_rows",
    ),
    "forecast that looks at the value": (
        "forecast",
        [("        work.row[i] = work.base[i]\n", "        work.row[i] = work.base[i] - x\n")],
        "rows_are_whole",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_law_catches(fault: str) -> None:
    stem, changes, law = FAULTS[fault]
    subject = planted(stem, *changes)
    with pytest.raises(AssertionError):
        LAWS[law](subject, taken_down(subject, 500, seed=11))


@pytest.mark.parametrize(
    ("stem", "room", "epsilon"),
    [
        ("optimal", "pad = constants[PAD]", ROUNDING_WEIGHS_MOST),
        ("marginal_preserving", "pad = constants[PAD] * (ROUNDINGS + UNITS_PER_ARC * symbols)", 1e-3),
    ],
    ids=["optimal", "marginal_preserving"],
)
def test_the_law_catches_missing_room_for_rounding(stem: str, room: str, epsilon: float) -> None:
    subject = planted(stem, (room, "pad = 0.0"))
    described = taken_down(subject, 1500, seed=11, epsilons=[epsilon])
    with pytest.raises(AssertionError):
        LAWS["both_sides_keep_epsilon"](subject, described)


@pytest.mark.parametrize("stem", registry.MECHANISMS)
def test_the_interpreter_computes_the_same_bits(stem: str) -> None:
    """Without a fault, the planted copy is the mechanism: compiled or not, 300 channels agree to the last bit."""
    copy, compiled = planted(stem), registered(stem)
    for belief, units in cases(300, seed=12):
        assert channel_of(copy, belief, units) == channel_of(compiled, belief, units)


def test_a_fault_needs_a_place_to_stand() -> None:
    with pytest.raises(AssertionError, match="holds 0 times"):
        planted("forecast", ("no such line", ""))


def test_a_clean_copy_passes_every_law() -> None:
    subject = planted("optimal")
    described = taken_down(subject, 200, seed=13)
    for assert_law in LAWS.values():
        assert_law(subject, described)
    assert channel_of(subject, np.array([0.5, 0.5]), epsilon_units(1.0)).released == [0, 1]
