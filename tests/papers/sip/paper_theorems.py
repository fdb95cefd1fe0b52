"""The theorems, definitions and algorithms, each put to numbers that can say no."""

from __future__ import annotations

import itertools
import math
from typing import Final, NamedTuple

import numpy as np
from oracles import cost_by_linear_program
from paper_binary import STEP, dense
from paper_releases import Floats, channel_of, leak_of

from beliefs.chain import Chain
from beliefs.leakage.path import path_bound, published_theorem_2
from beliefs.leakage.sequence import channel_leak
from beliefs.leakage.whole import Accounts, Following
from mechanisms.sequence.published_batch_value import published_batch_value, windows_of
from mechanisms.sequence.published_crr_value import likelihood_of, published_value

STICKY: Final = Chain.from_dense([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])


def accounts_of(chain: Chain, epsilon: float, released: tuple[int, ...]) -> Accounts:
    following = Following(chain)
    for value in released:
        following.add(likelihood_of(following.belief, epsilon, value))
    return following.accounts()


class Sums(NamedTuple):
    exact: float
    added: float
    promised: float


def theorem_1(size: int = 5, times: int = 3, epsilon: float = 1.0) -> Sums:
    """The sequence's exact leakage, the sum of what each release really told, and of what each promised; worst outputs.

    Values stay with a half; all outputs that may come are followed.
    """
    chain = Chain.from_dense(np.full(size, 1 / size), 0.5 * np.eye(size) + 0.5 / size)
    told = [accounts_of(chain, epsilon, outputs) for outputs in itertools.product(range(size), repeat=times)]
    return Sums(max(each.whole.epsilon for each in told), max(each.total for each in told), times * epsilon)


class Path(NamedTuple):
    lower: list[float]
    printed: float
    true_path: float
    basic: float


def theorem_2(times: int = 100, epsilon: float = 0.1, delta: float = 1e-6, runs: int = 20) -> Path:
    """Definition 1's lower side for random outputs, beside the bound that is to fail with probability delta."""
    source, move, lowers = np.random.default_rng(2), dense(STICKY), []
    for _ in range(runs):
        following, value = Following(STICKY), int(source.integers(0, 2))
        for _ in range(times):
            keep = source.random() < -math.expm1(-epsilon)
            released = value if keep else int(source.random() < following.belief[1])
            following.add(likelihood_of(following.belief, epsilon, released))
            value = int(source.random() < move[value, 1])
        lowers.append(following.accounts().whole.lower)
    return Path(lowers, published_theorem_2(times, epsilon, delta), path_bound(times, epsilon, delta), times * epsilon)


def batched_theorem_2(batches: int, epsilon: float, delta: float) -> tuple[float, float]:
    """As printed, with the number of batches where its root belongs; and with the root."""
    drift, root = batches * epsilon * math.expm1(epsilon), epsilon * math.sqrt(2 * math.log(1 / delta))
    return drift + batches * root, drift + math.sqrt(batches) * root


def random_beliefs(count: int, sizes: tuple[int, int] = (2, 6), seed: int = 3) -> list[Floats]:
    source = np.random.default_rng(seed)
    return [source.dirichlet(np.full(int(source.integers(*sizes)), 1.5)) for _ in range(count)]


def spread_of(rows: Floats) -> float:
    """The largest log ratio between two rows: what LDP bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows)
        apart = logs[:, None, :] - logs[None, :, :]
    return float(np.nanmax(apart))


def theorem_3(epsilon: float = 1.0) -> tuple[float, float]:
    """The most that an epsilon-LDP mechanism tells by SIP, and how far rows of an epsilon-SIP one are apart."""
    local = max(leak_of(belief, channel_of("randomised_response", belief, epsilon)) for belief in random_beliefs(100))
    rows = max(spread_of(channel_of("optimal", belief, epsilon).rows) for belief in random_beliefs(100))
    return local, rows


def printed_rows(belief: Floats, epsilon: float) -> Floats:
    """Theorem 4 as printed: the belief in the TRUE value off the diagonal."""
    rows = np.repeat(belief[:, None] * math.exp(-epsilon), belief.size, axis=1)
    np.fill_diagonal(rows, 1.0 - (1.0 - belief) * math.exp(-epsilon))
    return rows


class Optimal(NamedTuple):
    """Of random beliefs: for how many CRR leaks; where it does not, the largest excess over the optimum."""

    leaking: int
    beliefs: int
    excess_metric: float
    excess_squared: float


def theorem_4(epsilon: float = 1.0) -> Optimal:
    source, least = np.random.default_rng(9), 1.0 / (1.0 + math.exp(epsilon))
    beliefs = random_beliefs(200)
    leaking = sum(not published_value(belief, epsilon).bounded for belief in beliefs)
    metric = squared = 0.0
    for belief in random_beliefs(60, (3, 4)):
        raised = 3 * least * np.full(3, 1 / 3) + (1 - 3 * least) * belief
        points = source.random(3)
        far = np.abs(points[:, None] - points[None, :])
        for costs, kind in ((far, "metric"), (far**2, "squared")):
            mean = math.exp(-epsilon) * float(raised @ costs @ raised)
            excess = mean / cost_by_linear_program(raised, costs, epsilon) - 1.0
            metric, squared = (max(metric, excess), squared) if kind == "metric" else (metric, max(squared, excess))
    return Optimal(leaking, len(beliefs), metric, squared)


def marginal_moves(mechanism: str, epsilon: float = 1.0) -> float:
    """How far the law of the output may be from the belief, in total variation."""

    def moved(belief: Floats) -> float:
        channel = channel_of(mechanism, belief, epsilon)
        law = np.zeros(belief.size)
        law[channel.released] = belief @ channel.rows
        return float(np.abs(law - belief).sum()) / 2

    return max(moved(belief) for belief in random_beliefs(100))


def chance_beyond(epsilon: float = 1.0, times: int = 3) -> float:
    """How likely releases by `optimal` tell more than their epsilons together, over all outputs of a binary chain."""
    move = dense(STICKY)

    def beyond(belief: Floats, told: float, left: int) -> float:
        if left == 0:
            return float(told > times * epsilon)
        channel = channel_of("optimal", belief, epsilon)
        law, total = belief @ channel.rows, 0.0
        for i in range(channel.released.size):
            worst = float(np.abs(np.log(channel.rows[:, i] / law[i])).max())
            total += law[i] * beyond(belief * channel.rows[:, i] / law[i] @ move, told + worst, left - 1)
        return total

    return beyond(STICKY.start, 0.0, times)


def other_prior() -> float:
    """Built for a fair coin at epsilon 1, read by somebody who believes 9 to 1."""
    kept = math.exp(-1) / 2
    return channel_leak([0.9, 0.1], [[1 - kept, kept], [kept, 1 - kept]]).epsilon


def algorithm_2(length: int = 2, epsilon: float = 1.0) -> tuple[float, float]:
    """What it keeps, and what a linear program keeps under the same bound."""
    strings, law = windows_of(STICKY, length)
    costs = np.array([[sum(a != b for a, b in zip(o, r, strict=True)) / length for r in strings] for o in strings])
    return published_batch_value(STICKY, length, epsilon, STEP).agreement, 1.0 - cost_by_linear_program(
        law, costs, epsilon
    )


def theorem_5(epsilon: float = 1.0) -> tuple[float, float]:
    """Two batches of two values, L = 1: what the second tells about itself, and about both, by enumeration."""
    strings, law = windows_of(STICKY, 2)
    first = channel_of("optimal", law, epsilon)
    alone = both = 0.0
    for i in range(first.released.size):
        posterior = law * first.rows[:, i]
        posterior /= posterior.sum()
        joint = np.array(
            [
                [
                    posterior[a] * STICKY.row(one[-1])[1][other[0]] * (0.9 if other[0] == other[1] else 0.1)
                    for other in strings
                ]
                for a, one in enumerate(strings)
            ]
        )
        following = joint.sum(axis=0)
        second = channel_of("optimal", following, epsilon)
        alone = max(alone, leak_of(following, second))
        chances = following @ second.rows
        for a, b in itertools.product(range(len(strings)), repeat=2):
            if joint[a, b] > 0:
                both = max(both, float(np.abs(np.log(second.rows[b] / chances)).max()))
    return alone, both


def information(epsilon: float = 0.1, times: int = 100) -> float:
    """Nats between T fair bits and their releases by CRR."""
    kept = 1 - math.exp(-epsilon) / 2
    return float(times * (math.log(2) + kept * math.log(kept) + (1 - kept) * math.log1p(-kept)))
