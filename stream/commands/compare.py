"""`sottovoce compare`: the settings' mechanism and local privacy, side by side on the same values."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mechanisms.registry import MECHANISMS
from stream.commands.compiling import compiling_told
from stream.commands.expectation import DAY_MS, Promised, draw
from stream.commands.report import errors_told, hint, say, say_json
from stream.fitting.reasons import meaning
from stream.keys import new_ring
from stream.names import EVENTS_A_DAY, EXIT_DONE
from stream.opening import Opened
from stream.planning.comparison import Side, side_of
from stream.planning.grid import Document, base_document, document_of, opened_of
from stream.planning.points import NO_WINDOW, Candidate, notion_of
from stream.planning.progress import Progress
from stream.planning.sample import FEW_USERS, Sample, impossible_in, read_file, with_user
from stream.planning.search import Search
from stream.planning.target import Target, check_one_model, impossible
from stream.settings.followed import load_followed
from stream.settings.load import written_out
from stream.settings.model import RecordSettings

LOCAL: Final = ("top_k_grr", "randomised_response", "randomised_response_double")
HEADS: Final = (
    "mechanism",
    "promise",
    "kept",
    "distance",
    "mean/event",
    "largest",
    "counters/user",
    "most",
    "sum/user",
    "exact/user",
    "single",
)
_NOTES: Final = """\
promise: SIP e holds at e against readers who know the model, and at 2 e against everybody; LDP e holds at e against
 everybody, whatever they know. LDP e implies SIP e, and SIP e implies LDP 2 e: so SIP e lies between the two, and the
 same number is not the same promise
kept, distance: with the half-width of an interval of 95 %, users being independent
mean/event and largest: nats that one release told a reader who knows the model, its larger side; in windows a release
 is a window, counted at its last value
counters/user: the larger of the two counters of a user, on average; most: of the user who has most. sum/user adds the
 larger side of each release, which is what the paper's first theorem adds; the counters never exceed it
exact/user: what all releases of a user together tell about the sequence, by the definition itself, and single: about
 the worst single value given all of them; of the first {users} users and their first 200 events; for single releases
 under models of order 1, event by event
all of that is leakage to a reader who knows the model. A locally private release may tell such a reader less than its
 epsilon; that is no promise
budgets are left away, so that mechanisms are compared and not what is left of a budget"""


_IMPOSSIBLE: Final = (
    "Epsilon covers these, too, but little of them is kept: learn a model that allows them (sottovoce fit), or see "
    "that the sample is sorted"
)


@dataclass(frozen=True)
class Asked:
    config: Path
    sample: Path | None = None
    user: str | None = None
    epsilon: float | None = None
    users: int = 100
    events: int = 100
    per_day: int = EVENTS_A_DAY


def compare_command(asked: Asked, *, as_json: bool) -> int:
    with errors_told(as_json=as_json):
        check_one_model(load_followed(asked.config))
        _refuse_together(asked)
        if asked.epsilon is not None and not 1e-6 <= asked.epsilon <= 16:
            why = f"{asked.epsilon:g} is not allowed, as twice as much must be, too"
            raise impossible("--epsilon", why, "write a number from 0.000001 to 16")
        with compiling_told(hint), Progress("compare", sys.stderr) as progress:
            sample, sides = _compare(asked, progress)
        if as_json:
            events = int(sample.events.slot.shape[0])
            facts: dict[str, Any] = {"source": sample.source, "users": sample.users, "events": events}
            facts |= {"refused": sample.refused, "warnings": sample.warnings}
            say_json({"ok": True, **facts, "sides": [asdict(side) for side in sides]})
        else:
            say("\n".join(_told(sample, sides)))
    return EXIT_DONE


def _refuse_together(asked: Asked) -> None:
    """Options that would be passed over in silence."""
    plain = Asked(asked.config)
    if asked.sample is None and asked.user is not None:
        raise impossible("--user", "values are drawn from the model, so no field names users", "add --sample FILE")
    if asked.sample is not None and (asked.users, asked.events) != (plain.users, plain.events):
        why = "the sample says how many users there are and what they did"
        raise impossible("--users and --events", why, "leave them away, or leave --sample away")


def _compare(asked: Asked, progress: Progress) -> tuple[Sample, list[Side]]:
    base = _base(asked)
    with TemporaryDirectory() as folder:
        keys = Path(folder) / "keys.json"
        new_ring(keys)
        search = Search(base, Target(), asked.per_day, Path(folder), keys, progress)
        own = opened_of(base, Path(folder), keys)
        sample = _sample(asked, own, search)
        wanted = list(_candidates(own))
        sides = []
        for number, candidate in enumerate(wanted):
            progress("mechanisms compared", number, len(wanted))
            document = document_of(base, candidate, asked.per_day)
            opened = opened_of(document, Path(folder), keys)
            promised = Promised(opened.promise.policy, opened.promise.windows, opened.promise.distance)
            window = "" if candidate.order == NO_WINDOW else f"{candidate.order} {candidate.events}"
            notion = notion_of(MECHANISMS[candidate.mechanism], candidate.epsilon)
            distance = search.distance_of(opened)
            sides.append(side_of(candidate.mechanism, notion, window, promised, opened.model.chain, distance, sample))
    return sample, sides


def _base(asked: Asked) -> Document:
    """The settings, with no budget, and with what is only here for comparison accepted."""
    base = base_document(written_out(asked.config.read_bytes(), asked.config), None)
    base["budget"] = {**base["budget"], "nats": "unlimited"}
    base["mechanism"] = {**base["mechanism"], "accept_unbounded": True}
    if asked.epsilon is not None:
        base["mechanism"]["epsilon"] = asked.epsilon
    return base


def _candidates(own: Opened) -> Iterator[Candidate]:
    settings = own.settings
    name, epsilon, window = settings.mechanism.name, settings.mechanism.epsilon, settings.window
    if window is not None:
        yield Candidate(name, epsilon, window.order, window.events)
    yield Candidate(name, epsilon)
    for other in LOCAL:
        if other != name:
            yield Candidate(other, epsilon)


def _sample(asked: Asked, own: Opened, search: Search) -> Sample:
    if asked.sample is not None:
        return _sample_in(asked.sample, with_user(own.settings.record, asked.user), own, search.spacing)
    if asked.users < FEW_USERS or asked.events < 1:
        why = f"an interval needs at least {FEW_USERS} users with an event"
        raise impossible("--users", why, "write larger numbers")
    drawn = draw(own.promise.policy, own.model.chain, asked.users, asked.events, DAY_MS // asked.per_day)
    return Sample(drawn.events, asked.users, f"values drawn from the model, {asked.per_day} events a day")


def _sample_in(file: Path, record: RecordSettings, own: Opened, spacing: int) -> Sample:
    sample = read_file(file, record, own.model.alphabet, spacing)
    counted = None if own.settings.model.step is not None else impossible_in(own.model.chain, sample.events)
    if counted:
        share = f"{counted:,} of {sample.events.slot.shape[0]:,} events"
        sample.warnings.append(f"{share} have a value that the model calls impossible where it stands. {_IMPOSSIBLE}")
    return sample


def _told(sample: Sample, sides: Sequence[Side]) -> Iterator[str]:
    yield from (f"WARNING: {warning}." for warning in sample.warnings)
    yield f"{sample.events.slot.shape[0]} events of {sample.users} users ({sample.source})."
    if sample.refused:
        reasons = (f"{count} {meaning(reason)}" for reason, count in sorted(sample.refused.items()))
        yield "Refused: " + ", ".join(reasons) + "."
    rows = [HEADS, *map(_cells, sides)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    yield ""
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield ""
    users = max((side.exact.users for side in sides if side.exact is not None), default=0)
    yield from (f"  {note}" for note in _NOTES.format(users=users).replace("\n ", " ").splitlines())


def _cells(side: Side) -> tuple[str, ...]:
    exact = side.exact
    return (
        side.name + (f", {side.windows}" if side.windows else ""),
        side.notion,
        f"{100 * side.agreement:.1f} % +- {100 * side.agreement_error:.1f}",
        "-" if side.distance is None else f"{side.distance:.4g} +- {side.distance_error:.2g}",
        f"{side.per_event:.3g}",
        f"{side.largest:.3g}",
        f"{max(side.upper, side.lower):.4g}",
        f"{side.counters_most:.4g}",
        f"{side.total:.4g}",
        "-" if exact is None else f"{exact.whole:.4g} (most {exact.whole_most:.4g})",
        "-" if exact is None or math.isnan(exact.single_most) else f"{exact.single_most:.3g}",
    )
