"""A small recurrent net that says whose sequence it reads: gated units (GRU), trained by truncated back-propagation.

    r = sigmoid(Wr x + Ur h),  z = sigmoid(Wz x + Uz h),  c = tanh(Wc x + Uc (r h)),  h' = (1 - z) h + z c
    users = softmax(V h + v), at each value; a sequence belongs to whom the sum of log chances over its values favours

Values enter as rows of W. Without knowledge of the correlation the same net is trained and asked with the values of
each sequence in an order of its own, so that it can only use how often they come. The seed decides everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stream.audit.amounts import Floats, Integers

_GATES = ("r", "z", "c")


@dataclass(frozen=True)
class Training:
    units: int = 24
    span: int = 16
    rounds: int = 60
    rate: float = 0.02
    seed: int = 1


def uniform(shape: tuple[int, ...], name: str, seed: int) -> Floats:
    """Numbers from -1 to 1, the same on every machine: SHAKE-256 of the name and the seed."""
    size = int(np.prod(shape))
    words = np.frombuffer(hashlib.shake_256(f"{name} {seed}".encode()).digest(8 * size), dtype="<u8")
    return (words.astype(np.float64) / 2.0**63 - 1.0).reshape(shape)


def shuffled(sequence: Integers, name: str, seed: int) -> Integers:
    return sequence[np.argsort(uniform(sequence.shape, name, seed), kind="stable")]


def new_weights(symbols: int, users: int, training: Training) -> dict[str, Floats]:
    units, seed = training.units, training.seed
    weights = {f"W{gate}": 0.5 * uniform((symbols, units), f"W{gate}", seed) for gate in _GATES}
    weights |= {f"U{gate}": uniform((units, units), f"U{gate}", seed) / np.sqrt(units) for gate in _GATES}
    weights |= {f"b{gate}": np.zeros(units) for gate in _GATES}
    return weights | {"V": uniform((units, users), "V", seed) / np.sqrt(units), "v": np.zeros(users)}


def sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def step_forward(weights: Mapping[str, Floats], values: Integers, h: Floats) -> dict[str, Floats]:
    """One value of each sequence."""
    r = sigmoid(weights["Wr"][values] + h @ weights["Ur"] + weights["br"])
    z = sigmoid(weights["Wz"][values] + h @ weights["Uz"] + weights["bz"])
    c = np.tanh(weights["Wc"][values] + (r * h) @ weights["Uc"] + weights["bc"])
    return {"before": h, "r": r, "z": z, "c": c, "h": (1.0 - z) * h + z * c}


def log_chances(weights: Mapping[str, Floats], h: Floats) -> Floats:
    logits = h @ weights["V"] + weights["v"]
    logits = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))


def gradients(
    weights: Mapping[str, Floats], values: Integers, users: Integers, h: Floats
) -> tuple[float, dict[str, Floats], Floats]:
    """The mean loss over a span of values (one row a sequence), its derivatives, and the state at the end."""
    steps = []
    for at in range(values.shape[1]):
        steps.append(step_forward(weights, values[:, at], h))
        h = steps[-1]["h"]
    slopes = {name: np.zeros(weight.shape) for name, weight in weights.items()}
    loss, count, back = 0.0, values.size, np.zeros(h.shape)
    for at in range(len(steps) - 1, -1, -1):
        step = steps[at]
        logs = log_chances(weights, step["h"])
        loss -= float(logs[np.arange(users.shape[0]), users].sum()) / count
        error = np.exp(logs)
        error[np.arange(users.shape[0]), users] -= 1.0
        error /= count
        slopes["V"] += step["h"].T @ error
        slopes["v"] += error.sum(axis=0)
        back = _step_back(weights, slopes, values[:, at], step, back + error @ weights["V"].T)
    return loss, slopes, h


def _step_back(
    weights: Mapping[str, Floats], slopes: dict[str, Floats], values: Integers, step: Mapping[str, Floats], back: Floats
) -> Floats:
    before, r, z, c = step["before"], step["r"], step["z"], step["c"]
    to_c = back * z * (1.0 - c * c)
    to_z = back * (c - before) * z * (1.0 - z)
    into = to_c @ weights["Uc"].T
    to_r = into * before * r * (1.0 - r)
    for gate, error, fed in (("r", to_r, before), ("z", to_z, before), ("c", to_c, r * before)):
        np.add.at(slopes[f"W{gate}"], values, error)
        slopes[f"U{gate}"] += fed.T @ error
        slopes[f"b{gate}"] += error.sum(axis=0)
    return np.asarray(back * (1.0 - z) + into * r + to_r @ weights["Ur"].T + to_z @ weights["Uz"].T)


def train(sequences: Sequence[Integers], symbols: int, training: Training) -> dict[str, Floats]:
    """Adam over spans; each round reads all rows once. The state goes on from span to span; slopes do not.

    A fifth of each sequence, its end, is not trained on: the weights of the round that does best there are kept, for a
    net learns a short stream by heart.
    """
    weights = new_weights(symbols, len(sequences), training)
    cut = [sequence.shape[0] - max(1, sequence.shape[0] // 5) for sequence in sequences]
    rows, users = in_rows([each[:at] for each, at in zip(sequences, cut, strict=True)], training.span)
    unseen, whose = in_rows([each[at:] for each, at in zip(sequences, cut, strict=True)], training.span)
    means = {name: np.zeros(weight.shape) for name, weight in weights.items()}
    squares = {name: np.zeros(weight.shape) for name, weight in weights.items()}
    best, least, turn = weights, np.inf, 0
    for _ in range(training.rounds):
        h = np.zeros((rows.shape[0], training.units))
        for start in range(0, rows.shape[1], training.span):
            _, slopes, h = gradients(weights, rows[:, start : start + training.span], users, h)
            turn += 1
            weights = adam(weights, slopes, means, squares, turn, training.rate)
        loss = gradients(weights, unseen, whose, np.zeros((unseen.shape[0], training.units)))[0]
        if loss < least:
            best, least = weights, loss
    return best


def adam(
    weights: Mapping[str, Floats],
    slopes: Mapping[str, Floats],
    means: dict[str, Floats],
    squares: dict[str, Floats],
    turn: int,
    rate: float,
) -> dict[str, Floats]:
    """One step; the running means change in place."""
    after = {}
    for name, slope in slopes.items():
        means[name] = 0.9 * means[name] + 0.1 * slope
        squares[name] = 0.999 * squares[name] + 0.001 * slope * slope
        fair = np.sqrt(squares[name] / (1.0 - 0.999**turn)) + 1e-8
        after[name] = weights[name] - rate * means[name] / (1.0 - 0.9**turn) / fair
    return after


def in_rows(sequences: Sequence[Integers], span: int) -> tuple[Integers, Integers]:
    """Every sequence cut into rows of one length, four spans or the shortest sequence; and whose each row is."""
    length = min(4 * span, *(sequence.shape[0] for sequence in sequences))
    rows, users = [], []
    for user, sequence in enumerate(sequences):
        for start in range(0, sequence.shape[0] - length + 1, length):
            rows.append(sequence[start : start + length])
            users.append(user)
    return np.array(rows), np.array(users)


def recurrent_scores(
    training: Sequence[Integers], attacked: Sequence[Integers], symbols: int, how: Training, *, in_order: bool = True
) -> Floats:
    """A row for each attacked sequence, a column for each user."""
    if not in_order:
        training = [shuffled(each, f"training {user}", how.seed) for user, each in enumerate(training)]
        attacked = [shuffled(each, f"attacked {user}", how.seed) for user, each in enumerate(attacked)]
    weights = train(training, symbols, how)
    scores = []
    for sequence in attacked:
        h, total = np.zeros((1, how.units)), np.zeros(len(training))
        for value in sequence:
            h = step_forward(weights, np.array([value]), h)["h"]
            total += log_chances(weights, h)[0]
        scores.append(total)
    return np.array(scores)
