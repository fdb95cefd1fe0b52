"""`sottovoce calibrate TABLE`: how much each of several fields may tell a report, so that no total is above its cap.

Exit status 0 when budgets were found, 2 when none could be.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from beliefs.correlation.joint_file import serialise
from stream.calibration.choice import MECHANISMS, Asked, Chooser
from stream.calibration.compared import published
from stream.calibration.source import Sample, cannot, read_sample
from stream.calibration.words import figures, told
from stream.commands.report import errors_told, say, say_json
from stream.names import EXIT_DONE
from stream.planning.progress import Progress

MOST_REPORTS, MOST_PEOPLE = 1_000_000, 10**12
LARGEST_CAP = 1e6


@dataclass(frozen=True)
class Options:
    """As they were given."""

    table: Path
    caps: Sequence[str]
    reports: int
    fields: Sequence[str] = ()
    mechanisms: Sequence[str] = ()
    user: str | None = None
    people: int = 10_000
    add: float = 0.0
    at: float = 1.0
    write_table: Path | None = None
    replace: bool = False
    everybody: bool = False


def calibrate_command(options: Options, *, as_json: bool) -> int:
    """Print the budgets, and what is published beside them."""
    with errors_told(as_json=as_json), Progress("calibrate", sys.stderr) as progress:
        _check(options)
        sample = read_sample(options.table, options.fields, options.user, options.add, everybody=options.everybody)
        asked = Asked(_caps(options.caps, sample), options.reports, _mechanisms(options, sample), options.people)
        choice = Chooser(sample, asked, progress).choose()
        beside = published(sample, asked, choice, options.at, progress)
        as_it_is = options.add == 0.0 and not options.fields and not options.everybody
        table = options.table if as_it_is and options.table.suffix.lower() == ".json" else options.write_table
        if options.write_table is not None:
            _write_table(sample, options.write_table, replace=options.replace)
        answer = (sample, asked, choice, beside, options.at, None if table is None else table.name)
        if as_json:
            say_json({"ok": True, **figures(*answer)})
        else:
            progress.clear()
            say(told(*answer))
    return EXIT_DONE


def _check(options: Options) -> None:
    limits = (
        ("--reports", options.reports, 1, MOST_REPORTS),
        ("--people", options.people, 1, MOST_PEOPLE),
        ("--add", options.add, 0.0, 1e9),
        ("--at", options.at, 1e-6, 32.0),
    )
    for name, value, least, most in limits:
        if not least <= value <= most:
            raise cannot(name, f"{value:g} is not from {least:g} to {most:g}", "write a number in that range")
    if not options.caps:
        raise cannot("--cap", "it is not said what no total may be above", "write --cap 4, or --cap occupation=4")


def _caps(given: Sequence[str], sample: Sample) -> tuple[float, ...]:
    """Of each field; one without a name is for all that have none of their own."""
    own, general = _by_field("--cap", given, sample)
    missing = [name for name in sample.names if name not in own and general is None]
    if missing:
        raise cannot("--cap", f"{missing[0]} has no cap", f"write --cap {missing[0]}=4, or --cap 4 for all others")
    return tuple(_nats(own.get(name, general or "")) for name in sample.names)


def _nats(text: str) -> float:
    try:
        cap = float(text)
    except ValueError:
        cap = 0.0
    if not 0.0 < cap <= LARGEST_CAP:
        raise cannot("--cap", f"{text} is no number of nats above 0, {LARGEST_CAP:g} at most", "write --cap 4")
    return cap


def _mechanisms(options: Options, sample: Sample) -> Mapping[str, str]:
    own, general = _by_field("--mechanism", options.mechanisms, sample)
    given = {name: own.get(name, general) for name in sample.names}
    for name in given.values():
        if name is not None and name not in MECHANISMS:
            raise cannot("--mechanism", f"{name} is not known here", f"write one of {', '.join(MECHANISMS)}")
    return {field: name for field, name in given.items() if name is not None}


def _by_field(option: str, given: Sequence[str], sample: Sample) -> tuple[dict[str, str], str | None]:
    """`field=text` and a text for all others. A field's name may hold an equals sign: the last one counts."""
    own: dict[str, str] = {}
    general = None
    for each in given:
        name, equals, text = each.rpartition("=")
        if not equals and general is None:
            general = each
            continue
        if not equals or name in own:
            raise cannot(option, f"{each} is said beside another one for the same fields", "say it once")
        if name not in sample.names:
            raise cannot(option, f"{name} is no field", f"name one of {', '.join(sample.names)}")
        own[name] = text
    return own, general


def _write_table(sample: Sample, file: Path, *, replace: bool) -> None:
    if sample.model is None:
        why = f"the fields have {sample.cells:,} combinations of values, more than a joint table may have"
        raise cannot("--write-table", why, "name fewer fields with --field")
    if file.exists() and (not replace or file.absolute() == sample.file.absolute()):
        raise cannot(str(file), "it is there already", "name another file, or add --replace")
    try:
        file.write_bytes(serialise(sample.model))
    except OSError as error:
        raise cannot(str(file), error.strerror or type(error).__name__, "name a place that can be written") from None
