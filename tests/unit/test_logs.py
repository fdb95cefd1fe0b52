"""What reaches standard error: our own words always, a library's complaint once in a while."""

from __future__ import annotations

import logging

from stream.logs import LIBRARY_PAUSE_SECONDS, Seldom


def record(name: str, text: str) -> logging.LogRecord:
    return logging.LogRecord(name, logging.ERROR, __file__, 1, text, ("here",), None)


def test_a_library_says_one_thing_once_in_a_while() -> None:
    now = [0.0]
    seldom = Seldom(lambda: now[0])
    passed = [seldom.filter(record("aiokafka", "cannot connect to %s")) for _ in range(2_000)]
    assert passed == [True] + [False] * 1_999
    assert seldom.filter(record("aiokafka", "something else at %s"))
    assert seldom.filter(record("faust", "cannot connect to %s"))
    now[0] = LIBRARY_PAUSE_SECONDS
    again = record("aiokafka", "cannot connect to %s")
    assert seldom.filter(again)
    assert again.getMessage() == "cannot connect to here (and 1999 times before)"


def test_our_own_words_are_never_left_out() -> None:
    seldom = Seldom(lambda: 0.0)
    assert all(seldom.filter(record("sottovoce.worker", "stopped at %s")) for _ in range(10))
