"""Flat records that are plain, or plain but for one thing, each made from its number alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

NOW = 1_700_000_000_000
END_OF_TIME = 4_102_444_800_000
LARGEST = 600


class Record(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()


def listed(texts: str) -> tuple[str, ...]:
    return tuple(texts.split())


DECLARED = ("activity", "n", "level", "place")
OTHERS = ("other", "x", "y", "activity2", "activit", "m", "N", "levle", "a:b", "a b", "~")
ODD_NAMES = ("", "größe", "\\u006e", "n\\n", "activity\x7f", "\x01", 'n"', "l\xffevel", "n\x00", " n")


class Kind(NamedTuple):
    """Which names records of a kind have most of the time, and the values of those that have values of their own."""

    names: tuple[str, ...]
    pools: dict[str, tuple[str, ...]]


ACTIVITIES = listed('"still" "walking" "running" "a:b" "" 1 -1 3 17 0')
ODD_ACTIVITIES = ('"walking "', *listed('"größe" "Walking" "walkin" "w\\u0061lking" "gr\\u00f6\\u00dfe" 1.0 30'))
ALONE = Kind(DECLARED, {"activity": ACTIVITIES})
SEVERAL = Kind(
    ("activity", "n", "job", "age", "home", "floor"),
    {
        "activity": listed('"still" "walking" "running" "a:b" ""'),
        "job": listed('"clerk" "nurse" "pilot" "walking" "a:b" "still"'),
        "age": listed("0 1 7 9 10 99"),
        "home": ('"c 1"', '"c 2"', '"clerk"', '""', '"nurse2"'),
        "floor": listed("-2 -1 0 1 30"),
    },
)
# The same with texts that only the definition reads.
LISTS = Kind(
    ("activity", "n", "job", "tags", "age"),
    {
        **SEVERAL.pools,
        "tags": ("[]", '["a"]', '["b","a"]', '["a" , "c"]', '["c","a"]', '["b"]', '["a","a"]', '["a","b","c"]', "null"),
    },
)
WORDS = ("true", "false", "null")
ODD_VALUES = (
    *listed("tru nul True truefalse nulll NaN Infinity - +1 .5 5. -.5 1.e3 0x10 1_0 1e5 1E5 1.5e3 1e-7 1e999 -0 -0.0"),
    *listed("00 01 -01 00.5 --1 1.2.3 1,5 18446744073709551615 18446744073709551616 /**/1 1// 'a' a \"a\"b"),
    *("9" * 18, "9" * 19, "-" + "9" * 18, "-" + "9" * 19, "9" * 30, "1 5", "", '"a" "b"', '"' + "x" * 700 + '"'),
    *listed('[] {} [1] {"n":1} [[{}]] " "\\"" "\\n" "\x00" "\x7f" "é" "😀" "\xff" "\ud800" "\\ud800"'),
    *('"\t"', '"\x1f"'),
)
# Well-formed, and not plain all the same.
UNUSUAL_VALUES = (
    *listed('"größe" "gr\\u00f6\\u00dfe" "\\"" "\\u003a" "😀" "\x7f" "c\\/d" 1e5 1E-5 -0 [] [1,[2.50]] {} {"n":1}'),
    *listed('{"activity":"still"} 1.00 12345678901234567.5 1234567890123456789.5 9999999999999999999'),
)
BLANKS = (" ", "\n", "\t", "\r", "  \r\n\t")
ODD_BLANKS = ("\x0b", "\x0c", "\x00", "\xa0", "\ufeff", ",", ":", "}", "{")
KEYS: tuple[bytes | None, ...] = (None, b"", b"\x00", b"\xff\xfe", b"u" * 1024, b"u" * 1025)
TIMES = (0, -1, -2, END_OF_TIME - 1, END_OF_TIME, 1 << 62, (1 << 63) - 1, -(1 << 63))


def decimal(draw: random.Random) -> str:
    """A decimal as a producer may write it, on either side of every border that the writer knows."""
    sign = draw.choice(["", "", "-"])
    kind = draw.randrange(5)
    if kind == 0:
        return sign + repr(round(draw.random() * 10 ** draw.randrange(7), draw.randrange(1, 8)))
    whole = "0" if kind in {1, 2} else str(draw.randrange(10 ** draw.randrange(1, 18)))
    zeros = "0" * draw.randrange(7) if kind == 2 else ""
    fraction = "".join(draw.choice("0123456789") for _ in range(draw.randrange(18 - min(len(whole), 16))))
    return f"{sign}{whole}.{zeros}{fraction or draw.choice(['0', '0', '5', '50', '00'])}"


def text(draw: random.Random) -> str:
    letters = [chr(draw.randrange(0x20, 0x7F)) for _ in range(draw.randrange(12))]
    return '"' + "".join(letter for letter in letters if letter not in '"\\') + '"'


def almost(written: str, draw: random.Random) -> str:
    """With one letter less, more or changed, hardly ever a quote."""
    at = draw.randrange(1, max(2, len(written)))
    return written[:at] + draw.choice(("", "a", "l", "g", "0", "1", "7")) + written[at + draw.choice((0, 1)) :]


def value(name: str, draw: random.Random, oddity: float, pools: dict[str, tuple[str, ...]]) -> str:
    if draw.random() < oddity:
        near = almost(draw.choice(pools.get(name, ACTIVITIES)), draw)
        return draw.choice(ODD_VALUES + ODD_ACTIVITIES + (near,) * 20)
    if name in pools:
        return draw.choice(pools[name])
    if draw.random() < 0.05:
        return draw.choice(UNUSUAL_VALUES)
    kind = draw.randrange(10)
    if kind < 3:
        return text(draw)
    if kind < 6:
        return str(draw.randrange(-(10 ** draw.randrange(1, 19)), 10 ** draw.randrange(1, 19)))
    return decimal(draw) if kind < 9 else draw.choice(WORDS)


def blank(draw: random.Random, oddity: float) -> str:
    chance = draw.random()
    return draw.choice(ODD_BLANKS) if chance < oddity / 8 else draw.choice(BLANKS) if chance > 0.97 else ""


def document(draw: random.Random, oddity: float, kind: Kind) -> str:
    names = [name for name in kind.names if draw.random() < (0.97 if name in kind.pools else 0.9)]
    names += draw.sample(OTHERS, draw.choice([0, 0, 1, 2, 5]))
    if draw.random() < oddity:
        names += draw.choices(kind.names + OTHERS + ODD_NAMES, k=draw.choice([1, 1, 2]))
    if draw.random() < oddity / 10:
        names += [f"k{i}" for i in range(draw.choice([20, 25, 26, 27, 28, 29, 30, 40]))]
    if draw.random() < 0.5:
        draw.shuffle(names)
    out = [blank(draw, oddity), "{"]
    for place, name in enumerate(names):
        out += [",", blank(draw, oddity)] if place else [blank(draw, oddity)]
        out += [
            f'"{name}"',
            blank(draw, oddity),
            ":",
            blank(draw, oddity),
            value(name, draw, oddity, kind.pools),
            blank(draw, oddity),
        ]
    return "".join([*out, "}", blank(draw, oddity)])


def mutated(whole: bytes, draw: random.Random) -> bytes:
    if not whole:
        return whole
    at, length = draw.randrange(len(whole)), draw.choice([0, 1, 1, 3])
    pieces = (b"", b'"', b"\\", b",", b":", b"}", b"{", b"0", b".", b"-", b"\x00", b"\x1f", b"\xc3", b" ", b"e")
    return whole[:at] + draw.choice([*pieces, bytes([draw.randrange(256)])]) + whole[at + length :]


def record(number: int, kind: Kind = ALONE) -> Record:
    """The record of this number, always the same."""
    draw = random.Random(f"nearly plain {number}")
    oddity = draw.choice([0.0, 0.0, 0.03, 0.2])
    raw: bytes | None = document(draw, oddity, kind).encode("utf-8", "surrogatepass").replace(b"\xc3\xbf", b"\xff")
    chance = draw.random()
    if raw is not None and chance < 0.12:
        raw = mutated(raw, draw)
    elif raw is not None and chance < 0.14:
        raw = raw[: draw.randrange(len(raw) + 1)]
    elif raw is not None and chance < 0.15:
        raw += b" " * (LARGEST - len(raw) + draw.choice([-1, 0, 1]))
    elif chance < 0.155:
        raw = draw.choice([None, b"", b"null", b"{}", b" "])
    key = draw.choice(KEYS) if draw.random() < 0.03 else b"user-%d" % draw.randrange(50)
    time = draw.choice(TIMES) if draw.random() < 0.03 else NOW + number
    return Record(1000 + 2 * number, time, key, raw)
