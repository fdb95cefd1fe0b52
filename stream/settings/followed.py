"""Settings for commands that are about the field whose values follow one another."""

from pathlib import Path
from typing import Final

from stream.errors import ConfigurationRefused
from stream.settings.load import Released, kind_of, load_settings, problem_at
from stream.settings.model import Settings

_OTHERS: Final[dict[Released, tuple[str, str]]] = {
    "aggregates": ("aggregate", "windows of aggregates"),
    "crowds": ("crowd", "crowds"),
}


def load_followed(file: Path) -> Settings:
    """The settings in this file, which must name such a field."""
    settings = load_settings(file)
    require_single_events(settings, file)
    if not settings.follows:
        found = "no field whose values follow one another, which this command is about"
        fix = "name one at record.protect; about the fields under fields there are explain, calibrate, estimate, audit"
        problem = problem_at(file, file.read_bytes(), ("record",), found, "record.protect", fix)
        raise ConfigurationRefused(str(file), [problem])
    return settings


def require_single_events(settings: Settings, file: Path) -> None:
    """For what is about pipelines that release a record for each event."""
    kind = kind_of(settings)
    if kind != "events":
        place, what = _OTHERS[kind]
        found = f"{what}, and nothing is released for an event, which this command is about"
        fix = f"about {what} there are validate, explain, plan, run and audit"
        problem = problem_at(file, file.read_bytes(), (place,), found, "a pipeline of single events", fix)
        raise ConfigurationRefused(str(file), [problem])
