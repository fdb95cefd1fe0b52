"""The alert rules as Prometheus's own tool reads them, and the runbook that they point to."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import machine
import pytest
from ruamel.yaml import YAML

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
RUNBOOK = DEPLOY / "runbook.md"
PARTS = ["Privacy", "Operation", "Do"]


def promtool(*arguments: str) -> str:
    machine.ensure([machine.PROMETHEUS])
    answer = subprocess.run(
        ["promtool", *arguments], cwd=PROMETHEUS, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout + answer.stderr


def rules() -> list[dict[str, object]]:
    document = YAML(typ="safe").load(PROMETHEUS / "alerts.yaml")
    return [rule for group in document["groups"] for rule in group["rules"]]


def entries() -> dict[str, str]:
    """The text of each entry of the runbook, by its heading."""
    _, *parts = re.split(r"^## ", RUNBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def test_promtool_accepts_the_rules_and_the_sample_configuration() -> None:
    assert f"{len(rules())} rules found" in promtool("check", "rules", "alerts.yaml")
    assert "SUCCESS" in promtool("check", "config", "prometheus.yaml")


def test_the_rules_fire_and_stay_quiet_as_their_tests_say() -> None:
    assert "SUCCESS" in promtool("test", "rules", "alerts_test.yaml")


def test_a_rule_that_no_longer_fires_is_seen(tmp_path: Path) -> None:
    """The tests of the rules notice a threshold that was raised."""
    text = (PROMETHEUS / "alerts.yaml").read_text(encoding="utf-8")
    raised = text.replace("sottovoce_budget_spent_max_ratio > 1\n", "sottovoce_budget_spent_max_ratio > +Inf\n")
    assert raised != text
    (tmp_path / "alerts.yaml").write_text(raised, encoding="utf-8")
    (tmp_path / "alerts_test.yaml").write_bytes((PROMETHEUS / "alerts_test.yaml").read_bytes())
    with pytest.raises(AssertionError, match="SottovoceOverBudget"):
        promtool("test", "rules", str(tmp_path / "alerts_test.yaml"))


def test_each_alert_has_its_entry_in_the_runbook_and_no_entry_is_left_over() -> None:
    assert list(entries()) == [rule["alert"] for rule in rules()]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule["alert"]))
def test_an_alert_links_to_its_entry(rule: dict[str, object]) -> None:
    annotations = rule["annotations"]
    assert isinstance(annotations, dict)
    assert annotations["runbook"] == f"deploy/{RUNBOOK.name}#{str(rule['alert']).lower()}"


@pytest.mark.parametrize("heading", entries())
def test_an_entry_says_what_it_means_and_what_to_do(heading: str) -> None:
    assert re.findall(r"^- (\w+): \S", entries()[heading], re.MULTILINE) == PARTS
