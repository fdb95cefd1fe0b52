"""An adversary reads windows whose values are shown together, and guesses each of them.

What the channels of a window say has been worked out by the auditor's code, and lies on its strip or in its column;
what is believed about the values is the adversary's own. Beside each window the same is done with one that says nothing
about the user: a stranger's. How often guesses from those are right is what chance alone does. `windows.md`.
"""

from __future__ import annotations

import math

from beliefs.native import kernel
from stream.attack.mind import Mind, Slate, copy, expect, pass_unseen, steps_to
from stream.attack.sequences import Leaves, grow, hear_column
from stream.attack.span import Bench, go_back, go_forth, meet
from stream.attack.watch import DUMMY, KNOWN, TRUTH, compare, likeliest
from stream.audit.amounts import Floats, Integers
from stream.audit.book import TIME, USER, Rules
from stream.audit.dual_prices import Slate as Sequences
from stream.audit.law import Law, by_value
from stream.audit.window_book import SHARE, Strip

NOTHING, FACTORS, SEQUENCES = range(3)
"""What a window says: nothing; a factor for each value of each position, or nothing; a number for each sequence."""


@kernel
def hear_window(
    said: int,
    rules: Rules,
    strip: Strip,
    sequences: Sequences,
    own: Law,
    mind: Mind,
    slate: Slate,
    bench: Bench,
    leaves: Leaves,
    events: Integers,
    facts: Integers,
    seen: Floats,
) -> float:
    """One window of a user who has been followed to it; answers the logarithm of how likely is what is known of it."""
    user, count = events[0, USER], events.shape[0]
    heads = _expect(rules, own, mind, slate, bench, events, facts)
    if said == SEQUENCES:
        grow(own, slate.ahead, bench, leaves, count)
    _hear(said, own, strip, sequences, slate, bench, leaves, heads, count)
    _compare(own, slate, bench, said != NOTHING, heads > -math.inf, facts, seen)
    copy(bench.last, mind.told[user])
    copy(bench.unaided[count - 1], mind.blind[user])
    return heads


@kernel
def hear_stranger(
    said: int,
    strip: Strip,
    sequences: Sequences,
    own: Law,
    slate: Slate,
    bench: Bench,
    leaves: Leaves,
    heads: float,
    facts: Integers,
    seen: Floats,
) -> None:
    """Beside the window that was heard last, one that says nothing about the user: which guesses it makes right."""
    _hear(said, own, strip, sequences, slate, bench, leaves, heads, facts.shape[0])
    for at in range(facts.shape[0]):
        seen[at, DUMMY] = 1.0 if likeliest(bench.after[at]) == facts[at, TRUTH] else 0.0


@kernel
def _expect(rules: Rules, own: Law, mind: Mind, slate: Slate, bench: Bench, events: Integers, facts: Integers) -> float:
    """What is expected of the window, forth and back, by what is known and without its releases; answers the logarithm
    of how likely what is known is.
    """
    user, count = events[0, USER], events.shape[0]
    pass_unseen(rules, own, mind, slate, events[0])
    expect(rules, own, mind, slate, user, events[0, TIME])
    for at in range(count):
        bench.known[at] = facts[at, KNOWN]
        if at > 0:
            bench.first[at], bench.stop[at] = steps_to(rules, mind.stands[user], events[at, TIME])
    go_forth(own, bench, bench.nothing, count, slate.unaided, bench.unaided)
    go_back(own, bench, bench.nothing, count, bench.back)
    return float(go_forth(own, bench, bench.nothing, count, slate.ahead, bench.before))


@kernel
def _hear(
    said: int,
    own: Law,
    strip: Strip,
    sequences: Sequences,
    slate: Slate,
    bench: Bench,
    leaves: Leaves,
    heads: float,
    count: int,
) -> None:
    """The chances of each value, and of the last state, after what was said."""
    if said == SEQUENCES:
        hear_column(sequences, bench, leaves, count)
    elif said == FACTORS:
        _hear_factors(own, strip, slate, bench, heads, count)
    else:
        for at in range(count):
            meet(bench.before[at], bench.back[at], bench.row)
            by_value(own, bench.row, bench.after[at])
        copy(bench.before[count - 1], bench.last)


@kernel
def _hear_factors(own: Law, strip: Strip, slate: Slate, bench: Bench, heads: float, count: int) -> None:
    """The coin may have shown heads, and all that was said is a stranger's, or tails. `heads` is how likely what is
    known is, as a logarithm.
    """
    tails = go_forth(own, bench, strip.told, count, slate.ahead, bench.told)
    go_back(own, bench, strip.told, count, bench.told_back)
    share, heard = strip.plan[SHARE], 0.0
    if tails > -math.inf and heads > -math.inf:
        heard = 1.0 / (1.0 + share / (1.0 - share) * math.exp(heads - tails))
    for at in range(count):
        meet(bench.told[at], bench.told_back[at], bench.row)
        by_value(own, bench.row, slate.values)
        meet(bench.before[at], bench.back[at], bench.row)
        by_value(own, bench.row, bench.after[at])
        for x in range(slate.values.shape[0]):
            bench.after[at, x] = (1.0 - heard) * bench.after[at, x] + heard * slate.values[x]
    for s in range(bench.last.shape[0]):
        bench.last[s] = (1.0 - heard) * bench.before[count - 1, s] + heard * bench.told[count - 1, s]


@kernel
def _compare(
    own: Law, slate: Slate, bench: Bench, released: bool, believed: bool, facts: Integers, seen: Floats
) -> None:
    for at in range(facts.shape[0]):
        meet(bench.unaided[at], bench.back[at], bench.row)
        by_value(own, bench.row, slate.unaided_values)
        meet(bench.before[at], bench.back[at], bench.row)
        by_value(own, bench.row, slate.values)
        copy(bench.after[at], slate.after)
        compare(slate, released, believed, facts[at], seen[at])
