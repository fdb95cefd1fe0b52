"""Settings for commands that are about the field whose values follow one another."""

from pathlib import Path

from stream.errors import ConfigurationRefused
from stream.settings.load import load_settings, problem_at
from stream.settings.model import Settings


def load_followed(file: Path) -> Settings:
    """The settings in this file, which must name such a field."""
    settings = load_settings(file)
    refuse_aggregates(settings, file)
    if not settings.follows:
        found = "no field whose values follow one another, which this command is about"
        fix = "name one at record.protect; about the fields under fields there are explain, calibrate, estimate, audit"
        problem = problem_at(file, file.read_bytes(), ("record",), found, "record.protect", fix)
        raise ConfigurationRefused(str(file), [problem])
    return settings


def refuse_aggregates(settings: Settings, file: Path) -> None:
    """For what is about pipelines that release a record for each event."""
    if settings.aggregate is not None:
        found = "windows of aggregates, and nothing is released for an event, which this command is about"
        fix = "about windows of aggregates there are validate, explain, plan, run and audit"
        problem = problem_at(file, file.read_bytes(), ("aggregate",), found, "a pipeline of single events", fix)
        raise ConfigurationRefused(str(file), [problem])
