"""A pipeline that did otherwise than its settings and its model say is found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from audit_world import (
    Run,
    codes,
    model_of,
    run,
    settings_of,
    with_value,
)

from beliefs.model_file import parse, serialise
from mechanisms.contract import constants_table
from stream.pipeline import PartitionPipeline


@pytest.fixture
def finished() -> Run:
    return run(4, events=1200, users=12)


def falsified(name: str, change: Callable[[PartitionPipeline], None], **settings: Any) -> set[str]:
    return codes(run(4, events=600, users=6, falsify=change, **settings))


def test_a_mechanism_that_was_built_for_another_epsilon_is_found() -> None:
    def change(pipeline: PartitionPipeline) -> None:
        promise = pipeline._promise
        policy = promise.policy._replace(constants=constants_table(promise.policy.epsilon - 2**36))
        pipeline._promise = replace(promise, policy=policy)

    assert "state_differs" in falsified("epsilon", change)


def test_a_budget_that_was_larger_than_said_is_found() -> None:
    def change(pipeline: PartitionPipeline) -> None:
        promise = pipeline._promise
        pipeline._promise = replace(promise, policy=promise.policy._replace(budget=2 * promise.policy.budget))

    assert "over_budget" in falsified("budget", change)


def test_a_budget_that_was_smaller_than_said_is_found() -> None:
    def change(pipeline: PartitionPipeline) -> None:
        promise = pipeline._promise
        pipeline._promise = replace(promise, policy=promise.policy._replace(budget=promise.policy.budget // 2))

    assert "needless_forecast" in falsified("budget", change)
    assert "lost_event" in falsified("budget", change, when_spent="suppress")


def test_windows_that_were_rolled_too_early_are_found() -> None:
    def change(pipeline: PartitionPipeline) -> None:
        promise = pipeline._promise
        pipeline._promise = replace(promise, policy=promise.policy._replace(window=30_000))

    found = falsified("window", change)
    assert "over_budget" in found
    assert "state_differs" in found


def test_a_prediction_that_was_skipped_is_found() -> None:
    """The pipeline believes in a chain that never moves; the settings and the model say otherwise."""

    def change(pipeline: PartitionPipeline) -> None:
        promise = pipeline._promise
        still = promise.chain._replace(
            dense=np.eye(4),
            indptr=np.arange(5),
            indices=np.arange(4),
            data=np.ones(4),
            contraction=promise.chain.contraction,
        )
        pipeline._promise = replace(promise, chain=still)

    assert "state_differs" in falsified("predict", change)


def test_a_raw_value_that_is_released_as_it_is_has_no_channel(finished: Run) -> None:
    """Some step of the sparse model knows fewer values than the alphabet has."""
    sparse = run(10, events=600, users=6, sparse=True)
    log = sparse.released()
    log[0] = with_value(log[0], "act5")
    assert "impossible_value" in codes(sparse)


def test_a_tampered_model_is_found(finished: Run) -> None:
    chain = model_of(4).chain
    start = chain.start.copy()
    start[0], start[1] = start[0] + 2**-20, start[1] - 2**-20
    other = type(chain).from_dense(start.tolist(), chain.dense.tolist())
    finished.model = parse(serialise(finished.model.alphabet, other, {}))
    assert {"wrong_model", "wrong_policy", "wrong_owner", "quarantined_rows"} <= codes(finished)


def test_other_settings_than_those_of_the_run_are_found(finished: Run) -> None:
    finished.settings = settings_of(epsilon=1.5)
    assert {"wrong_policy", "wrong_owner"} <= codes(finished)
