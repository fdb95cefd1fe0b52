"""How bad input about correlated fields is asked: every name with the rest of its inputs, and every Python call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from beliefs import json_text
from beliefs.checks import Invalid
from beliefs.correlation.bound import bound, saturation
from beliefs.correlation.frontier import Frontier
from beliefs.correlation.joint import joint_leak
from beliefs.correlation.outputs import response_leak
from beliefs.correlation.reported import by_channel
from beliefs.correlation.robust_hull import hull_bound
from beliefs.correlation.robust_rows import robust_bound
from stream.commands.compute import answer

GOOD = [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]
LAWS = np.array(GOOD)
COUNTS = [[3, 1], [1, 3]]
KEY = "00" * 32
OF_ROWS = {
    "cpl.bound": {"epsilon": 1},
    "cpl.saturation": {},
    "cpl.channel": {"channel": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]},
    "cpl.mechanism": {"mechanism": "grr", "epsilon": 1},
    "cpl.attacked": {"mechanism": "oue", "epsilon": 1},
    "cpl.repeated": {"epsilon": 1, "times": 2},
    "cpl.robust": {"epsilon": 1, "radii": [0.1, 0.1]},
    "cpl.robust_hull": {"epsilon": 1, "radii": [0.1, 0.1]},
}
"""What takes a conditional, with the rest of its inputs."""
SAMPLED = {"secrets": [0, 1], "neighbours": [0, 1], "values": 2, "key": KEY}
OF_COUNTS = {
    "cpl.correlation": {},
    "cpl.joint": {"epsilons": [1]},
    "cpl.calibrate": {"mechanism": "grr", "total": 1},
}
FROM_ROWS: list[Callable[[Any], object]] = [
    lambda laws: bound(laws, 1.0),
    saturation,
    Frontier,
    lambda laws: response_leak(laws, 1.0),
    lambda laws: robust_bound(laws, 1.0, np.zeros(len(laws))),
    lambda laws: hull_bound(laws, 1.0, np.zeros(len(laws))),
    lambda laws: joint_leak(laws, [1.0]),
    lambda laws: by_channel(laws),
]


def ask(what: str, inputs: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """As a file would ask: through the text, so that NaN and repeated keys are what they are there."""
    document = json_text.read(json.dumps({"what": what, "inputs": {**inputs, **changed}}).encode())
    found = answer(document)
    assert isinstance(found, dict)
    return found


def check_refused(what: str, inputs: dict[str, Any], field: str, *words: str, **changed: Any) -> None:
    found = ask(what, inputs, **changed)
    assert found.get("error", {}).get("field") == field, found
    for word in words:
        assert word in found["error"]["reason"]


def check_raises(field: str, call: Callable[[], object], *words: str) -> None:
    with pytest.raises(Invalid) as caught:
        call()
    assert caught.value.field == field
    for word in words:
        assert word in caught.value.reason
