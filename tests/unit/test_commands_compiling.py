"""Whoever waits for the compiler is told so, and nobody else is told anything."""

from __future__ import annotations

import numba

from stream.commands.compiling import EVERY_SECONDS, compiling_told


def test_nothing_is_said_when_nothing_is_compiled() -> None:
    said: list[str] = []
    with compiling_told(said.append):
        pass
    assert said == []


def test_compiling_is_told_from_beginning_to_end() -> None:
    inner = numba.njit(lambda number: number + 1)
    outer = numba.njit(lambda number: inner(number) * 2)
    said: list[str] = []
    now = [0.0]

    def clock() -> float:
        now[0] += EVERY_SECONDS
        return now[0]

    with compiling_told(said.append, clock):
        assert outer(1) == 4
        assert outer(2) == 6
    assert said[0].startswith("Compiling the release path (once per version")
    assert said[1].startswith("  1 functions compiled")
    assert said[-1].startswith("The release path is compiled: 2 functions, ")


def test_what_was_compiled_before_is_silent() -> None:
    function = numba.njit(lambda number: number + 1)
    function(1)
    said: list[str] = []
    with compiling_told(said.append):
        function(1)
    assert said == []
