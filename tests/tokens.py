"""Tokens as a company's identity service would sign them: JSON Web Tokens with RS256, and the keys to check them."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

AUDIENCE = "kafka"
ISSUER = "https://identity.example"
KEY_NAME = "one"


class Signer:
    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def write_public(self, file: Path) -> None:
        """What a broker checks tokens with: a JSON Web Key Set."""
        numbers = self._key.public_key().public_numbers()
        key = {"kty": "RSA", "kid": KEY_NAME, "use": "sig", "alg": "RS256"}
        found = {**key, "n": _number(numbers.n), "e": _number(numbers.e)}
        file.write_text(json.dumps({"keys": [found]}), encoding="utf-8")

    def token(self, user: str, *, seconds: float = 3600.0) -> str:
        """For this user; negative seconds make one that has ended."""
        now = time.time()
        head = {"alg": "RS256", "kid": KEY_NAME, "typ": "JWT"}
        claims = {
            "sub": user,
            "aud": AUDIENCE,
            "iss": ISSUER,
            "scope": "kafka",
            "iat": int(min(now, now + seconds) - 60),
            "exp": int(now + seconds),
        }
        text = f"{_text(json.dumps(head).encode())}.{_text(json.dumps(claims).encode())}"
        signature = self._key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{_text(signature)}"


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _number(number: int) -> str:
    return _text(number.to_bytes((number.bit_length() + 7) // 8, "big"))
