"""What the figures are made of: data as they are named, guesses as they are drawn, a wheel that is what it says."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import cache
import machine
import numpy as np
import pytest
from cpl_attack import guess_of, guessed
from cpl_calibration_figure import Faces
from cpl_data import (
    CARDIO_BY_CHOLESTEROL,
    FACES_FILE,
    HEART_FIELDS,
    HEART_FILE,
    Floats,
    Integers,
    adult,
    faces,
    heart,
    other_faces,
    shared_faces,
    welfare,
)
from cpl_leaks import MECHANISMS, Pairs, guess_rows, leak_of_counts, perturbed
from cpl_utility_figure import errors
from paper_wheel import Wheel, member

from beliefs.correlation.outputs import response_leak
from beliefs.correlation.tables import conditional_of
from mechanisms.local.registry import drawn, local


def test_adult_is_the_public_file() -> None:
    data = adult()
    assert data.real and data.records.shape == (32_561, 8) and data.sizes == (9, 16, 7, 15, 6, 5, 2, 2)
    assert data.table(data.axis("gender")).tolist() == [10_771, 21_790]
    assert data.table(data.axis("income"), data.axis("gender"))[1].tolist() == [1_179, 6_662]


def test_tables_of_pairs_are_those_that_are_counted_one_by_one() -> None:
    pairs = Pairs(adult())
    for (secret, other), counts in zip(pairs.pairs, pairs.counts, strict=True):
        assert np.array_equal(counts, pairs.data.table(secret, other))


def test_stand_ins_have_the_shape_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    cvd, celeba, dss = heart.__wrapped__(), faces.__wrapped__(), welfare.__wrapped__()
    assert not any(each.real for each in (cvd, celeba, dss)) and all(
        "stand-in" in each.source for each in (cvd, celeba)
    )
    counted = cvd.table(cvd.axis("cardio"), cvd.axis("cholesterol"))
    assert np.array_equal(counted, np.array(CARDIO_BY_CHOLESTEROL, dtype=float)) and len(cvd.records) == 70_000
    assert celeba.sizes == (2,) * 40 and min(dss.sizes) == 2 and max(dss.sizes) == 12 and len(dss.sizes) == 27
    near = {each.name: float((Pairs(each).exact("grr", 1.0) < 0.1).mean()) for each in (cvd, celeba, dss)}
    assert near["CelebA"] == pytest.approx(0.5, abs=0.05) and 0.65 < near["DSS"] < 0.8 and 0.65 < near["CVD"] < 0.8
    assert np.array_equal(heart.__wrapped__().records, cvd.records)


def test_public_files_are_read_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    rows = [";".join(["id", "age", *HEART_FIELDS]), "0;20;1;1;1;0;0;1;0", "1;20;2;3;1;0;0;1;1", "2;21;2;2;1;1;0;0;1"]
    (tmp_path / HEART_FILE).write_text("\n".join(rows) + "\n", encoding="ascii")
    found = heart.__wrapped__()
    assert found.real and found.names == HEART_FIELDS and "3 records" in found.source
    assert found.records.tolist() == [[0, 0, 0, 0, 0, 1, 0], [1, 2, 0, 0, 0, 1, 1], [1, 1, 0, 1, 0, 0, 1]]
    (tmp_path / FACES_FILE).write_text("2\nMale Smiling \n1.jpg -1  1\n2.jpg  1 -1\n", encoding="ascii")
    seen = faces.__wrapped__()
    assert seen.real and seen.names == ("Male", "Smiling") and seen.records.tolist() == [[0, 1], [1, 0]]


def test_another_mixture_of_people_is_smaller_and_near() -> None:
    data = shared_faces(6)
    other = other_faces(data)
    assert other.names == data.names and not other.real and len(other.records) < len(data.records)
    one, two = (each.records.mean(axis=0) for each in (data, other))
    assert 0.0 < np.abs(one - two).max() < 0.35


@pytest.mark.parametrize("mechanism", sorted(set(MECHANISMS) - {"blh", "olh"}))
def test_the_attack_carried_out_is_the_response_that_is_computed(mechanism: str) -> None:
    values = np.tile(np.arange(5), 8_000)
    told = guessed(mechanism, 1.5, values, values, 1)
    assert within(told, guess_rows(mechanism, 5, 1.5)) and not within(told, guess_rows(mechanism, 5, 1.8))


def test_hashing_with_all_functions_is_guessed_as_computed_and_the_drawn_ones_are_not_quite() -> None:
    """A value in the middle of a row shares its hash with others more seldom than independent values would."""
    source, mechanism = np.random.default_rng(92), local("olh", 15, 3.0)
    values = np.tile(np.arange(15), 8_000)
    functions = source.integers(0, 21, (values.size, 15))
    own = functions[np.arange(values.size), values]
    shown = np.where(source.random(values.size) < mechanism.p, own, (own + source.integers(1, 21, values.size)) % 21)
    support = (functions == shown[:, None]).astype(np.int64)
    guess = guess_of(drawn("oue", 15, 3.0), support, source)
    told = np.bincount(values * 15 + guess, minlength=225).reshape(15, 15)
    assert within(told, guess_rows("olh", 15, 3.0))
    affine = guessed("olh", 3.0, values, values, 1)
    assert not within(affine, guess_rows("olh", 15, 3.0)) and 0.40 < affine[7, 7] / 8_000 < 0.43


def within(told: Integers, chances: Floats) -> bool:
    """8,000 reports of each value; each share within 4.5 deviations."""
    return bool((np.abs(told - 8_000 * chances) < 4.5 * np.sqrt(8_000 * chances * (1 - chances))).all())


def test_an_estimate_from_many_copies_is_the_leak_of_the_guess() -> None:
    source, counts = np.random.default_rng(91), np.array([[400.0, 300.0, 300.0], [100.0, 500.0, 400.0]])
    rows = guess_rows("oue", 3, 2.0)
    told = leak_of_counts(perturbed(counts, rows, 2_000, source))
    effective = local("oue", 3, 2.0).guess().effective
    assert told == pytest.approx(response_leak(conditional_of(counts).laws, effective), abs=0.02)


def test_errors_of_frequencies_are_as_variances_say() -> None:
    for mechanism in ("grr", "olh", "she"):
        missed, expected = errors(adult(), mechanism, 1.0)
        assert 0.3 * expected < missed < 3.0 * expected


def test_a_budget_of_all_outputs_together_keeps_the_limit_and_uses_it() -> None:
    found = Faces(5)
    budget = found.budget(2.0)
    assert found.totals(budget.exact).max() <= 2.0 < found.totals(budget.exact * (1 + 2.0**-9)).max()
    assert found.pairwise.totals(np.full(5, budget.pairwise)).max() <= 2.0
    assert found.pairwise.totals(np.full(5, budget.printed)).max() > 2.0
    assert budget.lost == found.totals(budget.printed).max()


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Wheel, Path]:
    """A wheel in a cache of its own, as a download leaves it."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path))
    made = tmp_path / "made.whl"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("data/people.csv", "a,b\n1,2\n")
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    folder = tmp_path / f"people-1.0-{digest[:12]}"
    folder.mkdir()
    made.rename(folder / "people-1.0-py3-none-any.whl")
    return Wheel("people", "1.0", digest), folder


def test_a_file_of_a_pinned_wheel_is_read_and_an_altered_wheel_refused(held: tuple[Wheel, Path]) -> None:
    wheel, folder = held
    assert member(wheel, "data/people.csv") == b"a,b\n1,2\n"
    with pytest.raises(machine.MachineError, match=r"holds no data/other\.csv"):
        member(wheel, "data/other.csv")
    (archive,) = folder.glob("*.whl")
    archive.write_bytes(archive.read_bytes() + b"\0")
    with pytest.raises(machine.MachineError, match="it was altered"):
        member(wheel, "data/people.csv")


def test_a_wheel_that_cannot_be_fetched_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    wheel = Wheel("no-such-package-anywhere", "1.0", "0" * 64)
    with pytest.raises(machine.MachineError) as refusal:
        member(wheel, "data/people.csv")
    assert "give pip an index" in str(refusal.value) and str(tmp_path / "no-such-package-anywhere-1.0-") in str(
        refusal.value
    )
    assert [path.name for path in tmp_path.iterdir()] == ["fetch.lock"]
