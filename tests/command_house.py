"""A folder with a right settings file, its model and its keys, and the command line to put to it."""

from __future__ import annotations

from pathlib import Path

from settings_text import GOOD
from typer.testing import CliRunner, Result

from beliefs import model_file
from beliefs.alphabet import Categories
from beliefs.chain import Chain
from stream.commands.app import app
from stream.keys import new_ring

STICKY = Chain.from_dense([0.4, 0.3, 0.3], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.15, 0.05, 0.8]])


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def make_house(tmp_path: Path) -> Path:
    """A folder with a right settings file, its model and its keys."""
    (tmp_path / "c.yaml").write_text(GOOD, encoding="utf-8")
    model = model_file.serialise(Categories(["still", "walking", "running"]), STICKY, {"source": "made for a test"})
    (tmp_path / "model.json").write_bytes(model)
    new_ring(tmp_path / "keys.json")
    return tmp_path


def change(house: Path, old: str, new: str) -> Path:
    path = house / "c.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path
