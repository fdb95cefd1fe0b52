"""What holds for every page that is written here, as a browser measured it."""

from __future__ import annotations

from browser import Seen

# WCAG 2.1: 1.4.3 for text, 1.4.11 for what pictures are made of.
_TEXT, _LARGE_TEXT, _PICTURE = 4.5, 3.0, 3.0
_LEAST_LETTERS = 11.0


def check_readable(seen: Seen) -> None:
    """The page fits its window, every text can be told from its ground, and nobody complains."""
    found = seen.measured
    assert seen.said == [], seen.said
    # A phone shows a page that is too wide smaller, in a window that is as wide as the page.
    assert found["wide"] <= seen.width == found["window"], found["beyond"]
    assert found["beyond"] == [], found["beyond"]
    assert found["title"] and len(found["texts"]) > 10, len(found["texts"])
    faint = [one for one in found["texts"] if one["contrast"] < (_LARGE_TEXT if one["large"] else _TEXT)]
    assert faint == [], faint
    assert [one for one in found["texts"] if one["size"] < _LEAST_LETTERS] == []
    assert all(contrast >= _PICTURE for contrast in found["bars"])
    assert seen.picture.startswith(b"\x89PNG")
