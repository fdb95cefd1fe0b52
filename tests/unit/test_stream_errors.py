"""The error tree: every error tells what, where, why and how to put it right, and ends the process as stated."""

from __future__ import annotations

import pickle

import pytest

from stream import errors, names
from stream.errors import ConfigurationRefused, Problem, SottovoceError


def tree(error: type[SottovoceError]) -> list[type[SottovoceError]]:
    return [error, *(inner for child in error.__subclasses__() for inner in tree(child))]


def test_the_drawing_shows_every_error() -> None:
    drawing = errors.__doc__ or ""
    for error in tree(SottovoceError):
        assert f" {error.__name__} " in drawing.replace("\n", " \n "), error


@pytest.mark.parametrize("error", tree(SottovoceError), ids=lambda error: error.__name__)
def test_every_error_ends_the_process_as_the_drawing_says(error: type[SottovoceError]) -> None:
    expected = names.EXIT_FAILED
    if issubclass(error, errors.Refused):
        expected = names.EXIT_REFUSED
    if issubclass(error, errors.PublishFailed):
        expected = names.EXIT_STOPPED
    assert error.exit_status == expected


def test_an_error_tells_its_four_parts() -> None:
    error = errors.StateRefused("The state is another's.", "topic raw", "its id differs", "name another pipeline")
    assert str(error).splitlines() == [
        "The state is another's.",
        "    where: topic raw",
        "    why: its id differs",
        "    to put it right: name another pipeline",
    ]
    assert error.as_json()["error"] == "StateRefused"
    assert str(errors.Fenced("Replaced.")) == "Replaced."
    copied = pickle.loads(pickle.dumps(error))
    assert str(copied) == str(error)


def test_a_configuration_tells_all_its_problems_in_order() -> None:
    problems = [Problem("c.yaml", line, "a", "x", "y", "z") for line in (7, 3)]
    error = ConfigurationRefused("c.yaml", problems)
    text = str(error)
    assert text.index("c.yaml:3") < text.index("c.yaml:7")
    assert text.endswith("c.yaml has 2 problems; nothing was started.")
    assert "1 problem;" in str(ConfigurationRefused("c.yaml", problems[:1]))


def test_reasons_and_outcomes_are_named_once() -> None:
    assert len(set(names.REASONS)) == len(names.REASONS)
    assert set(names.STEP_OUTCOMES) | {names.DEAD_LETTERED} == set(names.OUTCOMES)
    assert len(set(names.OWN_HEADERS)) == len(names.OWN_HEADERS) == 7
