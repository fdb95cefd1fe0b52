"""How often guesses at the values of windows may be right: a theorem by enumeration, kept by what was measured,
attained, and broken by a pipeline that shows more than its channels allow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import audit_world
import numpy as np
import orjson
import pytest
from attack_help import Growing, adversary_of, attacked, longer_memory, truth_of
from attack_windows import column_of
from audit_memory import START_MS, Kept
from audit_windows import place_of, with_place
from audit_world import TOPIC_ID, run, with_value
from window_oracle import Oracle, Release, exp

from beliefs.alphabet import Alphabet, Categories
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from mechanisms.sequence.window import LEAST_CAP, plan_of
from mechanisms.sequence.window_order import bisected
from stream.adversary.attack import Task
from stream.adversary.facts import Naming
from stream.adversary.serve import Follower
from stream.attack.bounds import ceiling_of, interval_of
from stream.errors import CannotAudit

pytestmark = pytest.mark.timeout(600)  # the first of each kind compiles
ORDERS = {
    "bisect": "{events: 4, stretch: 20s}",
    "natural": "{events: 4, stretch: 20s, order: natural}",
    "dual": "{events: 3, stretch: 20s, order: dual}",
}
EVERY_ORDER = pytest.mark.parametrize("order", ORDERS)
Path = tuple[int, ...]
String = tuple[tuple[int, int], ...]


def chain_of(symbols: int, stay: float) -> Chain:
    other = (1 - stay) / (symbols - 1)
    rows = [[stay if x == y else other for y in range(symbols)] for x in range(symbols)]
    return Chain.from_dense([1 / symbols] * symbols, rows)


def every_string(chain: Chain, length: int, epsilon: float, order: str) -> dict[String, dict[Path, float]]:
    """Whatever a window may give, as positions and values in their order, and how likely each window of values gives
    it."""
    values = list(itertools.product(range(chain.symbols), repeat=length))
    if order == "dual":
        law = np.full(chain.symbols, 1 / chain.symbols)
        found: dict[String, dict[Path, float]] = {}
        for drawn in values:
            try:
                found[tuple(enumerate(drawn))], _ = column_of(chain, law, drawn, epsilon)
            except KeyError:  # it is never drawn
                continue
        return found
    plan = plan_of(epsilon, length, chain.size)
    oracle = Oracle(chain, chain.start.tolist(), [1] * length)
    positions = list(range(length)) if order == "natural" else list(bisected(length))
    share, found = 1 / exp(epsilon), {}
    for releases in oracle.strings(positions, Fraction(plan.cap), LEAST_CAP):
        if is_whole(releases, oracle, length, plan.cap):
            law = sum(chance * oracle.chance_of(releases, path) for chance, path in oracle.paths)
            found[tuple((each.position, each.drawn) for each in releases)] = {
                x: float(share * law + (1 - share) * oracle.chance_of(releases, x)) for x in values
            }
    return found


def is_whole(releases: Sequence[Release], oracle: Oracle, length: int, cap: float) -> bool:
    """Whether no more can be given after these."""
    left = Fraction(cap)
    for count, each in enumerate(releases):
        belief = oracle.belief_at(each.position, releases[:count])
        left *= sum(b * k for b, k in zip(belief, each.chances, strict=True)) / max(each.chances)
    return len(releases) == length or left < LEAST_CAP


@EVERY_ORDER
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
@pytest.mark.parametrize(("symbols", "length"), [(2, 3), (3, 2)])
def test_no_guess_rule_beats_the_ceiling(order: str, epsilon: float, symbols: int, length: int) -> None:
    """For each window of true values, impossible ones too, and rules that look at all that was given."""
    chain, source = chain_of(symbols, 0.8), np.random.default_rng(3)
    strings = every_string(chain, length, epsilon, order)
    values = list(itertools.product(range(symbols), repeat=length))
    chances = np.array([[given[x] for x in values] for given in strings.values()])
    assert chances.sum(axis=0) == pytest.approx(np.ones(len(values)), abs=1e-5)
    moves = {True: 0.8, False: 0.2 / (symbols - 1)}
    prior = np.array([np.prod([1 / symbols, *(moves[a == b] for a, b in itertools.pairwise(x))]) for x in values])
    law = chances @ prior
    digits = np.array(values)
    for trial in range(40):
        believed = prior if trial == 0 else source.dirichlet(np.full(len(values), 0.4))
        for position in range(length):
            masses = np.array([(chances * believed)[:, digits[:, position] == v].sum(axis=1) for v in range(symbols)])
            guesses = masses.argmax(axis=0) if trial < 20 else source.integers(symbols, size=len(strings))
            for number, x in enumerate(values):
                right = guesses == x[position]
                by_chance = np.array([law[right].sum()])
                assert chances[right, number].sum() <= ceiling_of(by_chance, epsilon)[0] + 1e-5


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_a_guess_within_a_window_is_right_with_no_more_than_what_its_path_has_left(epsilon: float) -> None:
    """Each next value given, beside all beginnings, all true windows, and random rules for it."""
    chain, length, source = chain_of(3, 0.7), 3, np.random.default_rng(4)
    plan, oracle = plan_of(epsilon, length, 3), Oracle(chain, chain.start.tolist(), [1] * length)
    share, seen = 1 / exp(epsilon), 0
    beginnings: dict[String, list[list[Release]]] = {}
    for releases in oracle.strings(range(length), Fraction(plan.cap), LEAST_CAP):
        beginnings.setdefault(tuple((each.position, each.drawn) for each in releases[:-1]), []).append(releases)
    for group in beginnings.values():
        earlier = group[0][:-1]
        law = [float(sum(chance * oracle.chance_of(one, path) for chance, path in oracle.paths)) for one in group]
        before = sum(law)
        for x in itertools.product(range(3), repeat=len(group[0])):
            spent = math.log(share + (1 - share) * float(oracle.chance_of(earlier, x)) / before)
            chances = [
                float(share) * p + (1 - float(share)) * float(oracle.chance_of(one, x))
                for one, p in zip(group, law, strict=True)
            ]
            for _ in range(6):
                right = source.integers(3, size=len(group)) == x[len(earlier)]
                by_chance = np.array([np.array(law)[right].sum() / before])
                allowed = ceiling_of(by_chance, np.array([epsilon - spent]), np.array([epsilon + spent]))[0]
                assert np.array(chances)[right].sum() / sum(chances) <= allowed + 1e-9
                seen += 1
    assert seen >= 18  # with the first value alone, where the cap leaves no room for more


def constant(alphabet: Alphabet, events: int, users: int, partition: int) -> Sequence[Kept]:
    """Users who never change their value."""
    values = np.random.default_rng(partition).integers(alphabet.size, size=users).tolist()
    return [
        Kept(
            i, b"user-%d" % (i % users), orjson.dumps({"activity": alphabet.value_at(values[i % users])}), START_MS + i
        )
        for i in range(events)
    ]


@EVERY_ORDER
@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.0])
def test_the_bound_is_attained_within_a_tenth(order: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """One window of each of 1,500 users whose values stay as they are, with a chance of .999: two values."""
    monkeypatch.setattr(audit_world, "_inputs", constant)
    model = parse(serialise(Categories(["act0", "act1"]), chain_of(2, 0.999), {}))
    windows = ORDERS[order].replace(", stretch: 20s", "")
    length = 3 if order == "dual" else 4
    finished = run(2, events=1500 * length, users=1500, epsilon=epsilon, nats="unlimited", windows=windows, model=model)
    result = attacked(finished)
    scores, most = result.scores, 1 - math.exp(-epsilon) / 2
    assert scores.scored == 1500 * length
    assert scores.right / scores.scored >= 0.9 * most
    assert scores.blind_right / scores.scored == pytest.approx(0.5, abs=0.05)
    low, high = interval_of(*scores.one_each[1::-1])
    assert low <= most
    assert high >= 0.9 * most
    assert scores.sure / scores.scored >= 0.9 * most
    assert scores.possible / scores.scored == pytest.approx(most, abs=0.001)
    assert 0.9 * epsilon < scores.largest <= epsilon + 1e-9
    assert result.stays_under_the_bound


@EVERY_ORDER
@pytest.mark.parametrize("own", [None, longer_memory(3, 11)], ids=["true", "other"])
def test_no_adversary_is_measured_beyond_the_bound(order: str, own: Model | None) -> None:
    """The data are uniform draws, which the model does not say: the theorem is for any data."""
    finished = run(3, events=2500, users=60, nats="unlimited", windows=ORDERS[order])
    result = attacked(finished, own)
    scores = result.scores
    assert (scores.beyond, result.beyond_the_ledger, result.lost) == (0, 0, 0)
    assert not scores.too_often
    assert scores.scored == scores.released > 2000
    assert scores.right > scores.blind_right
    users, right, allowed = scores.one_each
    assert users == 60
    ceiling = allowed if order == "natural" else ceiling_of(np.array([interval_of(round(60 * allowed), 60)[1]]), 1.0)[0]
    assert interval_of(right, users)[0] <= ceiling
    assert interval_of(scores.right, scores.scored)[0] <= scores.allowed / scores.scored
    assert scores.limits.reader == (1.0 if own is None else 2.0)


@EVERY_ORDER
@pytest.mark.parametrize("spent", ["forecast", "suppress"])
def test_budgets_silence_and_stretches_are_followed(order: str, spent: str) -> None:
    finished = run(3, events=1500, users=20, nats=3, when_spent=spent, window="30s", windows=ORDERS[order])
    assert finished.report().agrees
    result = attacked(finished)
    assert (result.lost, result.scores.beyond, result.beyond_the_ledger) == (0, 0, 0)
    assert result.scores.released == finished.outcomes["released"] > 100
    assert result.scores.silent == finished.outcomes["forecast"]
    assert finished.outcomes[{"forecast": "forecast", "suppress": "suppressed"}[spent]] > 100
    assert result.stays_under_the_bound


def walks(stay: float) -> Callable[[Alphabet, int, int, int], Sequence[Kept]]:
    def inputs(alphabet: Alphabet, events: int, users: int, partition: int) -> Sequence[Kept]:
        source = np.random.default_rng(partition)
        at, records = source.integers(alphabet.size, size=users), []
        for i in range(events):
            user = i % users
            if source.random() >= stay:
                at[user] = (at[user] + source.integers(1, alphabet.size)) % alphabet.size
            text = orjson.dumps({"activity": alphabet.value_at(int(at[user]))})
            records.append(Kept(i, b"user-%d" % user, text, START_MS + i))
        return records

    return inputs


@EVERY_ORDER
def test_on_data_of_its_model_the_adversary_is_calibrated(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_world, "_inputs", walks(0.8))
    model = parse(serialise(Categories(["act0", "act1", "act2"]), chain_of(3, 0.8), {}))
    finished = run(3, events=6000, users=100, nats="unlimited", model=model, windows=ORDERS[order])
    scores = attacked(finished).scores
    assert scores.scored > 5500
    assert scores.calibration_error is not None
    assert scores.calibration_error < 0.03
    assert scores.sure / scores.scored == pytest.approx(scores.right / scores.scored, abs=0.02)
    assert scores.right / scores.scored > scores.before_right / scores.scored + 0.1
    assert scores.before_right >= scores.blind_right


@EVERY_ORDER
def test_a_pipeline_that_tells_more_than_allowed_is_caught(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of most windows the true values are what was drawn. The audit of the releases alone has nothing to say."""
    monkeypatch.setattr(audit_world, "_inputs", walks(0.7))
    model = parse(serialise(Categories(["act0", "act1"]), chain_of(2, 0.7), {}))
    finished = run(2, events=4000, users=400, nats="unlimited", model=model, windows=ORDERS[order], epsilon=0.5)
    honest = attacked(finished)
    assert honest.stays_under_the_bound
    truth, log = truth_of(finished).by_id, finished.released()
    for at, one in enumerate(log):
        place, length, drawn = place_of(one)
        if drawn:
            value = truth[bytes.fromhex(dict(one.headers)["release-id"].decode())]
            shown = with_value(one, f"act{value}") if order == "dual" else one
            log[at] = with_place(shown, f"{place}/{length}/{value}")
    caught = attacked(finished)
    assert caught.scores.scored > 500
    assert (caught.scores.beyond, caught.beyond_the_ledger) == (0, 0)
    assert caught.scores.evidence.against_the_bound
    assert caught.exit_status == 1


@EVERY_ORDER
async def test_following_finds_what_one_reading_finds(order: str) -> None:
    finished = run(3, events=900, users=12, nats=8, partitions=2, windows=ORDERS[order])
    reader = adversary_of(finished)
    task = Task("phones", "phones.raw", (reader,), Naming(reader.public.fingerprint, TOPIC_ID.bytes), raw_truth=True)
    topics = Growing(finished, seen=60, breaks=[9, 1, 6])
    follower, result = Follower(task, topics), None
    for _ in range(14):
        try:
            result = await follower.look()
        except CannotAudit:
            continue
        topics.seen += 90
    wanted = attacked(finished).scores
    assert result is not None
    assert result.scores.scored == wanted.scored == wanted.released > 500
    assert (result.scores.right, result.scores.beyond) == (wanted.right, 0)
    assert result.scores.sure == pytest.approx(wanted.sure)
    assert result.scores.allowed == pytest.approx(wanted.allowed)


def test_a_window_that_goes_on_is_not_looked_at_yet() -> None:
    finished = run(3, events=300, users=5, nats="unlimited", windows=ORDERS["bisect"])
    log = finished.released()
    last = max(at for at, one in enumerate(log) if place_of(one)[0] == place_of(one)[1] != "1")
    user = log[last].key
    del log[last:]
    result = attacked(finished)
    assert result.waiting >= 1
    assert result.lost == 0
    assert result.scores.released == len(log) - result.waiting
    assert user in result.keys
