"""Which models serve the users of a pipeline: read, and checked against one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from beliefs.model_file import InvalidModel, Model, parse
from stream.errors import ModelRefused, Problem
from stream.segments import UNKNOWN, Rule
from stream.settings.models import ModelSettings, NamedFile

_MOST_MODEL_PROBLEMS = 20

Found = Callable[[tuple[str, ...], str, str, str], Problem]


@dataclass(frozen=True)
class Serving:
    """One model and whom it serves: the users whose first event has one of these names in the field, or, with
    `others`, a name that no model is listed for. A model that serves everybody has no names.
    """

    model: Model
    file: NamedFile
    names: tuple[str, ...] = ()
    others: bool = True

    @property
    def words(self) -> str:
        """Whom it serves, in a few words."""
        listed = ", ".join(self.names)
        if not self.others:
            return listed
        return f"{listed} and all others" if listed else "all others"


def load_model(file: Path) -> Model:
    """The model in this file, or ModelRefused with what is wrong with it."""
    fix = "correct the file, or name another one in the settings"
    try:
        return parse(file.read_bytes())
    except OSError as error:
        raise ModelRefused("The model cannot be read.", str(file), error.strerror or "unknown", fix) from None
    except InvalidModel as error:
        shown = [str(problem) for problem in error.problems[:_MOST_MODEL_PROBLEMS]]
        if len(error.problems) > len(shown):
            shown.append(f"and {len(error.problems) - len(shown)} more")
        raise ModelRefused("The model cannot be used.", str(file), "; ".join(shown), fix) from None


def load_servings(settings: ModelSettings, found: Found, problems: list[Problem]) -> tuple[Serving, ...]:
    """Every model that can be used, with whom it serves. What is wrong is added to the problems; `found` makes one."""
    loaded = []
    for named in settings.named:
        try:
            loaded.append((named, load_model(Path(named.file))))
        except ModelRefused as error:
            what = f"{error.where}: {error.why}"
            problem = found(named.place, what, "a model file that can be used", error.fix)
            problems.append(told_of(named, problem))
    servings = servings_of(loaded)
    problems += apart(servings, found)
    return servings


def servings_of(loaded: Iterable[tuple[NamedFile, Model]]) -> tuple[Serving, ...]:
    """Whom each model serves; names with the same model are served together."""
    servings: dict[str, Serving] = {}
    for named, model in loaded:
        names, others = ((named.place[2],), False) if named.place[1:2] == ("files",) else ((), True)
        known = servings.setdefault(model.digest, Serving(model, named, (), others=False))
        servings[model.digest] = replace(known, names=(*known.names, *names), others=known.others or others)
    return tuple(servings.values())


def told_of(named: NamedFile, problem: Problem) -> Problem:
    """A problem of one of several models says whose model it is, and its file."""
    if not named.words:
        return problem
    where = "" if named.file in problem.found else f" ({named.file})"
    return replace(problem, found=f"{named.words}{where}: {problem.found}")


def apart(servings: Sequence[Serving], found: Found) -> list[Problem]:
    """All models have the same values in the same order, and no two of them the same tag."""
    problems = []
    for place, serving in enumerate(servings):
        first, named = servings[0], serving.file
        if serving.model.alphabet != first.model.alphabet:
            what = f"{named.words}, {named.file}: other values than {first.file.words}, {first.file.file}"
            fix = "give all models the same values in the same order; what a segment never has gets the probability 0"
            problems.append(found(named.place, what, "models with the same values", fix))
        for earlier in servings[:place]:
            if earlier.model.tag == serving.model.tag:
                what = (
                    f"{named.file} and {earlier.file.file}: two models whose hashes begin alike, {serving.model.short}"
                )
                fix = "write something else into learnt_from of one of them, and its new hash"
                problems.append(found(named.place, what, "models whose rows can be told apart", fix))
    return problems


def rule_of(settings: ModelSettings, servings: Sequence[Serving]) -> Rule | None:
    """Which of these models serves a user; None where there is one for everybody."""
    if settings.by is None:
        return None
    numbers = {name: number for number, serving in enumerate(servings) for name in serving.names}
    others = [number for number, serving in enumerate(servings) if serving.others]
    return Rule(settings.by, dict(sorted(numbers.items())), others[0] if others else UNKNOWN)
