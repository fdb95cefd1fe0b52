"""What figures are made of: releases keep what they say, and readers read what they may."""

from __future__ import annotations

import numpy as np
import pytest
from paper_eyes import PUBLISHED, TEN, WORKS, from_raw, mean_distance, study
from paper_readers import believed, believed_from_raw, believed_in_windows, likeliest_cell
from paper_releases import events_of_users, in_windows, singly, uniforms
from paper_whose import fields_of, net_scores, pieces_of

from beliefs.chain import Chain
from stream.attack.recurrent import Training, recurrent_scores, train

pytestmark = pytest.mark.timeout(400)  # the first time kernels are compiled


@pytest.mark.parametrize("order", [1, 2])
def test_bounded_releases_tell_no_more_than_their_epsilon(order: int) -> None:
    what = study(6_000, 12, 3, 500)
    stretch = [each[:60] for each in what.sequences]
    events, chain = events_of_users(stretch), what.chains[order]
    for epsilon in (0.2, 1.0):
        for mechanism in ("optimal", "near", "temporal_ldp", "randomised_response"):
            distance = what.distance if mechanism == "near" else None
            assert singly(mechanism, epsilon, chain, events, distance).told.max() <= epsilon
        assert singly("published_crr", epsilon, chain, events).told.max() > 2 * epsilon
        for distance in (None, what.distance):
            told = in_windows(10, epsilon, chain, events, distance).told
            assert told.max() <= epsilon and (told > 0).sum() <= 18


def test_distances_are_those_of_the_middles_of_cells() -> None:
    assert mean_distance(10, np.array([0, 0]), np.array([0, 99])) == pytest.approx(0.9 * 2**0.5 / 2)


def test_the_reader_who_knows_the_chain_is_nearer_than_releases_alone() -> None:
    what = study(20_000, 12, 3, 600)
    stretch = [each[5_000:5_150] for each in what.sequences]
    true = np.concatenate(stretch)
    shown, read = believed(what.chains[1], "randomised_response", 4.0, what, stretch)
    assert mean_distance(12, true, np.concatenate(read)) < 0.7 * mean_distance(12, true, np.concatenate(shown))
    events = events_of_users(stretch)
    assert np.array_equal(np.concatenate(shown), singly("randomised_response", 4.0, what.chains[1], events).symbols)


@pytest.mark.parametrize("order", [1, 2])
def test_sets_from_raw_values_hold_the_release_and_are_read(order: int) -> None:
    what = study(20_000, 12, 3, 600)
    stretch = [each[5_000:5_100] for each in what.sequences]
    chain = what.chains[1]
    shown = np.split(from_raw(what.chains[order], stretch, 0.2), 3)
    for true, released in zip(stretch, shown, strict=True):
        for before, after in zip(true[:-1].tolist(), released[1:].tolist(), strict=True):
            assert after in chain.row(before)[0]
    read = believed_from_raw(what.chains[order], 0.2, shown)
    true = np.concatenate(stretch)
    assert mean_distance(12, true, np.concatenate(read)) < mean_distance(12, true, np.concatenate(shown))
    assert set(WORKS) >= {PUBLISHED, TEN}


@pytest.mark.parametrize("order", [1, 2])
def test_a_reader_of_windows_reads_what_the_pipeline_releases(order: int) -> None:
    what = study(20_000, 12, 3, 600)
    stretch = [each[5_000:5_123] for each in what.sequences]
    shown, read = believed_in_windows(what.chains[order], 10, 3.0, what, stretch)
    given = in_windows(10, 3.0, what.chains[order], events_of_users(stretch), what.distance)
    assert np.array_equal(np.concatenate(shown), given.symbols)
    assert [each.size for each in read] == [each.size for each in shown] == [123] * 3


def test_of_values_that_follow_the_chain_the_reader_of_windows_names_more_than_are_shown() -> None:
    """What is shown is the cell that is expected to be nearest, which need not be the likeliest."""
    what, source = study(20_000, 12, 3, 600), np.random.default_rng(5)
    chain, walks = what.chains[1], []
    for _ in range(6):
        walk = [72]
        while len(walk) < 400:
            following, chances = chain.row(walk[-1])
            walk.append(int(source.choice(following, p=chances / chances.sum())))
        walks.append(np.array(walk, dtype=np.int64))
    shown, read = believed_in_windows(chain, 10, 3.0, what, walks)
    true = np.concatenate(walks)
    right, kept = (float((np.concatenate(cells) == true).mean()) for cells in (read, shown))
    assert right > kept > 0.3


def test_the_likeliest_cell_is_that_of_all_states_which_end_in_it() -> None:
    rows = [(np.arange(3), np.full(3, 1 / 3))] * 3
    chain = Chain.from_rows(np.full(3, 1 / 3), rows, np.array([0, 1, 1]), 2)
    assert likeliest_cell(chain, np.array([0.4, 0.3, 0.3])) == 1


def test_pieces_side_by_side_score_as_one_by_one() -> None:
    what = study(4_000, 12, 3, 400)
    cut = pieces_of(what, 300, 2, 30)
    assert cut.owners == [0, 0, 1, 1, 2, 2] and {piece.size for piece in cut.attacked} == {30}
    for person, trained in enumerate(cut.training):
        assert np.array_equal(trained, what.sequences[person][1_700:2_000])
    training, attacked = ([fields_of(each, 12) for each in part] for part in (cut.training, cut.attacked))
    how = Training(units=5, rounds=3)
    together = net_scores(train(training, 400, how), attacked)
    assert together == pytest.approx(recurrent_scores(training, attacked, 400, how), abs=1e-9)


def test_uniform_numbers_lie_strictly_between_0_and_1() -> None:
    numbers = uniforms(3, 10_000)
    assert 0.0 < numbers.min() < 0.001 and 0.999 < numbers.max() < 1.0
    assert not np.array_equal(uniforms(3, 16), uniforms(4, 16)) and np.array_equal(uniforms(3, 16), numbers[:16])
