"""Checks what each field may hold on its own, and goes on after a problem, so that a report is complete.

The way is the settings' own: each section of the model is walked beside the section of the file. Fields that are right
end up in `values` under their dotted names, the wrong ones end up in `problems`, and the checks that compare two fields
(`checks.py`) run on whatever is right.
"""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from stream.errors import Problem
from stream.settings.kinds import WRONG
from stream.settings.model import Settings
from stream.settings.section import Section, written_fields
from stream.settings.yaml_lines import Place, Tree

# Somebody may have put the secret itself where its place was asked for; it is not repeated in a message.
_NEVER_SHOWN: Final = frozenset({"keys", "password", "token"})
_LONGEST_SHOWN: Final = 80


class Collector:
    """One walk over one file."""

    def __init__(self, file: str, tree: Tree) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.values: dict[str, Any] = {}
        self._tree = tree
        for fault in tree.faults:
            self.problems.append(Problem(file, fault.line, dotted(fault.place), fault.found, fault.allowed, fault.fix))

    def collect(self) -> dict[str, Any]:
        """Walk the whole file; the answer is the file's content with every shorthand written out."""
        return self._section(Settings, self._tree.value, ())

    def gives(self, *place: str) -> bool:
        """Whether the file itself says anything at this place."""
        raw: Any = self._tree.value
        for name in place:
            if not isinstance(raw, Mapping) or name not in raw:
                return False
            raw = raw[name]
        return True

    def add(self, place: Place, found: str, allowed: str, fix: str) -> None:
        self.problems.append(Problem(self.file, self._tree.line_of(place), dotted(place), found, allowed, fix))

    def _section(self, model: type[Section], raw: Mapping[str, Any], place: Place) -> dict[str, Any]:
        fields = written_fields(model)
        for name in raw:
            if name not in fields:
                self._unknown(name, fields, place)
        full: dict[str, Any] = {}
        for name, field in fields.items():
            inner = (*place, name)
            if name in raw:
                full[name] = self._field(field, raw[name], inner)
            elif field.is_required():
                self.add(inner, "nothing", f"{name}, which is required", f"add {name}: {field.description}")
            else:
                self._default(inner, field.get_default(call_default_factory=True))
        return full

    def _unknown(self, name: str, fields: Mapping[str, FieldInfo], place: Place) -> None:
        close = get_close_matches(name.lower(), fields, n=1, cutoff=0.6)
        allowed = f"one of {', '.join(fields)}"
        if not close and _NEVER_SHOWN & set(place):
            self.add(place, "an unknown name that is not shown here", allowed, "remove it")
            return
        fix = f"did you mean {close[0]}?" if close else f"remove {name}"
        self.add((*place, name), f"the unknown name {shown(name)}", allowed, fix)

    def _default(self, place: Place, value: Any) -> None:
        self.values[dotted(place)] = value
        if isinstance(value, BaseModel):
            for name, field in type(value).model_fields.items():
                self._default((*place, field.alias or name), getattr(value, name))

    def _field(self, field: FieldInfo, raw: Any, place: Place) -> Any:
        named = named_section_of(field.annotation)
        if named is not None:
            return self._named(field, named, raw, place)
        section = _section_of(field.annotation)
        if section is None:
            return self._leaf(field, raw, place)
        if raw is None and not field.is_required() and field.default is None:
            self.values[dotted(place)] = None
            return None
        expanded = _written_out(section, raw) if isinstance(raw, str) else raw
        if not isinstance(expanded, Mapping):
            words = [*section.shorthand, f"a section with {', '.join(written_fields(section))}"]
            if section.text_is is not None:
                words.insert(0, f"a text, its {section.text_is}")
            self.add(place, self._shown(raw, place), " or ".join(words), f"write {place[-1]}: {field.description}")
            return raw
        before = len(self.problems)
        full = self._section(section, expanded, place)
        if len(self.problems) == before:
            self.values[dotted(place)] = section.model_validate(full)
        return full

    def _named(self, field: FieldInfo, section: type[Section], raw: Any, place: Place) -> Any:
        """Sections under names of the user's own."""
        if not isinstance(raw, Mapping) or not raw:
            self.add(
                place, self._shown(raw, place), "a section for each name", f"write {place[-1]}: {field.description}"
            )
            return raw
        before = len(self.problems)
        one = FieldInfo(annotation=section, description=field.description)
        full = {name: self._field(one, inner, (*place, name)) for name, inner in raw.items()}
        if len(self.problems) == before:
            self.values[dotted(place)] = {name: self.values[dotted((*place, name))] for name in full}
        return full

    def _leaf(self, field: FieldInfo, raw: Any, place: Place) -> Any:
        kind = field.annotation
        for constraint in field.metadata:
            kind = Annotated[kind, constraint]  # type: ignore[assignment]
        try:
            alone = create_model("Alone", __base__=Section, value=(kind, ...))
            self.values[dotted(place)] = dict(alone.model_validate({"value": raw}))["value"]
        except ValidationError as error:
            for detail in _one_per_place(error.errors()):
                exact = (*place, *(step for step in detail["loc"] if isinstance(step, int)))
                allowed, fix = _explain(detail, field.description or "")
                self.add(exact, self._shown(detail["input"], exact), allowed, fix)
        return raw

    def _shown(self, value: Any, place: Place) -> str:
        return "a value that is not shown here" if _NEVER_SHOWN & set(place) else shown(value)


def have(collector: Collector, *names: str) -> tuple[Any, ...] | None:
    """The values of these fields, if all of them are right."""
    if any(name not in collector.values for name in names):
        return None
    return tuple(collector.values[name] for name in names)


def dotted(place: Place) -> str:
    """How a place of the settings file is written: kafka.brokers[0]."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def shown(value: Any) -> str:
    """A value of the settings file as a short text."""
    if isinstance(value, Mapping):
        return f"a section with {', '.join(map(str, value))}"[:_LONGEST_SHOWN] if value else "an empty section"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def _written_out(section: type[Section], text: str) -> Mapping[str, Any] | None:
    return section.shorthand.get(text) if section.text_is is None else {section.text_is: text}


def _section_of(annotation: Any) -> type[Section] | None:
    """The section that a field holds, `Section | None` included."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Section):
            return candidate
    return None


def named_section_of(annotation: Any) -> type[Section] | None:
    """The section that stands under each name of a mapping."""
    if get_origin(annotation) is not dict:
        return None
    return _section_of(get_args(annotation)[1])


def _one_per_place(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """A union reports each of its branches; one problem for one place is enough."""
    first: dict[tuple[int, ...], ErrorDetails] = {}
    for detail in details:
        place = tuple(step for step in detail["loc"] if isinstance(step, int))
        if detail["type"] != "none_required":
            first.setdefault(place, detail)
    return list(first.values())


_TRUTH: Final = "write true or false, without quotes; yes, no, on and off are plain text in YAML 1.2"

_ALLOWED: Final[dict[str, tuple[str, str]]] = {
    "string_type": ("a text", "put the value in quotes"),
    "bool_type": ("true or false", _TRUTH),
    "int_type": ("a whole number", "write a whole number without quotes"),
    "int_from_float": ("a whole number", "write a whole number, without a fraction"),
    "float_type": ("a number", "write a number without quotes"),
    "tuple_type": ("a list", "write a list: [first, second], or one entry a line after a hyphen"),
    "greater_than": ("a number above {gt}", "choose a number above {gt}"),
    "greater_than_equal": ("a number of at least {ge}", "choose a number of at least {ge}"),
    "less_than_equal": ("a number of at most {le}", "choose a number of at most {le}"),
    "less_than": ("a number below {lt}", "choose a number below {lt}"),
    "finite_number": ("a finite number", "write the number that is meant"),
    "literal_error": ("{expected}", "use {expected}"),
    "string_too_short": ("a text of at least {min_length} characters", "write the value that is meant"),
    "string_too_long": ("a text of at most {max_length} characters", "shorten it"),
    "too_short": ("a list of at least {min_length} entries", "add an entry"),
    "too_long": ("a list of at most {max_length} entries", "remove entries"),
    "string_pattern_mismatch": ("a text of the form {pattern}", "use only characters of that form"),
    WRONG: ("{allowed}", "{fix}"),
}


def _explain(detail: ErrorDetails, description: str) -> tuple[str, str]:
    """What is allowed, and what to do: one sentence each, the field's own description at the end."""
    allowed, fix = _ALLOWED.get(detail["type"], (detail["msg"], "correct the value"))
    context = {name: str(value) for name, value in detail.get("ctx", {}).items()}
    return allowed.format_map(context), f"{fix.format_map(context)} ({description})"
