"""What a law's fit tells people: the figures as JSON, and as text for a terminal."""

from __future__ import annotations

from typing import Any, Final

from stream.fitting.doubts import REFUSED_SHARE
from stream.fitting.law import FittedLaw
from stream.fitting.law_asked import BLOCKS, FRIENDS, GAUSSIAN, TREE, WINDOWS
from stream.fitting.reasons import meaning, mending
from stream.fitting.report import refused, refused_lines

_OWN_PEOPLE: Final = (
    "the law is learnt from the very people whom it is to protect. It is public, and so is the noise that is built on "
    "it: they tell something about them that no epsilon counts. Never learn from windows that will be protected; take "
    "public events, or those of people who consented, and say so (--sample public, --sample consenting)"
)
_UNKNOWN_PEOPLE: Final = (
    "nothing is said about whose events these are. Never learn a law from windows that it is to protect: it tells what "
    "no epsilon counts. If these are others', say --sample public or --sample consenting"
)
_NAMED: Final = "the file names the users, and says who is whose friend: it is as public as that may be"
_NO_RADIUS: Final = "no radius is stated: pairs that share a person are not independent of each other"
_ASSUMED: Final = {
    BLOCKS: "components are independent of each other, members may change places, and all windows are alike",
    WINDOWS: "users are independent of each other and follow one chain; who has no event in a window contributes 0",
    GAUSSIAN: "records are independent of each other and Gaussian; no radius is stated",
    FRIENDS: f"friendship falls with distance as a power; {_NO_RADIUS}",
    TREE: f"pairs of friends are all alike, in either direction; {_NO_RADIUS}",
}


def law_figures(fitted: FittedLaw) -> dict[str, Any]:
    """Every figure of the report."""
    facts, task, file = fitted.facts, fitted.task, fitted.file
    return {
        "law": file.digest[:8],
        "kind": task.kind,
        "source": task.source.name,
        "rows_are": task.source.kind,
        "sample": task.sample,
        "rows": facts.rows,
        "users": facts.users,
        "clipped": facts.clipped,
        "strangers": facts.strangers,
        "refused": refused(facts.refusals),
        "component_size": None if file.dependence is None else file.dependence.component_size,
        "assumed": _ASSUMED[task.kind],
        **facts.figures,
        "warnings": _warnings(fitted),
    }


def _warnings(fitted: FittedLaw) -> list[str]:
    facts, task = fitted.facts, fitted.task
    found = {"protected": [_OWN_PEOPLE], "unknown": [_UNKNOWN_PEOPLE]}.get(task.sample, [])
    if task.kind in (FRIENDS, TREE):
        found = [*found, _NAMED]
    if facts.refusals.total > REFUSED_SHARE * facts.rows:
        most = max(sorted(facts.refusals.counts), key=facts.refusals.counts.__getitem__)
        share = f"{facts.refusals.total:,} of {facts.rows:,} rows ({facts.refusals.total / facts.rows:.0%})"
        fix = mending({most: 1})
        found = [*found, f"{share} were refused, most of them for {meaning(most)}. To put it right: {fix}"]
    return found


def write_law(facts: dict[str, Any], written: str) -> str:
    """The report as text."""
    refused_rows = sum(one["count"] for one in facts["refused"].values())
    size = "" if facts["component_size"] is None else f" At most {facts['component_size']:,} hang together."
    lines = [f"WARNING: {warning}." for warning in facts["warnings"]]
    lines += [
        f"Read {facts['source']}: {facts['rows']:,} rows, {facts['users']:,} users; {refused_rows:,} rows refused."
    ]
    lines += refused_lines(facts["refused"], facts["rows_are"])
    if facts["clipped"]:
        lines.append(f"    {facts['clipped']:,} contributions were above the most, and count as that")
    if facts["strangers"]:
        lines.append(f"    {facts['strangers']:,} friendships are with somebody of whom no value was read; left out")
    lines += [f"Law {facts['law']} of the kind {facts['kind']}{written}.{size}", *_own_lines(facts)]
    return "\n".join([*lines, f"Assumed: {facts['assumed']}."])


def _own_lines(facts: dict[str, Any]) -> list[str]:
    if facts["kind"] == BLOCKS:
        sure = (
            f"How sure: but for a probability of {facts['failure']:g}, each law lies this near the truth in variation:"
        )
        sizes = facts["components"]
        return [
            sure,
            *(f"    of {size}: {radius:.4f}, from {sizes[size]:,}" for size, radius in facts["radius"].items()),
        ]
    if facts["kind"] == WINDOWS:
        rows = ", ".join(f"{radius:.4f}" for radius in facts["radius"]["rows"])
        return [
            f"How sure: but for a probability of {facts['failure']:g}, rows lie this near the truth in variation:",
            f"    start {facts['radius']['start']:.4f}; after 0, 1, ...: {rows}",
        ]
    if facts["kind"] == FRIENDS:
        words = f"offset {facts['offset']:.6g}, exponent {facts['exponent']:.4f}"
        return [f"Likeliest over {facts['friends']:,} friendships: {words}; score {-facts['score']:.4f} nats an end."]
    if facts["kind"] == TREE:
        return [f"One kernel for {facts['friends']:,} friendships."]
    return [f"Covariance of {facts['records']:,} records."]
