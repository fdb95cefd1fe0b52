"""Malformed records, each made from its number alone: truncated, mutated, nested, too large, of wrong types, noise.

With further names they hold these fields, too; those that hold lists are wrong as often as right.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stream import names

NOT_OF_A_RECORD_ALONE = {
    *(names.STATE_UNREADABLE, names.UNREADABLE, names.UNKNOWN_SEGMENT, names.SEGMENT_CHANGED, names.UNKNOWN_TYPE),
    *(names.LATE, names.TIME_AHEAD, names.BEFORE_START, names.PARTIAL_UNREADABLE),
}
"""Reasons that have to do with a batch, a user, a segment or a window of aggregates."""

CANARY = "canary-9e4b"
NOW = 1_700_000_000_000


class Record(NamedTuple):
    value: bytes | None
    key: bytes | None
    timestamp: int


Values = list[str]

ODD_VALUES: Values = [
    *(
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "1.0",
        "1e0",
        "-1",
        "3",
        "4",
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        "1e999",
        "-1e999",
    ),
    *("1e-999", "01", "+1", ".5", "5.", "0x10", "18446744073709551615", "18446744073709551616", "18446744073709551617"),
    *(
        "-9223372036854775809",
        "9" * 50,
        "9" * 500,
        "1" * 5000,
        "1.7976931348623157e308",
        "1.8e308",
        '""',
        '"1"',
        '":"',
        '"\\u003a"',
    ),
    *(
        '"\\u003A\\""',
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '"\\x"',
        '"\t"',
        '"\\u0000"',
        '"',
        "'walking'",
        "walking",
        "[]",
        "{}",
        "[[]]",
    ),
    *(
        '{"a":1,"a":2}',
        '{"a":{"b":[{"c":1,"c":1}]}}',
        '{"a":1,"\\u0061":2}',
        "[1,]",
        "[,1]",
        '{"a"}',
        '{"a":}',
        "{,}",
        "[1 2]",
    ),
    *(
        '["walking"]',
        '{"activity":"walking"}',
        f'"{CANARY}"',
        '"2023-11-14T22:13:20Z"',
        '"2023-11-14"',
        '"9999-12-31T23:59:59-23:59"',
    ),
    *(
        '"walking"',
        '"Walking"',
        '"walking "',
        '"a:b"',
        '"größe"',
        '"gro\\u0308\\u00dfe"',
        str(NOW),
        str(4_102_444_800_000),
        '"u1"',
        "17",
    ),
    *('"' + "u" * 1024 + '"', '"' + "u" * 1025 + '"', '"[[[[{{{{"', "/* */1", "1//", "\u00a01", "1\x00"),
]

GOOD_VALUES: dict[str, Values] = {
    "activity": ['"walking"', '"still"', '"a:b"', '"w\\u0061lking"', "1", "-1", "3"],
    "level": ["1", "0.93", '"high"', "null", '{"x":[1,2]}'],
    "time": ['"2023-11-14T22:13:20Z"', '"2023-11-14T23:13:20.123+01:00"'],
    "id": ['"u1"', '"u1"', "17"],
    "n": ["1", "2.5", "1e30", "18446744073709551616", "18446744073709551617", '"x:y"', "[1,[2]]", "-7"],
    "t": [str(NOW), str(NOW + 1), "0"],
    "other": [
        f'"{CANARY}"',
        "1e30",
        '"\\u003a"',
        '{"activity":"still"}',
        '{"a":{},"b":{}}',
        '"😀"',
        "12345678901234567890123",
    ],
    "job": ['"clerk"', '"nurse"', '"a:b"', '"größe"', '"cl\\u0065rk"', '"\\u006eurse"', '"Clerk"'],
    "age": ["-3", "0", "7", "9", "8", "1"],
    "warmth": ["0", "0.5", "7", "8", "8.0", "3.999999999999999999", "1e0", "-0.0", "1e-9", "8.01", "-1"],
    "tags": [
        *("[]", "[ ]", '["a"]', '["b","a"]', '["c","a","b"]', '["a", "c"]', '["\\u0061"]', '[\n"c" ,"b" ]', '["b"]'),
        *('["größe"]', '["größe","a"]', '["a","a"]', '["a","\\u0061"]', '["a","b","c","größe"]', '["a","b","a","b"]'),
        *('["a",null]', "[1]", '[["a"]]', '["A"]', '"a"', "{}", '{"0":"a"}', '["a",]', '["a" "b"]', "[NaN]"),
        *('["a","d"]', '["a",1e999]'),
    ],
    "marks": [
        *("[]", "[1]", "[2,-3]", "[7,0]", "[-3,7]", "[4, 5]", "[6]", "[0,1]"),
        *("[1,1]", "[0,-0]", "[1,1.0]", "[1,2,3]", "[8]", "[18446744073709551617]", "[true]", "1"),
    ],
}

KEYS: list[bytes | None] = [b"u1", b"u1", b"u1", b"17", CANARY.encode(), None, b"", b"\xff", b"u" * 1024, b"u" * 1025]
TIMES = [NOW, NOW, NOW, 0, -1, -2, 4_102_444_799_999, 4_102_444_800_000, 1 << 62]


def value_of(name: str, draw: random.Random) -> str:
    return draw.choice(GOOD_VALUES[name]) if draw.random() < 0.97 else draw.choice(ODD_VALUES)


def member(name: str, draw: random.Random) -> str:
    written = name if draw.random() < 0.99 else draw.choice([name.upper(), f"\\u{ord(name[0]):04x}{name[1:]}", ""])
    blank = draw.choice(["", "", "", " ", "\n\t"])
    return f'"{written}"{blank}:{blank}{value_of(name, draw)}'


def document(draw: random.Random, further: Sequence[str] = ()) -> str:
    """A record of the shape that all pipelines may like, with odd values here and there."""
    device = [member(name, draw) for name in ("activity", "level", "time") if draw.random() < 0.97]
    first = draw.choice(["activity", "activity", "activity", "other"])
    top = [member(name, draw) for name in (first, "id", "n", "t", "other") if draw.random() < 0.93]
    top.append('"device":{' + ",".join(device) + "}")
    if draw.random() < 0.5:
        top.append(f'"list":[{value_of("n", draw)},{value_of("n", draw)}]')
    if draw.random() < 0.1:
        top.append(draw.choice(top))
    top += [member(name, draw) for name in further if draw.random() < 0.97]
    draw.shuffle(top)
    return "{" + ",".join(top) + "}"


def whole(draw: random.Random, further: Sequence[str]) -> bytes:
    return document(draw, further).encode("utf-8", "surrogatepass")


def truncated(draw: random.Random, further: Sequence[str]) -> bytes:
    text = whole(draw, further)
    return text[: draw.randrange(len(text))]


def mutated(draw: random.Random, further: Sequence[str]) -> bytes:
    text = bytearray(whole(draw, further))
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        at = draw.randrange(len(text))
        length = draw.choice([0, 1, 1, 4])
        piece = [
            bytes([draw.randrange(256)]),
            draw.choice([b'"', b":", b",", b"{", b"}", b"[", b"]", b"\\", b"\x00", b"e", b"9", b"\xc3", b"\\u003a"]),
            bytes(text[at : at + draw.randrange(12)]),
        ]
        text[at : at + length] = draw.choice(piece)
    return bytes(text)


def nested(draw: random.Random, further: Sequence[str]) -> bytes:
    levels = draw.choice([*range(55, 75), 128, 254, 255, 300])
    opening, closing = draw.choice([("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
    inner = opening * levels + ("1" if opening != "[" else "") + closing * (levels - draw.choice([0, 0, 0, 1]))
    name = draw.choice(["other", "n", "activity"])
    return (document(draw, further)[:-1] + f',"{name}x":{inner}' + "}").encode("utf-8", "surrogatepass")


def noise(draw: random.Random, _: Sequence[str]) -> bytes:
    kind = draw.randrange(3)
    if kind == 0:
        return draw.randbytes(draw.randrange(40))
    if kind == 1:
        return "".join(draw.choice('{}[]":,\\ue0123456789.-+ntf ') for _ in range(draw.randrange(60))).encode()
    return draw.choice(
        [
            b"",
            b"null",
            b'"x"',
            b"[" * 1900,
            b'{"a":' * 300,
            b"{}",
            b"[]",
            b" ",
            b"\xef\xbb\xbf{}",
            b"\xff\xfe{\x00}\x00",
        ]
    )


def large(draw: random.Random, further: Sequence[str]) -> bytes:
    text = whole(draw, further)
    return text + b" " * draw.choice([2000 - len(text), 2001 - len(text), 3000])


MAKERS: tuple[tuple[Callable[[random.Random, Sequence[str]], bytes | None], int], ...] = (
    (whole, 60),
    (truncated, 15),
    (mutated, 40),
    (nested, 5),
    (noise, 7),
    (large, 2),
    (lambda *_: None, 1),
)


def record(number: int, further: Sequence[str] = ()) -> Record:
    """The record of this number, always the same."""
    draw = random.Random(f"malformed {number}")
    makers, weights = zip(*MAKERS, strict=True)
    value = draw.choices(makers, weights)[0](draw, further)
    return Record(
        value, draw.choice(KEYS) if draw.random() < 0.3 else b"u1", draw.choice(TIMES) if draw.random() < 0.2 else NOW
    )
