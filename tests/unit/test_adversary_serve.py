"""The adversary's metrics beside a pipeline: sums over all users, nothing below the floor, on loopback."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest
from attack_help import attacked
from audit_world import Run, run

from stream.adversary.serve import Page, exposition
from stream.errors import CannotAudit


@pytest.fixture(scope="module")
def finished() -> Run:
    return run(4, events=900, users=12, nats="unlimited", partitions=2)


def test_metrics_show_no_small_groups(finished: Run) -> None:
    result = attacked(finished)
    shown, hidden = exposition(result, 5), exposition(result, 25)
    assert 'sottovoce_adversary_guess_ratio{knows="releases"}' in shown
    assert 'sottovoce_adversary_user_furthest_nats{quantile="p50"}' in shown
    assert 'quantile="p99"' not in shown
    assert "guess_ratio" not in hidden and "furthest" not in hidden
    assert "sottovoce_adversary_users 0.0" in hidden
    assert "sottovoce_adversary_up 1.0" in exposition(None, 1)


def test_the_page_is_served_on_loopback_and_nothing_else_is() -> None:
    with Page("127.0.0.1", 0) as page:
        page.show("sottovoce_adversary_up 1.0\n")
        with urllib.request.urlopen(f"http://127.0.0.1:{page.port}/metrics") as answer:
            assert answer.read() == b"sottovoce_adversary_up 1.0\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{page.port}/")
        with pytest.raises(Exception, match="cannot be served"):
            Page("127.0.0.1", page.port)
    with pytest.raises(CannotAudit, match="cannot be served"):
        Page("example", 0)
