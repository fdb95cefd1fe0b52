"""The record of one window of a crowd: what is released of it and what that tells, or that it is withheld, and why. Of
records by mondrian there is one more for each crowd, before it.

Amounts are written exactly, as decimals. Everything under `guarantee` is rounded up at the last digit that is written,
but for the share of people who are known: of more nothing is said.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
import orjson

from beliefs.crowd.account import ADVERSARIES, Told
from beliefs.crowd.noise import LADDER
from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.crowds.mondrian import Crowds
from stream import names
from stream.crowds.boxes import Boxes
from stream.crowds.entries import Group, anybody
from stream.crowds.ledger import Decision
from stream.crowds.promise import CrowdPromise
from stream.crowds.told import CrowdWindow
from stream.crowds.window_values import Noise, crowds_of, loss_of, value_of
from stream.gathering.numbers import rounded_down, rounded_up
from stream.keys import derived_key
from stream.protocol.ports import Outgoing
from stream.release_ids import release_ids
from stream.settings.amounts import write_moment
from stream.settings.crowd import MOST_PEOPLE

CROWD_BITS: Final = 18
"""Crowd i of window w has the release id of -1 - (w 2^18 + i): a window has fewer crowds than people."""

_FRAME_BYTES: Final = 4096
_CELL_BYTES: Final = 64


class WindowReleases:
    """Writes the records of windows of one stream; `partition` is where their parts come. The coins of a window are the
    same for ever: they come from the key epoch that its parts were sealed with.
    """

    def __init__(self, promise: CrowdPromise, topic_id: bytes, partition: int) -> None:
        self._promise, self._release, self._timing = promise, promise.release, promise.windowed
        self._topic_id, self._partition = topic_id, partition
        self._apart = promise.over == "partition"
        name = f"{promise.pipeline} {topic_id.hex()}{f' {partition}' if self._apart else ''}"
        self._keys = {
            epoch.number: derived_key(epoch.secret, names.PURPOSE_NOISE, name) for epoch in promise.ring.epochs
        }

    def warm_up(self) -> None:
        """Compile what divides people and draws noise; nothing of it stays."""
        epoch = self._promise.ring.current.number
        self.released(0, anybody(self._release), Decision(None, (), LADDER[0]), epoch)

    def withheld(self, number: int, users: int | None, decision: Decision) -> tuple[list[Outgoing], CrowdWindow]:
        return [self._record(number, users, decision, None, None)], CrowdWindow(number, users, decision.reason)

    def released(self, number: int, group: Group, decision: Decision, epoch: int) -> tuple[list[Outgoing], CrowdWindow]:
        """`epoch` is the latest that one of its parts was sealed with."""
        told = CrowdWindow(number, group.users, None, decision.told, decision.total, decision.scale)
        if self._release.kind != "records":
            noise = None
            if decision.scale is not None:
                noise = Noise(decision.scale, CoinStream(self._keys[epoch], number, 0))
            value = value_of(self._release, group, noise)
            return [self._record(number, group.users, decision, value, None)], told
        return self._records(number, group, decision, told)

    def _records(
        self, number: int, group: Group, decision: Decision, told: CrowdWindow
    ) -> tuple[list[Outgoing], CrowdWindow]:
        crowds, boxes = crowds_of(self._release, group), Boxes(self._release)
        loss = loss_of(crowds)
        value = {"kind": "records", "loss": None if loss is None else rounded_up(loss)}
        records = [self._crowd(number, place, group, crowds, boxes) for place in range(len(crowds.groups))]
        records.append(self._record(number, group.users, decision, value, crowds))
        return records, told._replace(
            loss=None if loss is None else float(loss), crowds=len(crowds.groups), suppressed=crowds.suppressed.size
        )

    def _record(
        self, number: int, users: int | None, decision: Decision, value: dict[str, Any] | None, crowds: Crowds | None
    ) -> Outgoing:
        said = {
            "window": self._window(number),
            "partition": self._partition if self._apart else None,
            "outcome": names.RELEASED if decision.reason is None else names.WITHHELD,
            "reason": decision.reason,
            "users": users,
            "crowds": None if crowds is None else len(crowds.groups),
            "suppressed": 0 if crowds is None else crowds.suppressed.size,
            "release": value,
            "guarantee": self._guarantee(decision),
        }
        return self._outgoing(number, self._start(number), number, str(said["outcome"]), said)

    def _crowd(self, number: int, place: int, group: Group, crowds: Crowds, boxes: Boxes) -> Outgoing:
        """Of one crowd of records; nothing of who is in it."""
        rows, sensitive = crowds.groups[place], self._release.sensitive
        said = {
            "window": self._window(number),
            "partition": self._partition if self._apart else None,
            "crowd": place,
            "users": int(rows.size),
            "box": boxes.box(crowds.boxes[place]),
            "loss": rounded_up(Fraction(crowds.losses[place])),
            "sensitive": None if sensitive is None else boxes.counts(group.cells[rows, -1].tolist()),
        }
        key = f"{self._start(number)}#{place}"
        return self._outgoing(number, key, -1 - ((number << CROWD_BITS) | place), names.CROWD, said)

    def _outgoing(self, number: int, key: str, id_number: int, outcome: str, said: dict[str, Any]) -> Outgoing:
        promise, timing = self._promise, self._timing
        ids = np.array([id_number], np.int64)
        (release_id,) = release_ids(self._topic_id, self._partition, ids, promise.policy_fingerprint)
        headers = (
            (names.HEADER_RELEASE_ID, release_id),
            (names.HEADER_POLICY, promise.policy_name.encode()),
            (names.HEADER_OUTCOME, outcome.encode()),
        )
        end = timing.start + (number + 1) * timing.length
        return Outgoing(key.encode(), orjson.dumps(said), end, headers)

    def _start(self, number: int) -> str:
        return write_moment(self._timing.start + number * self._timing.length)

    def _window(self, number: int) -> dict[str, Any]:
        return {"start": self._start(number), "end": self._start(number + 1), "number": number}

    def _guarantee(self, decision: Decision) -> dict[str, Any]:
        """A window that is withheld tells nothing of a value; of any other there is no bound without an account."""
        promise, target, told = self._promise, self._promise.target, {each.adversary: each for each in decision.told}
        unbounded = 1.0 if decision.reason is None and target is None else 0.0
        delta = max((each.delta for each in decision.told), default=unbounded)
        return {
            "k": promise.k,
            "epsilon": None if target is None else _up(target.epsilon),
            "delta": _up(delta),
            "adversaries": {name: _adversary(told[name]) if name in told else None for name in ADVERSARIES},
            "known": rounded_down(promise.known),
            "target": None
            if target is None
            else {
                "epsilon": _up(target.epsilon),
                "delta": _up(target.delta),
                "windows": target.horizon,
                "beyond": target.beyond,
            },
            "total": None
            if target is None or decision.total is None
            else {"windows": target.horizon, "epsilon": _up(target.epsilon), "delta": _up(decision.total)},
        }


def window_bytes_max(promise: CrowdPromise) -> int:
    """The largest value of a released record."""
    release = promise.release
    if release.attributes is None:
        return _FRAME_BYTES + sum(_CELL_BYTES + len(orjson.dumps(label)) for label in release.labels)
    return _FRAME_BYTES + Boxes(release).bytes_max(MOST_PEOPLE)


def _adversary(told: Told) -> dict[str, Any]:
    return {
        "delta": _up(told.delta),
        "epsilon_at_target": None if math.isinf(told.epsilon) else _up(told.epsilon),
        "method": told.method,
    }


def _up(number: float) -> Any:
    return rounded_up(Fraction(number))
