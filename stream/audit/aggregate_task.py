"""From the public settings, and the laws that they name, to what is audited of a pipeline of aggregates. No key is
read here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from beliefs.laws.chosen import Theta, each_of
from beliefs.laws.dependence import Blocks, Dependence, Group, Independent, OverWindows, People
from beliefs.laws.law_file import InvalidLaw, LawFile, parse
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from stream.audit import aggregate_laws as laws
from stream.audit.aggregate_account import Account, GroupAccount
from stream.audit.aggregate_account import People as Crowd
from stream.audit.aggregate_audit import AggregateTask
from stream.audit.aggregate_laws import Law, LawAccount, Least, least_of_chain, least_of_sum
from stream.audit.aggregate_rules import Windows, windows_of
from stream.errors import CannotAudit
from stream.settings.aggregate import AggregateSettings
from stream.settings.load import aggregate_fingerprint
from stream.settings.model import Settings

_EVERY = frozenset(["exact", "sound", "group"])


def task_of_aggregates(
    settings: Settings,
    *,
    changelog: bool = True,
    uncommitted: bool = True,
    ring_keys: Mapping[int, bytes] | None = None,
) -> AggregateTask:
    """With `ring_keys`, the keys of the ring by their epochs, the sealed sums are opened."""
    declared = settings.aggregate
    users = _law(None if declared is None else declared.dependence.users.law)
    over = _law(None if declared is None else declared.dependence.windows.law)
    digests = {name: each.digest for name, each in (("users", users), ("windows", over)) if each is not None}
    windows = windows_of(settings, lambda: aggregate_fingerprint(settings, digests))
    return AggregateTask(
        windows=windows,
        account=_accounts(windows, declared, users, over),
        raw_topic=settings.kafka.raw_topic,
        released_topic=settings.kafka.released_topic,
        changelog_topic=settings.changelog_topic,
        with_changelog=changelog,
        with_uncommitted=uncommitted,
        ring_keys=ring_keys,
    )


def _accounts(
    windows: Windows, declared: AggregateSettings | None, users: LawFile | None, over: LawFile | None
) -> Callable[[], Account]:
    """Makes a fresh account each time."""
    if declared is None:
        raise ValueError("settings without aggregates have been refused")
    fresh = declared.dependence.windows.fresh
    lonely = len(windows.asked) == 1 and windows.asked[0].kind in ("count", "sum")
    if over is not None:
        chains = [law for law in _laws_of(over) if isinstance(law, MarkovLaw)]
        along = Law(laws.CHAIN, 1, _worst([least_of_chain(law) for law in chains]), declared.adversary, _EVERY)
        return lambda: LawAccount(windows, along)
    if users is not None:
        way = laws.LARGEST if declared.protects == "one_window" and fresh else laws.ADDED
        beside = Law(way, _together(users), _least_of_users(windows, users, lonely=lonely), declared.adversary, _EVERY)
        return lambda: LawAccount(windows, beside)
    group = declared.dependence.users.group or 1
    method = "group" if group > 1 else "exact" if lonely else "sound"
    adds_up = not (declared.protects == "one_window" and fresh)
    crowd = Crowd(group, adds_up, frozenset([method]), declared.adversary)
    return lambda: GroupAccount(windows, crowd)


def _law(name: str | None) -> LawFile | None:
    if name is None:
        return None
    try:
        return parse(Path(name).read_bytes())
    except (OSError, InvalidLaw) as error:
        why = (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)
        raise CannotAudit(
            "A law that the settings name cannot be read.",
            where=name,
            why=why,
            fix="name the file that the pipeline ran with",
        ) from None


def _laws_of(file: LawFile) -> Iterable[object]:
    said: Dependence | Theta | None = file.law if file.law is not None else file.dependence
    if isinstance(said, Blocks):
        return [law for theta in said.laws.values() for law in each_of(theta)]
    if isinstance(said, People | OverWindows):
        return each_of(said.law)
    return () if said is None or isinstance(said, Independent | Group) else each_of(said)


def _together(file: LawFile) -> int:
    if file.dependence is not None:
        return file.dependence.component_size
    return 1 if file.law is None else max(law.components().largest for law in each_of(file.law))


def _least_of_users(windows: Windows, file: LawFile, *, lonely: bool) -> Least:
    """Of a single count or sum and tables of what users add to it; otherwise nothing is known at least."""
    tables = [law for law in _laws_of(file) if isinstance(law, TableLaw)]
    if not lonely or not all(_on_grid(law, Fraction(windows.asked[0].grid)) for law in tables):
        tables = []
    return _worst([least_of_sum(law, windows.asked[0].moves) for law in tables])


def _on_grid(law: TableLaw, grid: Fraction) -> bool:
    return all((Fraction(str(value)) / grid).denominator == 1 for domain in law.domains for value in domain.tolist())


def _worst(least: Sequence[Least]) -> Least:
    return lambda losses: max((each(losses) for each in least), default=0.0)
