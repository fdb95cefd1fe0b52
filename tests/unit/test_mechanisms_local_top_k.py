"""Named values and all others as one: level, leak, guess and estimate by every report; the wire; what is refused."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from correlation_oracles import leak_by_outputs, some_conditionals

from beliefs.alphabet import Categories
from beliefs.checks import Invalid
from beliefs.correlation.bound import bound
from beliefs.correlation.outputs import level_of, sets_leak
from mechanisms.contract import TOTAL
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.estimate import from_support
from mechanisms.local.frequencies import estimate, tally
from mechanisms.local.registry import drawn, local
from mechanisms.local.top_k import DrawnTop, top_k
from mechanisms.local.wire import read, shape_of, write

KEY = field_key(bytes(range(32)), "top")
FIELD = Categories(["car", "train", "tram", "on foot"])


def test_the_level_the_leak_and_the_guess_are_those_of_every_report() -> None:
    generator = np.random.default_rng(61)
    for laws in some_conditionals(generator, 200, size_max=6):
        values = laws.shape[1]
        if values < 3:
            continue
        top = generator.permutation(values)[: generator.integers(1, values)].tolist()
        epsilon = float(generator.choice([0.2, 1.0, 3.0]))
        found = top_k(values, epsilon, top)
        rows = found.channel()
        assert rows.sum(axis=1) == pytest.approx(np.ones(values))
        assert level_of(rows) == pytest.approx(epsilon, abs=1e-12)
        want = leak_by_outputs(laws, rows)
        assert sets_leak(laws, found.worst_sets(), found.level) == pytest.approx(want, abs=1e-12)
        assert want <= bound(laws, epsilon).epsilon + 1e-12
        cells = [top.index(value) if value in top else len(top) for value in range(values)]
        right = [row[cell] for row, cell in zip(rows, cells, strict=True)]
        guess = found.guess()
        assert right == pytest.approx([guess.correct] * values)
        assert guess.effective == pytest.approx(epsilon)


def test_the_estimate_is_unbiased_and_as_uncertain_as_it_says() -> None:
    """All combinations of the reports of three people, each with its exact chance."""
    found, people = top_k(5, 1.0, [3, 1]), (3, 0, 4)
    rows = found.channel()
    mean, square = np.zeros(3), np.zeros(3)
    for reports in itertools.product(range(3), repeat=3):
        chance = math.prod(rows[x][y] for x, y in zip(people, reports, strict=True))
        told = found.estimate(np.bincount(reports, minlength=3).astype(float), 3).frequencies
        mean += chance * told
        square += chance * told**2
    truth = np.array([1 / 3, 0.0, 2 / 3])
    assert mean == pytest.approx(truth, abs=1e-12)
    stated = from_support(3 * (truth * (found.p - found.q) + found.q), 3, found.p, found.q).variances
    assert square - mean**2 == pytest.approx(stated, abs=1e-12)


def test_what_is_drawn_is_a_response_between_the_cells() -> None:
    found = drawn("top_k", 4, 1.0, top=[2, 0])
    assert isinstance(found, DrawnTop)
    high, low = found.response.high, found.response.low
    points = [0, high - 1, high, high + low - 1, high + low, TOTAL - 1]
    coins = np.array(points, dtype=np.uint64)[:, None] << np.uint64(2)
    for value, own, others in ((2, 0, (1, 2)), (0, 1, (0, 2)), (1, 2, (0, 1)), (3, 2, (0, 1))):
        cells = found.draw(np.full(6, value), coins).tolist()
        assert cells == [own, own, others[0], others[0], others[1], others[1]]
    assert found.level <= 1.0
    assert found.level == drawn("grr", 3, 1.0).level


def test_the_wire_shows_named_values_and_null() -> None:
    found = drawn("top_k", 4, 1.0, top=[2, 0])
    shape = shape_of(found, FIELD)
    cells = np.array([0, 1, 2, 2, 0])
    documents = write(shape, cells)
    assert documents == ["tram", "car", None, None, "tram"]
    assert read(shape, json.loads(json.dumps(documents))).tolist() == cells.tolist()
    for stranger in ("train", "on foot", "boat", 0, False, ["tram"], {"tram": 1}):
        with pytest.raises(Invalid, match=r"^reports\[1\]: must be one of the 2 named values") as caught:
            read(shape, ["car", stranger])
        assert str(stranger) not in str(caught.value).removeprefix("reports[1]: must be one of the 2 named values")
    for wrong in (np.array([3]), np.array([-1]), np.array([0.0]), np.array([[0]])):
        with pytest.raises(Invalid, match="reports"):
            write(shape, wrong)


def test_frequencies_are_those_of_the_cells_from_arrays_and_from_the_wire() -> None:
    found = drawn("top_k", 4, 3.0, top=[2, 0])
    people = np.repeat(np.arange(4), [300, 100, 500, 100])
    reports = found.draw(people, report_coins(KEY, 0, 1000, found.words))
    one = estimate(reports, "top_k", FIELD, 3.0, top=[2, 0])
    assert one.values == ("tram", "car", None)
    assert (
        one.to_table() == estimate(write(shape_of(found, FIELD), reports), "top_k", FIELD, 3.0, top=[2, 0]).to_table()
    )
    low, high = one.estimate.interval(0.999)
    assert ((low <= [0.5, 0.3, 0.2]) & (high >= [0.5, 0.3, 0.2])).all()
    with pytest.raises(Invalid, match="tally"):
        tally("top_k", FIELD, 3.0, top=[2, 0]).merge(tally("top_k", FIELD, 3.0, top=[0, 2]))


@pytest.mark.parametrize("top", [[], [0, 0], [4], [-1], [0, 1, 2, 3]])
def test_what_cannot_be_named_is_refused(top: list[int]) -> None:
    for make in (local, drawn):
        with pytest.raises(Invalid) as caught:
            make("top_k", 4, 1.0, top=top)
        assert caught.value.field == "top"
