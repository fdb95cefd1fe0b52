"""Every error that Sottovoce raises on purpose, and what each one does to the process.

    SottovoceError                 what happened, where, why, how to put it right
    |-- Refused                    exit 2: nothing was started, nothing was released
    |   |-- ConfigurationRefused   the settings file: every problem in it, each with its line
    |   |-- ModelRefused           the model file cannot be used
    |   |-- DistanceRefused        the distance does not belong to the model's values
    |   |-- KeyRefused             the key ring cannot be used
    |   |-- StateRefused           the topics or the beliefs in them belong to something else
    |   |-- CannotAudit            the audit could not be carried out: it says neither yes nor no
    |   |-- CannotFit              there is no model that could be learnt from what was given
    |   |-- CannotPlan             what is asked for cannot be planned or compared
    |   |-- CannotEstimate         nothing can be estimated from what was given
    |       |-- TopicUnreadable    a topic cannot be read now: whoever follows it waits
    |-- PublishFailed              exit 3: a transaction did not commit; the worker stops, a fresh one repeats the block
        |-- Fenced                 exit 3: another worker owns the partition now

An error is shown, logged and sometimes sent on, so it may hold names, paths, offsets and amounts, and never a value
that belongs to a person: no user id, no field of an event, no key material.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from stream.names import EXIT_FAILED, EXIT_REFUSED, EXIT_STOPPED


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in one place of one file."""

    file: str
    line: int
    path: str
    found: str
    allowed: str
    fix: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: {self.path}" if self.path else f"{self.file}:{self.line}"
        return f"{place}\n    found: {self.found}\n    allowed: {self.allowed}\n    to put it right: {self.fix}"

    def as_json(self) -> dict[str, str | int]:
        return {
            "file": self.file,
            "line": self.line,
            "path": self.path,
            "found": self.found,
            "allowed": self.allowed,
            "fix": self.fix,
        }


class SottovoceError(Exception):
    """What happened, where, why, and how to put it right."""

    exit_status: ClassVar[int] = EXIT_FAILED

    def __init__(self, what: str, where: str = "", why: str = "", fix: str = "") -> None:
        super().__init__(what, where, why, fix)
        self.what = what
        self.where = where
        self.why = why
        self.fix = fix

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"    where: {self.where}")
        if self.why:
            lines.append(f"    why: {self.why}")
        if self.fix:
            lines.append(f"    to put it right: {self.fix}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, object]:
        return {
            "error": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "why": self.why,
            "fix": self.fix,
        }


class Refused(SottovoceError):
    """Nothing was started, because something that was asked for cannot be kept."""

    exit_status = EXIT_REFUSED


class ConfigurationRefused(Refused):
    """The settings file has problems; all of them are here, in the order of their lines."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line))
        count = len(self.problems)
        super().__init__(f"{file} has {count} problem{'' if count == 1 else 's'}; nothing was started.", where=file)

    def __str__(self) -> str:
        return "\n".join([*(str(problem) for problem in self.problems), self.what])

    def as_json(self) -> dict[str, object]:
        return {**super().as_json(), "problems": [problem.as_json() for problem in self.problems]}


class ModelRefused(Refused):
    """The model file is missing, damaged, or not a model."""


class DistanceRefused(Refused):
    """The distance does not belong to the model's values, or its file cannot be used; `where` names the setting."""


class KeyRefused(Refused):
    """The key ring is missing, open to others, or holds something that is no key."""


class StateRefused(Refused):
    """The state that was found belongs to another pipeline, topic, partition count, model or key."""


class CannotAudit(Refused):
    """The audit could not be carried out, so that it says neither yes nor no."""


class CannotFit(Refused):
    """No model can be learnt from what was given."""


class CannotPlan(Refused):
    """What is asked for cannot be planned."""


class CannotEstimate(Refused):
    """Nothing can be estimated from what was given, or not in the way that is asked for."""


class TopicUnreadable(CannotEstimate):
    """A topic cannot be read, now; who follows it waits."""


class PublishFailed(SottovoceError):
    """A transaction did not commit. It is never repeated in place: the worker stops, a fresh one takes over."""

    exit_status = EXIT_STOPPED


class Fenced(PublishFailed):
    """Another worker has taken this partition over; nothing that this one still holds may be written."""
