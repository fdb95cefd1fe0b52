"""What an operator is told of a model whose rows name more values than are listed, held against what really happens."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from settings_text import GOOD
from step_help import Run, events_of, policy_of
from tail_models import zipf_chain
from test_commands_memory import run

from beliefs.alphabet import Categories
from beliefs.chain import Chain, named_row, start_law, tail_law
from beliefs.model_file import serialise
from beliefs.rounding import budget_units
from mechanisms.contract import DRIFT_UNITS_PER_NAT, LEVEL_UNKNOWN, design_units, drift_level
from stream.keys import new_ring
from stream.listing_loss import in_words, loss_of, narrowest_band
from stream.names import EXIT_DONE
from stream.state import drift_of

EPSILON = budget_units(1.0)


def drifts(chain: Chain, listed: int, events: int, users: int = 30) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """After each event of each user, in the units that the rows hold."""
    run, found = Run(policy_of(listed=listed), chain, users), []
    for event in range(events):
        block = events_of(users, users, chain.size, seed=event, first_offset=event * users)
        run.block(block._replace(slot=np.arange(users)))
        found.append(drift_of(run.heads).copy())
    return np.array(found)


@pytest.mark.parametrize(("size", "listed", "left"), [(60, 7, 0.8), (400, 100, 0.9), (2000, 600, 0.7)])
def test_it_is_about_what_really_happens(size: int, listed: int, left: float) -> None:
    """Whoever is told much about a user's value has a belief that is easier to list: most lose less, few lose more."""
    chain = zipf_chain(size, left=left)
    loss = loss_of(chain, listed, EPSILON, 0)
    assert loss is not None
    assert loss.half_from is not None
    found = drifts(chain, listed, loss.half_from)
    each = np.median(np.diff(found[:3], axis=0)[-1]) / DRIFT_UNITS_PER_NAT
    assert 0.4 * loss.nats < each < 1.6 * loss.nats
    half = design_units(EPSILON, LEVEL_UNKNOWN)
    built = [design_units(EPSILON, drift_level(int(np.median(row)))) for row in found]
    assert [event for event, units in enumerate(built, 2) if units <= half][:1] in (
        [loss.half_from],
        [loss.half_from + 1],
    )


def test_nothing_is_said_where_nothing_is_lost() -> None:
    few = zipf_chain(300, reach=40)
    assert loss_of(few, 40, EPSILON, 0) is None
    assert loss_of(few, 0, EPSILON, 0) is None
    assert drifts(few, 40, 20).max() < 1e-5 * DRIFT_UNITS_PER_NAT
    assert loss_of(few, 39, EPSILON, 0) is not None


def test_the_band_is_the_narrowest_of_all_choices() -> None:
    source = np.random.default_rng(4)
    for _ in range(30):
        law = source.dirichlet(np.ones(6))
        row = named_row([1, 4], [0.3, 0.2], "row", 6)
        chain = Chain.from_tail(
            start_law(source.dirichlet(np.ones(6)), "start", 6), tail_law(law, "tail", 6), [row] * 6
        )
        whole = np.zeros((6, 6))
        for x in range(6):
            columns, masses = chain.row(x)
            whole[x, columns] = masses
        belief = chain.start @ whole
        ratios = belief / chain.tail
        for listed in range(1, 5):
            kept = combinations(range(6), 6 - listed)
            best = min(math.log(ratios[list(rest)].max() / ratios[list(rest)].min()) for rest in kept)
            assert narrowest_band(chain, listed) == pytest.approx(best, abs=1e-12)


def test_a_model_that_forgets_enough_may_never_come_to_half() -> None:
    chain = zipf_chain(60, left=0.99)
    loss = loss_of(chain, 30, EPSILON, 0)
    assert loss is not None
    assert loss.half_from is None
    assert "for less than epsilon" in in_words(loss, 30)


def test_the_commands_say_it(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(serialise(Categories([f"v{x}" for x in range(60)]), zipf_chain(60), {}))
    new_ring(tmp_path / "keys.json")
    for listed, told in ((7, True), (60, False)):
        text = GOOD.replace("model: model.json", f"model: {{file: model.json, listed: {listed}}}")
        (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
        for command in ("validate", "explain"):
            answer = run(command, tmp_path / "c.yaml")
            assert answer.exit_code == EXIT_DONE
            said = " ".join((answer.stdout + answer.stderr).split())
            assert ("rows name 60 values, more than the 7 that are listed" in said) == told
