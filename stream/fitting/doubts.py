"""What about the events that were read should make somebody look again: said plainly, and the fit goes on."""

from __future__ import annotations

import time
from typing import Final

from beliefs.alphabet import Alphabet, Categories
from stream.fitting.reading import Refusals
from stream.fitting.reasons import meaning, mending
from stream.fitting.tables import Csv
from stream.fitting.task import Facts, Task

REFUSED_SHARE: Final = 0.01
_YEAR_2000_MS: Final = 946_684_800_000
_DAY_MS: Final = 86_400_000
_UNIT: Final = "they are written in another unit (--time-unit s, ms or iso8601)"
_NUMBERS: Final = (
    "look like numbers and are learnt as texts, as cells of a table are. A pipeline whose records hold numbers would "
    "refuse every one of them: declare the values then (--integers LOW:HIGH, or --bins LOW:HIGH:CELLS)"
)


def doubts_of(task: Task, facts: Facts, alphabet: Alphabet) -> list[str]:
    """A sentence for each."""
    refusals = facts.refusals
    found = refused_doubts(facts.rows, refusals, "the model knows nothing of them", mending(refusals.counts))
    found += unsorted_doubts(facts.backwards)
    if 2 * facts.once > facts.users:
        found.append(
            f"{facts.once:,} of {facts.users:,} users have one event: from them only first values are learnt. If they "
            "should have more, see that --user names the user, and not the event"
        )
    found += _of_times(task, facts)
    found += _of_values(task, alphabet)
    return found


def unsorted_doubts(backwards: int) -> list[str]:
    what = f"{backwards:,} events lie before the user's event in front of them"
    means = "What stands next in the source counts as what came next: sort it by time, unless it is meant so"
    return [f"{what}. {means}"] if backwards else []


def refused_doubts(rows: int, refusals: Refusals, lost: str, mend: str) -> list[str]:
    if refusals.total <= REFUSED_SHARE * rows:
        return []
    most = max(sorted(refusals.counts), key=refusals.counts.__getitem__)
    share = f"{refusals.total:,} of {rows:,} rows ({refusals.total / rows:.0%})"
    return [f"{share} were refused, and {lost}; most of them for {meaning(most)}. To put it right: {mend}"]


def _of_times(task: Task, facts: Facts) -> list[str]:
    if task.record.event_time.path is None or facts.events == 0:
        return []
    if facts.last_time < _YEAR_2000_MS:
        return [f"all times lie before the year 2000: perhaps {_UNIT}, or --time names another field"]
    if facts.last_time > time.time() * 1000 + _DAY_MS:
        return [f"some times lie in the future: perhaps {_UNIT}"]
    return []


def _of_values(task: Task, alphabet: Alphabet) -> list[str]:
    found = []
    if alphabet.size == 1:
        found.append("all events have one and the same value: there is nothing to learn from them, and nothing to hide")
    if task.alphabet is None and isinstance(task.source, Csv) and isinstance(alphabet, Categories):
        numbers = sum(map(_is_number, alphabet.values))
        if numbers:
            found.append(f"{numbers:,} of {alphabet.size:,} values {_NUMBERS}")
        if "" in alphabet.values:
            found.append("empty cells are learnt as a value of their own; leave these rows out if they mean nothing")
    return found


def _is_number(text: str) -> bool:
    """Not a number, and infinity, are written as numbers, too."""
    try:
        float(text)
    except ValueError:
        return False
    return True
