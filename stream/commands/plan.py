"""`sottovoce plan`: which mechanism, epsilon, window and budget keep what is wanted and tell the least.

Exit status 0 when a point meets the target, or when nothing is asked; 1 when nothing meets it; 2 when it cannot be
planned at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic_core import PydanticCustomError

from stream.commands.compiling import compiling_told
from stream.commands.init import template
from stream.commands.plan_aggregates import plan_aggregates
from stream.commands.plan_asked import Asked, Outputs
from stream.commands.plan_crowds import plan_crowds
from stream.commands.report import errors_told, hint, say, say_json
from stream.errors import CannotPlan
from stream.fields.joint import read_joint
from stream.keys import new_ring
from stream.names import EXIT_DONE, EXIT_FAILED, MOST_EVENTS_A_DAY
from stream.planning.fields import figures as field_figures
from stream.planning.fields import outlooks
from stream.planning.fields import told as fields_told
from stream.planning.frontier import choose
from stream.planning.grid import Document, base_document, candidates, document_of
from stream.planning.page import page
from stream.planning.points import Point
from stream.planning.progress import Progress
from stream.planning.search import Search, check_measured
from stream.planning.target import Target, check_one_model, impossible
from stream.planning.words import Plan, figures, told
from stream.planning.written import Given, settings_text
from stream.serving import load_model
from stream.settings.kinds import read_duration
from stream.settings.load import load_settings, released_in, written_out
from stream.settings.model import Settings


def plan_command(asked: Asked, outputs: Outputs, *, as_json: bool) -> int:
    """Print the plan, and write what is asked for."""
    with errors_told(as_json=as_json):
        if asked.config is not None and (kind := released_in(asked.config)) != "events":
            plan_windows = plan_aggregates if kind == "aggregates" else plan_crowds
            return plan_windows(asked, outputs, as_json=as_json)
        if asked.sample is not None or asked.user is not None:
            why = "a plan takes samples of crowds alone, and none are declared"
            raise impossible("--sample and --user", why, "leave them away; `sottovoce compare` takes samples of events")
        if asked.within:
            why = "widths are for aggregates of windows, and none are declared"
            raise impossible("--within", why, "give settings with aggregate, or remove it")
        if asked.config is not None and not (settings := load_settings(asked.config)).follows:
            return _plan_fields(settings, asked, outputs, as_json=as_json)
        given = _given(asked)
        base = _base(asked, given)
        target = _target(asked, outputs)
        _check_outputs(asked, outputs, base["model"]["file"])
        with _searching(base, target, asked.per_day, "plan") as search, compiling_told(hint):
            plan = _plan(search, asked)
        if outputs.html is not None:
            _write(outputs.html, page(plan))
        if plan.chosen is not None and outputs.write is not None and given is not None:
            wanted = chosen_document(base, plan.chosen, asked.per_day)
            title = f"{plan.chosen.candidate.mechanism}, {plan.chosen.notion}"
            text = settings_text(given, wanted, outputs.write, title)
            _write(outputs.write, text, given.mode)
        if as_json:
            say_json({"ok": plan.chosen is not None or not target.asked, **figures(plan)})
        else:
            say(told(plan, everything=asked.everything))
            _say_written(plan, outputs)
        return EXIT_DONE if plan.chosen is not None or not target.asked else EXIT_FAILED


def _plan_fields(settings: Settings, asked: Asked, outputs: Outputs, *, as_json: bool) -> int:
    """Of a pipeline whose fields are protected each by itself: what other levels would make of them."""
    if asked != Asked(config=asked.config, per_day=asked.per_day) or outputs != Outputs():
        why = "targets and files are for a field whose values follow one another, and the settings name none"
        fix = "give no option but --events-per-day and --json; `sottovoce calibrate` finds levels for caps"
        raise impossible("the options", why, fix)
    if settings.fields is None:
        raise impossible("the settings", "they protect no field", "name one at record.protect, or some under fields")
    joint = read_joint(settings)
    found = outlooks(settings, joint, asked.per_day)
    if as_json:
        say_json({"ok": True, **field_figures(found, asked.per_day, settings.fields)})
    else:
        say(fields_told(found, asked.per_day))
    return EXIT_DONE


def _plan(search: Search, asked: Asked) -> Plan:
    trials = search.trials(candidates(search.base, asked.grid, search.target))
    check_measured(search.target, trials)
    points = tuple(search.refine(trials))
    model = load_model(Path(search.base["model"]["file"]))
    chosen = choose(points, search.target, search.by_distance)
    values = model.alphabet.size
    return Plan(model.short, values, search.target, asked.per_day, points, chosen, search.left_out)


def _given(asked: Asked) -> Given | None:
    if asked.config is None:
        return None
    check_planned(load_settings(asked.config))
    return Given(asked.config, asked.config.read_bytes(), asked.config.stat().st_mode, asked.model)


def _base(asked: Asked, given: Given | None) -> Document:
    if given is None:
        if asked.model is None:
            fix = "give a settings file, or --model FILE"
            raise impossible("the model", "neither settings nor a model are given", fix)
        load_model(asked.model)
        file = Path("sottovoce.yaml").absolute()
        return base_document(written_out(template("planned").encode(), file), asked.model)
    base = base_document(written_out(given.data, given.file), asked.model)
    load_model(Path(base["model"]["file"]))
    return base


def check_planned(settings: Settings) -> None:
    """What candidates cannot be made of."""
    check_one_model(settings)
    if settings.budget.sliding is not None:
        why = "budgets over events in a row are not among those that are tried"
        raise impossible("budget.window", why, "write forever, or a duration; the chosen one can slide afterwards")


def _target(asked: Asked, outputs: Outputs) -> Target:
    if not 1 <= asked.per_day <= MOST_EVENTS_A_DAY:
        why = f"{asked.per_day} is no number of events from 1 to {MOST_EVENTS_A_DAY:,}"
        raise impossible("--events-per-day", why, "write how many events a user has in a day")
    try:
        delay = None if asked.delay is None else read_duration(asked.delay)
    except PydanticCustomError as problem:
        context = problem.context or {}
        raise impossible("delay", f"{asked.delay} is not {context['allowed']}", str(context["fix"])) from None
    target = Target(asked.agreement, asked.distance, asked.leakage, delay)
    target.check()
    asked.grid.check(target)
    if outputs.write is not None and not target.asked:
        raise impossible("--write", "nothing is asked for, so nothing would be chosen", "say what is wanted")
    return target


def _check_outputs(asked: Asked, outputs: Outputs, model: str) -> None:
    if outputs.write is not None and asked.config is None:
        why = "settings are written from settings, and none are given"
        raise impossible("--write", why, "give the settings file that the plan is for")
    if outputs.html is not None and outputs.write is not None and outputs.html.absolute() == outputs.write.absolute():
        why = "--html and --write name the same file, and one would be written over the other"
        raise impossible(str(outputs.html), why, "name two files")
    for file in (outputs.html, outputs.write):
        if file is not None and file.is_dir():
            raise impossible(str(file), "it is a folder", "name a file")
        if file is not None and file.absolute() == Path(model).absolute():
            raise impossible(str(file), "it is the model that the plan is for", "name another file")
        if file is not None and file.exists() and not outputs.replace:
            raise impossible(str(file), "a file of that name is there already", "name another one, or add --replace")
        if file is not None and not file.absolute().parent.is_dir():
            raise impossible(str(file), "its folder is not there", "make the folder first")


@contextmanager
def _searching(base: Document, target: Target, per_day: int, name: str) -> Iterator[Search]:
    """A search with a folder and a key ring that are gone afterwards."""
    with TemporaryDirectory() as folder, Progress(name, sys.stderr) as progress:
        keys = Path(folder) / "keys.json"
        new_ring(keys)
        yield Search(base, target, per_day, Path(folder), keys, progress)


def chosen_document(base: Document, point: Point, per_day: int) -> Document:
    """The settings that make this point, under a higher policy version, since what is released changes."""
    document = document_of(base, point.candidate, per_day)
    document["policy_version"] = int(document["policy_version"]) + 1
    return document


def _write(file: Path, text: str, mode: int = 0o666) -> None:
    """A new file is open to nobody to whom the one that it was made from is not."""
    try:
        file.touch(mode & 0o777 | 0o600)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        fix = "name a place that can be written"
        raise CannotPlan("The file cannot be written.", str(file), error.strerror or "unknown", fix) from None


def _say_written(plan: Plan, outputs: Outputs) -> None:
    if outputs.html is not None:
        say(f"The page: {outputs.html}")
    if outputs.write is not None:
        what = "written to" if plan.chosen is not None else "not written, since nothing meets the target, to"
        say(f"The settings: {what} {outputs.write}")
