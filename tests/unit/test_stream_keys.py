"""The key ring: what is refused, what is never shown, and that pseudonyms stay what they are."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stream.errors import KeyRefused
from stream.keys import Pseudonyms, add_epoch, derived_key, load_keys, new_ring, parse_keys
from stream.names import EXIT_REFUSED
from stream.settings.model import KeysSettings

KEY = bytes(range(32)).hex()
OTHER = bytes(range(1, 33)).hex()


def ring_text(**changes: Any) -> bytes:
    ring: dict[str, Any] = {
        "format": "sottovoce-keys",
        "version": 1,
        "current": 1,
        "epochs": [{"epoch": 1, "key": KEY, "made": "2026-01-31T08:00:00Z"}],
    }
    ring.update(changes)
    return json.dumps(ring).encode()


def epoch(number: Any = 1, key: Any = KEY, **rest: Any) -> dict[str, Any]:
    return {"epoch": number, "key": key, "made": "", **rest}


def test_a_right_ring() -> None:
    ring = parse_keys(ring_text(epochs=[epoch(2, OTHER), epoch(1)], current=2), "keys.json")
    assert [one.number for one in ring.epochs] == [1, 2]
    assert ring.current.secret.hex() == OTHER
    assert ring.first.secret.hex() == KEY
    assert ring.epoch(1).secret.hex() == KEY
    # SHA-256 of "sottovoce key fingerprint" and the bytes 0 to 31
    assert ring.first.fingerprint == "337d4ddf"
    with pytest.raises(KeyRefused, match="no epoch 3"):
        ring.epoch(3)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "format"),
        (b'{"format":"sottovoce-keys","format":"sottovoce-keys"}', "repeats a name"),
        (ring_text(format="other"), "format"),
        (ring_text(version=2), "version"),
        (ring_text(version=True), "version"),
        (ring_text(note="x"), "names that no key ring has"),
        (ring_text(epochs=[]), "epochs"),
        (ring_text(epochs={}), "epochs"),
        (ring_text(epochs=["x"]), "epochs[0]"),
        (ring_text(epochs=[epoch(extra=1)]), "epochs[0]"),
        (ring_text(epochs=[epoch(0)], current=0), "epochs[0].epoch"),
        (ring_text(epochs=[epoch("1")]), "epochs[0].epoch"),
        (ring_text(epochs=[epoch(True)]), "epochs[0].epoch"),
        (ring_text(epochs=[epoch(made=1)]), "epochs[0].made"),
        (ring_text(epochs=[{"epoch": 1}]), "epochs[0].key is missing"),
        (ring_text(epochs=[epoch(key=KEY[:-2])]), "62 hexadecimal digits"),
        (ring_text(epochs=[epoch(key=KEY + "00")]), "66 hexadecimal digits"),
        (ring_text(epochs=[epoch(key="")]), "0 hexadecimal digits"),
        (ring_text(epochs=[epoch(key="z" + KEY[1:])]), "hexadecimal"),
        (ring_text(epochs=[epoch(key=KEY[:-1] + " ")]), "hexadecimal"),
        (ring_text(epochs=[epoch(key=17)]), "hexadecimal"),
        (ring_text(epochs=[epoch(key="00" * 32)]), "one byte repeated"),
        (ring_text(epochs=[epoch(key="a5" * 32)]), "one byte repeated"),
        (ring_text(epochs=[epoch(1), epoch(1, OTHER)]), "same number"),
        (ring_text(epochs=[epoch(1), epoch(2)]), "same key"),
        (ring_text(current=2), "current"),
        (ring_text(current=True), "current"),
        (ring_text(current=None), "current"),
    ],
)
def test_what_is_no_ring(text: bytes, fragment: str) -> None:
    with pytest.raises(KeyRefused) as refusal:
        parse_keys(text, "keys.json")
    assert fragment in str(refusal.value)
    assert refusal.value.exit_status == EXIT_REFUSED
    for shown in (str(refusal.value), repr(refusal.value), str(refusal.value.as_json())):
        assert KEY[:16] not in shown
        assert OTHER[:16] not in shown


def test_no_key_is_shown() -> None:
    ring = parse_keys(ring_text(), "keys.json")
    for shown in (repr(ring), str(ring), repr(ring.current), str(ring.epochs), repr(Pseudonyms(ring, "p"))):
        assert KEY[:16] not in shown
        assert repr(ring.current.secret)[2:20] not in shown


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610, 0o601, 0o602])
def test_a_ring_that_is_open_to_others_is_refused_through_a_link_as_well(tmp_path: Path, mode: int) -> None:
    file, link = tmp_path / "keys.json", tmp_path / "link.json"
    file.write_bytes(ring_text())
    file.chmod(mode)
    link.symlink_to(file)
    for path in (file, link):
        with pytest.raises(KeyRefused, match=f"{mode:04o}"):
            load_keys(KeysSettings(file=str(path)), {})


def test_a_private_ring_is_read_through_a_link_as_well(tmp_path: Path) -> None:
    file, link = tmp_path / "keys.json", tmp_path / "link.json"
    file.write_bytes(ring_text())
    file.chmod(0o400)
    link.symlink_to(file)
    assert load_keys(KeysSettings(file=str(link)), {}).current.secret.hex() == KEY


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json", Path("/dev/null")):
        with pytest.raises(KeyRefused):
            load_keys(KeysSettings(file=str(path)), {})


def test_a_ring_in_the_environment() -> None:
    settings = KeysSettings(environment="KEYS")
    assert load_keys(settings, {"KEYS": ring_text().decode()}).current.secret.hex() == KEY
    for environment in ({}, {"KEYS": ""}, {"OTHER": ring_text().decode()}):
        with pytest.raises(KeyRefused, match="KEYS"):
            load_keys(settings, environment)


def test_a_new_ring_is_private_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    ring = new_ring(path, datetime(2026, 1, 31, 8, tzinfo=UTC))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ring == load_keys(KeysSettings(file=str(path)), {})
    assert ring.current.made == "2026-01-31T08:00:00Z"
    assert len(set(ring.current.secret)) > 8
    before = path.read_bytes()
    with pytest.raises(KeyRefused, match="never overwritten"):
        new_ring(path)
    assert path.read_bytes() == before
    with pytest.raises(KeyRefused, match="cannot be written"):
        new_ring(tmp_path / "none" / "keys.json")


def test_an_epoch_is_added_and_the_older_ones_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "keys.json", tmp_path / "link.json"
    first = new_ring(path)
    link.symlink_to(path)
    for number, place in ((2, path), (3, link)):
        grown = add_epoch(place)
        assert grown.current.number == number
        assert grown.first == first.first
        assert load_keys(KeysSettings(file=str(path)), {}) == grown
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["keys.json", "link.json"]
    with pytest.raises(KeyRefused):
        add_epoch(tmp_path / "none.json")


def test_pseudonyms_outlive_an_epoch_and_differ_between_pipelines_users_and_keys() -> None:
    one = parse_keys(ring_text(), "k")
    grown = parse_keys(ring_text(epochs=[epoch(1), epoch(2, OTHER)], current=2), "k")
    another = parse_keys(ring_text(epochs=[epoch(1, OTHER)]), "k")
    pseudonym = Pseudonyms(one, "phones").of(b"user-1")
    assert pseudonym == b"3d5520cc3a856eb3a2fb518c4afc9bc8"
    assert Pseudonyms(grown, "phones").of(b"user-1") == pseudonym
    others = [
        Pseudonyms(one, "tablets").of(b"user-1"),
        Pseudonyms(another, "phones").of(b"user-1"),
        Pseudonyms(one, "phones").of(b"user-2"),
    ]
    assert len({pseudonym, *others}) == 4
    assert all(len(one) == 32 for one in others)


def test_pseudonyms_are_the_same_when_they_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stream.keys._REMEMBERED_USERS", 2)
    pseudonyms = Pseudonyms(parse_keys(ring_text(), "k"), "phones")
    users = [b"a", b"b", b"c", b"d"]
    assert [pseudonyms.of(user) for user in users] == [pseudonyms.of(user) for user in users]


def test_keys_for_two_purposes_have_nothing_in_common() -> None:
    secret = bytes.fromhex(KEY)
    assert len({derived_key(secret, purpose, name) for purpose in ("a", "b") for name in ("x", "y")}) == 4
    assert secret not in {derived_key(secret, "a", "x")}
