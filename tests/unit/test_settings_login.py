"""How settings say that a client logs in: what belongs together, and no secret in any message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from settings_text import GOOD

from stream.errors import ConfigurationRefused
from stream.settings.load import parse_settings

FILE = Path("/etc/sottovoce/phones.yaml")
SECRET = "f0rty-tw0-secret"
ENDPOINT = "endpoint: https://identity.example/token"


def with_login(sasl: str) -> bytes:
    return GOOD.replace("  raw_topic:", f"  tls: {{}}\n  sasl: {sasl}\n  raw_topic:").encode()


@pytest.mark.parametrize(
    ("sasl", "path", "fragment"),
    [
        ("{mechanism: PLAIN, username: a}", "kafka.sasl.mechanism", "PLAIN without password"),
        ("{mechanism: PLAIN, password: {file: p}}", "kafka.sasl.mechanism", "PLAIN without username"),
        ("{mechanism: OAUTHBEARER}", "kafka.sasl.mechanism", "OAUTHBEARER without token"),
        ("{mechanism: OAUTHBEARER, username: a, token: {file: t}}", "kafka.sasl.username", "remove username"),
        ("{mechanism: PLAIN, username: a, password: {file: p}, token: {file: t}}", "kafka.sasl.token", "remove token"),
        ("{mechanism: OAUTHBEARER, token: {}}", "kafka.sasl.token", "neither file nor environment nor endpoint"),
        ("{mechanism: OAUTHBEARER, token: {file: t, environment: T}}", "kafka.sasl.token", "file and environment"),
        ("{mechanism: OAUTHBEARER, token: {file: t, scope: s}}", "kafka.sasl.token.scope", "scope without endpoint"),
        (
            f"{{mechanism: OAUTHBEARER, token: {{{ENDPOINT}, client: c}}}}",
            "kafka.sasl.token.endpoint",
            "without secret",
        ),
        (
            "{mechanism: OAUTHBEARER, token: {endpoint: 'http://identity.example/t', client: c, secret: {file: s}}}",
            "kafka.sasl.token.endpoint",
            "begins with https://",
        ),
        (
            "{mechanism: OAUTHBEARER, token: {endpoint: 'https://c:s@identity.example', client: c, secret: {file: s}}}",
            "kafka.sasl.token.endpoint",
            "a login in it",
        ),
        (
            "{mechanism: OAUTHBEARER, token: {endpoint: 'https://[::1', client: c, secret: {file: s}}}",
            "kafka.sasl.token.endpoint",
            "no such address",
        ),
        (
            f"{{mechanism: OAUTHBEARER, token: {{{ENDPOINT}, client: c, secret: {{file: s, environment: S}}}}}}",
            "kafka.sasl.token.secret",
            "both file and environment",
        ),
        ("{mechanism: GSSAPI, username: a, password: {file: p}}", "kafka.sasl.mechanism", "GSSAPI"),
    ],
)
def test_what_does_not_belong_together_is_refused(sasl: str, path: str, fragment: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        parse_settings(with_login(sasl), FILE)
    (problem,) = [problem for problem in refused.value.problems if problem.path == path]
    assert fragment in str(problem)


@pytest.mark.parametrize("where", [SECRET, f"[{SECRET}]", f"{{{SECRET}: }}", f"{{secret: {SECRET}}}"])
def test_a_token_that_somebody_wrote_into_the_file_is_not_repeated(where: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        parse_settings(with_login(f"{{mechanism: OAUTHBEARER, token: {where}}}"), FILE)
    assert "kafka.sasl.token" in str(refused.value) and SECRET not in str(refused.value)


def test_files_of_tokens_are_beside_the_settings() -> None:
    def token(text: str) -> Any:
        sasl = parse_settings(with_login(f"{{mechanism: OAUTHBEARER, token: {text}}}"), FILE).kafka.sasl
        assert sasl is not None and sasl.token is not None
        return sasl.token

    assert token("{file: t}").file == "/etc/sottovoce/t"
    of_service = token(f"{{{ENDPOINT}, client: c, secret: {{file: s}}, scope: kafka}}")
    assert (of_service.secret.file, of_service.client, of_service.scope) == ("/etc/sottovoce/s", "c", "kafka")
    near = token("{endpoint: 'http://localhost:8080/token', client: c, secret: {environment: S}}")
    assert near.endpoint == "http://localhost:8080/token"
