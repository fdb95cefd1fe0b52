"""Alphabets that are not known yet: they take in every value that the records hold, and are then closed."""

from __future__ import annotations

from typing import Final

from beliefs.alphabet import INTEGER_MAX, SIZE_MAX, Categories, IntegerRange
from stream.errors import CannotFit

MOST_VALUES: Final = 1 << 20
"""Different values that are taken in before somebody must say which ones are meant."""


class _Growing(dict[object, int]):
    """A lookup that numbers what it has not met, if that is of its kind."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, value: object) -> int:
        if type(value) is not self._kind or (isinstance(value, int) and abs(value) > INTEGER_MAX):
            raise KeyError
        if len(self) >= MOST_VALUES:
            raise too_many(MOST_VALUES)
        self[value] = len(self)
        return len(self) - 1


class _Pooling(dict[object, int]):
    """A lookup for which every text that it has not is the same one."""

    def __init__(self, known: dict[object, int], other: int) -> None:
        super().__init__(known)
        self._other = other

    def __missing__(self, value: object) -> int:
        if type(value) is not str:
            raise KeyError
        return self._other


class OpenTexts(Categories):
    def __init__(self) -> None:
        object.__setattr__(self, "values", ())
        object.__setattr__(self, "lookup", _Growing(str))

    def index_of(self, value: object) -> int | None:
        return self.lookup[value] if type(value) is str else None


class OpenIntegers(IntegerRange):
    def __init__(self) -> None:
        object.__setattr__(self, "low", 0)
        object.__setattr__(self, "high", 0)
        object.__setattr__(self, "lookup", _Growing(int))

    def index_of(self, value: object) -> int | None:
        return self.lookup[value] if type(value) is int and abs(value) <= INTEGER_MAX else None


class WithOther(Categories):
    """Categories of which one stands for every text that is none of them."""

    def __init__(self, values: list[str], other: str) -> None:
        super().__init__(values)
        object.__setattr__(self, "lookup", _Pooling(self.lookup, values.index(other)))

    def index_of(self, value: object) -> int | None:
        return self.lookup[value] if type(value) is str else None


def closed_texts(seen: dict[str, int], rare: int, other: str | None) -> tuple[Categories, int]:
    """The texts that enough users had, in order, and how many different ones are pooled.

    `seen` tells of each text how many users had it, counted up to `rare`.
    """
    kept = sorted(text for text, users in seen.items() if other is None or (users >= rare and text != other))
    pooled = 0
    if other is not None:
        pooled = len(seen) - len(kept) - (other in seen)
        kept.append(other)
    if len(kept) > SIZE_MAX:
        raise too_many(SIZE_MAX)
    if not kept:
        raise CannotFit("There are no values.", "", "no record could be read", "look at the reasons given above")
    return (Categories(kept) if other is None else WithOther(kept, other)), pooled


def closed_integers(seen: list[int]) -> IntegerRange:
    """All integers from the least to the greatest that was seen."""
    if not seen:
        raise CannotFit("There are no values.", "", "no record could be read", "look at the reasons given above")
    if max(seen) - min(seen) >= SIZE_MAX:
        raise CannotFit(
            "The integers lie too far apart to be an alphabet.",
            why=f"there are more than {SIZE_MAX} from the least to the greatest",
            fix="declare them: --integers LOW:HIGH for those that are meant, or --bins LOW:HIGH:CELLS",
        )
    return IntegerRange(min(seen), max(seen))


def too_many(most: int) -> CannotFit:
    return CannotFit(
        "The protected field has too many different values.",
        why=f"more than {most}",
        fix="pool those of few users: --rare 20 --other other; or declare the values: --alphabet FILE",
    )
