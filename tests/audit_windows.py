"""Runs with windows for the auditor's tests, and ways to falsify them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from audit_memory import Kept
from audit_world import AnyPipeline, Run, codes, run

from stream.windows.pipeline import WindowPipeline

WINDOWS = {"bisect": "{events: 5, stretch: 20s}", "natural": "{events: 5, stretch: 20s, order: natural}"}
ORDERS = pytest.mark.parametrize("order", WINDOWS)


def run_of(order: str, **changes: Any) -> Run:
    return run(**{"symbols": 4, "events": 900, "users": 9, "windows": WINDOWS[order], "nats": 3, **changes})


def place_of(one: Kept) -> tuple[str, str, str]:
    place, length, drawn = dict(one.headers)["window"].decode().split("/")
    return place, length, drawn


def with_place(one: Kept, text: str) -> Kept:
    headers = tuple((name, text.encode() if name == "window" else value) for name, value in one.headers)
    return replace(one, headers=headers)


def first(finished: Run, wanted: Callable[[Kept], bool]) -> int:
    return next(at for at, one in enumerate(finished.released()) if wanted(one))


def drawn_at(place: str) -> Callable[[Kept], bool]:
    return lambda one: place_of(one)[0] == place and place_of(one)[2] != ""


def other(value: str) -> str:
    return "act1" if value == "act0" else "act0"


def falsified(order: str, change: Callable[[WindowPipeline], None], **settings: Any) -> set[str]:
    def falsify(pipeline: AnyPipeline) -> None:
        assert isinstance(pipeline, WindowPipeline)
        change(pipeline)

    return codes(run_of(order, falsify=falsify, **settings))
