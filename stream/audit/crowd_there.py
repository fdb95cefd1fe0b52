"""Who is there as an account sees it, and which windows have nearly the same people."""

from __future__ import annotations

from collections import Counter, deque

from stream.audit.crowd_present import People
from stream.audit.crowd_rules import REMEMBERED, Believed
from stream.audit.crowd_truth import There


class Guarded:
    """The people of the windows that were released last; of the same people one after the other once."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._groups: deque[frozenset[bytes]] = deque(maxlen=REMEMBERED)

    def allows(self, people: People) -> bool:
        return not any(0 < _apart(people, group, self._k) < self._k for group in self._groups)

    def remember(self, people: People) -> None:
        group = frozenset(people)
        if not self._groups or self._groups[-1] != group:
            self._groups.append(group)


def there_of(believed: Believed | None, people: People) -> There | None:
    """None where more people of a household are there than its law knows."""
    if believed is None:
        return There((len(people),))
    if believed.household is None:
        kinds = Counter(each.kind for each in people.values())
        return There(tuple(kinds.get(name, 0) for name in believed.types))
    sizes = Counter(Counter(_home(each.home) for each in people.values() if each.home is not None).values())
    sizes[1] += sum(each.home is None for each in people.values())
    if max((size for size, count in sizes.items() if count), default=0) > believed.members:
        return None
    return There((), tuple(sizes.get(size, 0) for size in range(1, believed.members + 1)))


def _home(home: object) -> tuple[bool, object]:
    """A number is never the same as a text."""
    return isinstance(home, str), home


def _apart(people: People, group: frozenset[bytes], most: int) -> int:
    """How many are in one of the two alone; at least `most` where they are so many."""
    if abs(len(people) - len(group)) >= most:
        return most
    both = sum(user in group for user in people)
    return len(people) + len(group) - 2 * both
