"""Which entries of a belief are listed, and how far the others move; chains with a tail, and their files."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_documents import problems_of, signed
from numpy.typing import NDArray
from tail_models import zipf, zipf_chain

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.forward import chain_arrays, predict_into
from beliefs.listed import CELLS, FINEST, NARROW, choose, entries_listed, level, new_listing
from beliefs.model_file import parse, serialise
from mechanisms.contract import DRIFT_UNKNOWN
from stream import state
from stream.drift import OF_CODES, after_listing

Floats = NDArray[np.float64]
SHAPES = ("random", "equal", "spiked", "zeros", "steep")


def pair(shape: str, size: int, seed: int) -> tuple[Floats, Floats]:
    """A belief and a base."""
    source = np.random.default_rng(seed)
    base = source.permutation(zipf(size))
    belief = base.copy()
    if shape == "random":
        belief = source.dirichlet(np.ones(size))
    elif shape == "steep":
        belief = np.maximum(source.dirichlet(np.full(size, 0.05)), 1e-30)
    elif shape == "spiked":
        belief[source.integers(0, size, size // 7 + 1)] *= source.lognormal(0, 3, size // 7 + 1)
    elif shape == "zeros" and size > 1:
        belief[source.integers(0, size, size // 9 + 1)] = 0.0
    return np.asarray(belief / belief.sum()), base


def chosen_slowly(belief: Floats, base: Floats, most: int) -> tuple[int, int]:
    """As the head of `listed.py` says it, on lists of integers."""
    bits = [int(np.float64(b / t).view(np.int64)) for b, t in zip(belief, base, strict=True)]
    if most >= len(bits):
        return 1, 0
    low, high, free = min(bits), max(bits), most
    while True:
        inside = [b for b in bits if low <= b <= high]
        shift = next(s for s in range(64) if (high - low) >> s < CELLS)
        cells = [0] * (((high - low) >> shift) + 1)
        for b in inside:
            cells[(b - low) >> shift] += 1
        sums = np.concatenate([[0], np.cumsum(cells)])
        runs = []
        for first in range(len(cells)):
            end = int(np.searchsorted(sums, sums[first] + len(inside) - free))
            if end < len(sums):
                runs.append((end - first, -int(sums[end] - sums[first]), first))
        length, content, first = min(runs)
        free -= len(inside) + content
        low, high = low + (first << shift), min(high, low + ((first + length) << shift) - 1)
        if length > NARROW or shift <= FINEST or free <= 0:
            return low, high


@pytest.mark.parametrize(("shape", "size"), list(product(SHAPES, (1, 2, 50, 400))))
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.9, 1.0])
def test_the_choice_is_the_one_that_is_described(shape: str, size: int, share: float) -> None:
    for seed in range(3):
        belief, base = pair(shape, size, seed)
        room, most = new_listing(size), int(share * size)
        low, high = choose(belief, base, most, room)
        assert (low, high) == chosen_slowly(belief, base, most)
        outside = sum(not low <= bits <= high for bits in room.bits.tolist())
        assert outside <= most


@pytest.mark.parametrize("size", [100, 5_000])
def test_what_deviates_is_listed_and_nothing_else(size: int) -> None:
    belief, base = pair("equal", size, 3)
    room = new_listing(size)
    for x in (5, 17, 71):
        belief[x] *= 1.0 + 1e-6 * x
    belief[29] *= 0.999
    low, high = choose(belief, base, 10, room)
    assert {x for x in range(size) if not low <= room.bits[x] <= high} >= {5, 17, 29, 71}
    assert level(belief, base, low, high, room)[1] < 1.0 + 1e-9


def test_the_band_of_a_smooth_belief_is_close_to_the_narrowest() -> None:
    for seed in range(5):
        belief, base = pair("random", 3_000, seed)
        room = new_listing(3_000)
        low, high = choose(belief, base, 300, room)
        _, spread = level(belief, base, low, high, room)
        ratios = np.sort(belief / base)
        narrowest = min(np.log(ratios[at + 2_699] / ratios[at]) for at in range(301))
        assert narrowest <= np.log(spread) * (1 + 1e-12)
        assert np.log(spread) < 1.2 * narrowest


def listed_again(belief: Floats, base: Floats, most: int) -> tuple[Floats, int]:
    """What a row gives back, and the drift that it is charged."""
    room, codes = new_listing(belief.size), np.zeros(state.codes_of(belief.size, most), dtype=np.uint32)
    exact, spread = state.encode_listed(belief, belief.view(np.int64), base, room, codes)
    back = np.zeros(belief.size)
    state.decode_listed(codes, base, room, back, back.view(np.int64))
    return back, int(after_listing(0, spread, exact))


def distance_units(one: Floats, other: Floats) -> Decimal:
    """Hilbert's metric in units of drift."""
    ratios = [Fraction(p) / Fraction(q) for p, q in zip(one.tolist(), other.tolist(), strict=True) if q > 0]
    with localcontext() as context:
        context.prec = 60
        quotient = max(ratios) / min(ratios)
        return (Decimal(quotient.numerator) / Decimal(quotient.denominator)).ln() * (1 << 32)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(2, 80), st.integers(1, 90), st.integers(0, 1000))
def test_the_charge_covers_the_distance(shape: str, size: int, most: int, seed: int) -> None:
    belief, base = pair(shape, size, seed)
    back, drift = listed_again(belief, base, min(most, size))
    if drift == DRIFT_UNKNOWN:
        return
    assert ((back == 0) == (belief == 0)).all()
    assert drift >= OF_CODES
    assert distance_units(back, belief) <= drift


def test_only_the_band_and_the_codes_are_charged() -> None:
    belief, base = pair("spiked", 200, 4)
    assert listed_again(belief, base, 60)[1] <= OF_CODES + 2
    uneven = base * np.linspace(1.0, 1.1, 200)
    assert OF_CODES + (1 << 24) < listed_again(uneven, base, 60)[1] < 1 << 30


def test_an_impossible_state_that_is_not_listed_makes_the_drift_unknown() -> None:
    belief, base = pair("equal", 50, 4)
    belief[:20] = 0.0
    assert listed_again(belief, base, 10)[1] == DRIFT_UNKNOWN
    assert listed_again(belief, base, 20)[1] <= OF_CODES + 2


@pytest.mark.parametrize("factor", [2.0**-128, 2.0**40])
def test_a_mass_or_a_multiple_without_a_code_makes_the_drift_unknown(factor: float) -> None:
    belief, base = pair("equal", 50, 4)
    belief[3:] *= factor
    assert listed_again(belief, base, 10)[1] == DRIFT_UNKNOWN
    small = pair("equal", 50, 4)[0]
    small[3] = 2.0**-130
    assert listed_again(small, base, 10)[1] == DRIFT_UNKNOWN


def test_drift_that_is_unknown_stays_so() -> None:
    assert after_listing(DRIFT_UNKNOWN, 1.0, True) == DRIFT_UNKNOWN
    assert after_listing(DRIFT_UNKNOWN - 100, 1.0, True) == DRIFT_UNKNOWN
    assert after_listing(0, float("inf"), True) == DRIFT_UNKNOWN
    assert after_listing(0, 1.0, False) == DRIFT_UNKNOWN


def test_whatever_a_row_holds_nothing_outside_the_belief_is_written() -> None:
    base, room = zipf(4), new_listing(4)
    wide = np.full(6, 7.0)
    codes = np.array([1 << 30, 4_000_000_000, 2, 5, 1 << 31, 1 << 31], dtype=np.uint32)
    state.decode_listed(codes, base, room, wide[:4], wide[:4].view(np.int64))
    assert wide[4:].tolist() == [7.0, 7.0]
    assert wide[2] == 2.0**-63


def test_how_many_entries_are_listed() -> None:
    assert entries_listed(None, 41_270, True) == 2_000
    assert state.row_bytes(state.codes_of(41_270, 2_000), state.CLOCK_HEAD_WORDS) <= 16 * 1024
    assert entries_listed(None, 4_096, True) == 0
    assert entries_listed(12, 300, True) == 12
    assert entries_listed(1_000, 300, True) == 300
    assert entries_listed(None, 41_270, False) == 0


def exact_rows(chain: Chain) -> list[list[Fraction]]:
    rows = [[Fraction(float(chain.left[x])) * Fraction(t) for t in chain.tail.tolist()] for x in range(chain.size)]
    for x, row in enumerate(rows):
        for y, p in zip(*(part.tolist() for part in chain.named(x)), strict=True):
            row[y] += Fraction(p)
    return rows


@pytest.mark.parametrize("left", [0.0, 1e-3, 0.5, 1.0])
def test_a_prediction_and_the_contraction_are_those_of_the_whole_matrix(left: float) -> None:
    chain = zipf_chain(30, left=left, seed=4)
    rows = exact_rows(chain)
    following, belief = np.zeros(30), np.random.default_rng(1).dirichlet(np.ones(30))
    predict_into(belief, chain_arrays(chain), following)
    exact = [sum(Fraction(b) * row[y] for b, row in zip(belief.tolist(), rows, strict=True)) for y in range(30)]
    for mass, truth in zip(following.tolist(), exact, strict=True):
        assert abs(Fraction(mass) - truth / sum(exact)) <= truth * Fraction(1, 2**45)
    columns = list(zip(*rows, strict=True))
    if left == 0.0:
        assert chain.contraction == 1 << 32
        return
    ratio = max(max(column) / min(column) for column in columns)
    assert (ratio - 1) / (ratio + 1) <= Fraction(chain.contraction, 1 << 32)
    for x in range(30):
        columns_of_x, values = chain.row(x)
        assert columns_of_x.tolist() == list(range(30))
        assert np.allclose(values, [float(p) for p in rows[x]], rtol=1e-14)


def written(chain: Chain) -> bytes:
    return serialise(Categories([f"v{x}" for x in range(chain.size)]), chain, {})


def test_a_model_with_a_tail_is_read_back() -> None:
    chain = zipf_chain(40, seed=2)
    model = parse(written(chain))
    assert (model.version, model.order) == (3, 1)
    assert np.array_equal(model.chain.data, chain.data)
    assert np.array_equal(model.chain.left, chain.left)
    assert np.allclose(model.chain.tail, chain.tail, rtol=1e-15, atol=0)
    assert model.chain.contraction == pytest.approx(chain.contraction, rel=1e-9)


def document(version: int = 3, **transitions: object) -> dict[str, object]:
    usual = {
        "form": "sparse",
        "tail": [0.5, 0.3, 0.2],
        "rows": [{"to": [1], "p": [0.6]}, {"to": [], "p": []}, {"to": [0, 2], "p": [0.5, 0.5]}],
    }
    return {
        "format": "sottovoce-model",
        "version": version,
        "order": 1,
        "alphabet": {"kind": "categories", "values": ["a", "b", "c"]},
        "start": [0.5, 0.3, 0.2],
        "transitions": {**usual, **transitions},
    }


def test_rows_leave_what_they_lack_to_the_tail() -> None:
    chain = parse(signed(document())).chain
    assert chain.left.tolist() == [0.4, 1.0, 0.0]
    assert chain.row(1)[1].tolist() == pytest.approx([0.5, 0.3, 0.2])
    assert chain.row(2)[0].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("spoilt", "field", "reason"),
    [
        (document(tail=[0.5, 0.5, 0.0]), "transitions.tail", "entry 2 is below 2^-400"),
        (document(tail=[0.5, 0.5]), "transitions.tail", "has 2 entries, but the alphabet has 3 values"),
        (document(tail=None), "transitions.tail", "must be a list of numbers"),
        (document(form="dense"), "transitions.form", 'must be "sparse"'),
        (document(rows=[{"to": [1], "p": [1.1]}] * 3), "transitions.rows[0].p", "parts of a law sum to at most 1"),
        (document(rows=[{"to": [1], "p": [-0.1]}] * 3), "transitions.rows[0].p", "entry 0 is negative"),
        (document(rows=[{"to": [1, 2], "p": [0.1]}] * 3), "transitions.rows[0].p", "has 1 entries"),
        (document(rows=[{"to": [1]}] * 3), "transitions.rows[0]", 'the two lists "to" and "p"'),
        (document(version=1), "transitions.tail", "is no key of transitions; the keys are form, rows"),
        ({**document(), "order": 2}, "order", "must be 1 in version 3"),
    ],
)
def test_a_wrong_tail_is_refused(spoilt: dict[str, object], field: str, reason: str) -> None:
    assert reason in problems_of(signed(spoilt))[field]
