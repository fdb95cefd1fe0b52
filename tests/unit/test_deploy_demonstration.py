"""The demonstration's own figures: phones follow their chain, rivals are what they say, like is compared with like."""

from __future__ import annotations

from math import exp

import figures
import numpy as np
import orjson
import pytest
from feeder import BACKLOG_MAX, ROUNDS_A_SEND, rounds_to_remember
from phones import ACTIVITIES, START, STEP_MILLISECONDS, TRANSITIONS, Phones, key_of, messages, phone_of
from pipeline_files import write_model
from record_of_truth import Agreement, RecordOfTruth
from rivals import RandomisedResponse
from scipy import stats
from worker import Metrics

from beliefs.model_file import parse

KEY = bytes(range(32))


def lives(seed: int, phones: int, rounds: int) -> np.ndarray:
    simulated = Phones(phones, seed, begin=0)
    return np.array([simulated.advance().activities for _ in range(rounds)])


def test_phones_follow_the_chain_and_not_another() -> None:
    steps = lives(seed=5, phones=400, rounds=500)
    before, after = steps[:-1].ravel(), steps[1:].ravel()
    p_true = p_other = 1.0
    for state, row in enumerate(TRANSITIONS):
        counts = np.bincount(after[before == state], minlength=len(ACTIVITIES))
        p_true = min(p_true, chi_square(counts, np.array(row)))
        p_other = min(p_other, chi_square(counts, 0.95 * np.array(row) + 0.05 / len(ACTIVITIES)))
    assert p_true > 1e-4
    assert p_other < 1e-12


def chi_square(counts: np.ndarray, law: np.ndarray) -> float:
    return float(stats.chisquare(counts, law / law.sum() * counts.sum()).pvalue)


def test_the_first_event_follows_the_start_law() -> None:
    counts = np.bincount(lives(seed=6, phones=20_000, rounds=1)[0], minlength=len(ACTIVITIES))
    assert chi_square(counts, np.array(START)) > 1e-4


def test_a_seed_is_a_life() -> None:
    assert np.array_equal(lives(1, 50, 40), lives(1, 50, 40))
    assert not np.array_equal(lives(1, 50, 40), lives(2, 50, 40))


def test_the_model_of_the_pipeline_is_the_chain_of_the_phones(tmp_path) -> None:
    write_model(tmp_path / "model.json")
    model = parse((tmp_path / "model.json").read_bytes())
    assert [model.alphabet.value_at(code) for code in range(model.alphabet.size)] == list(ACTIVITIES)
    assert np.allclose(model.chain.dense, np.array(TRANSITIONS), atol=1e-12)
    assert np.allclose(model.chain.start, np.array(START), atol=1e-12)


def test_messages_name_their_event() -> None:
    simulated = Phones(30, seed=3, begin=60_000)
    simulated.advance()
    now = simulated.advance()
    events = [orjson.loads(message) for message in messages(now)]
    assert [event["activity"] for event in events] == [ACTIVITIES[code] for code in now.activities]
    assert {event["sequence"] for event in events} == {2}
    assert {event["time"] for event in events} == {60_000 + 2 * STEP_MILLISECONDS}
    assert [phone_of(key_of(phone)) for phone in range(30)] == list(range(30))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_rival_is_randomised_response_at_its_epsilon_and_no_other(epsilon: float) -> None:
    draws, values, truth = 400_000, len(ACTIVITIES), 3
    released = RandomisedResponse(epsilon, values, KEY).release(np.full(draws, truth, dtype=np.uint8))
    counts = np.bincount(released, minlength=values)

    def p_value(claimed: float) -> float:
        law = np.ones(values)
        law[truth] = exp(claimed)
        return chi_square(counts, law)

    assert p_value(epsilon) > 1e-4
    assert p_value(0.9 * epsilon) < 1e-12
    assert p_value(1.1 * epsilon) < 1e-12


def test_a_rival_never_leaves_the_alphabet_and_no_coin_is_used_twice() -> None:
    rival = RandomisedResponse(0.1, 2, KEY)
    truth = np.tile(np.array([0, 1], dtype=np.uint8), 500)
    first, second = rival.release(truth), rival.release(truth)
    assert set(np.concatenate([first, second]).tolist()) == {0, 1}
    assert not np.array_equal(first, second)


def test_releases_are_compared_with_their_own_event() -> None:
    rivals = (RandomisedResponse(50.0, 8, KEY), RandomisedResponse(1e-9, 8, KEY))
    truth = RecordOfTruth(phones=3, rounds=4, rivals=rivals)
    truth.remember(1, np.array([0, 1, 2], dtype=np.uint8))
    truth.remember(2, np.array([3, 4, 5], dtype=np.uint8))
    found = truth.compare(np.array([0, 2, 1]), np.array([2, 1, 1]), np.array([3, 2, 7], dtype=np.uint8))
    assert (found.events, found.released) == (3, 2)
    assert found.rivals[0] == 3  # at 50 nats randomised response keeps everything
    assert Agreement().plus(found) == found
    assert found.plus(found).since(found) == found
    assert found.since(found) == Agreement(0, 0, (0, 0))


def test_an_event_that_was_forgotten_is_an_error_and_no_comparison() -> None:
    truth = RecordOfTruth(phones=1, rounds=2, rivals=())
    for sequence in (1, 2, 3):
        truth.remember(sequence, np.array([0], dtype=np.uint8))
    with pytest.raises(LookupError):
        truth.compare(np.array([0]), np.array([1]), np.array([0], dtype=np.uint8))


@pytest.mark.parametrize(("phones", "partitions"), [(20, 4), (600, 4), (20_000, 4), (600, 1)])
def test_the_ring_outlasts_the_backlog(phones: int, partitions: int) -> None:
    """Worst case: one partition stands still, so the whole backlog is its share of the phones."""
    rounds_in_flight = BACKLOG_MAX / (phones / partitions) + ROUNDS_A_SEND
    assert rounds_to_remember(phones, partitions) > rounds_in_flight


SCRAPE = """\
# TYPE sottovoce_events_total counter
sottovoce_events_total{{outcome="released"}} {events}
# TYPE sottovoce_release_leakage_nats histogram
sottovoce_release_leakage_nats_bucket{{le="+Inf",side="upper"}} {count}
sottovoce_release_leakage_nats_count{{side="upper"}} {count}
sottovoce_release_leakage_nats_sum{{side="upper"}} {total}
# TYPE sottovoce_event_latency_seconds histogram
sottovoce_event_latency_seconds_bucket{{le="0.01"}} {quick}
sottovoce_event_latency_seconds_bucket{{le="0.1"}} {slow}
sottovoce_event_latency_seconds_bucket{{le="+Inf"}} {slow}
sottovoce_event_latency_seconds_count {slow}
sottovoce_event_latency_seconds_sum 1.0
"""


def test_figures_speak_of_the_last_interval_only() -> None:
    """Releases of several events each tell what they tell about all of these."""
    before = Metrics(SCRAPE.format(count=100, events=200, total=900.0, quick=1000, slow=1000))
    after = Metrics(SCRAPE.format(count=200, events=400, total=1000.0, quick=1040, slow=1100))
    assert figures.leakage(before, after).an_event["upper"] == pytest.approx(0.5)
    assert figures.quantile(before, after, "sottovoce_event_latency_seconds", 0.3) == 0.01
    assert figures.quantile(before, after, "sottovoce_event_latency_seconds", 0.5) == 0.1
    assert figures.quantile(after, after, "sottovoce_event_latency_seconds", 0.5) == 0.0
