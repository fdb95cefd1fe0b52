"""What stands sealed between two events or two stages: a clear head, and a body under ChaCha20-Poly1305.

The head says which epoch's key it was; key, nonce and what the seal is bound to are the caller's. A nonce is used for
one text alone: each caller says why his never comes twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from stream.errors import StateRefused
from stream.keys import LARGEST_EPOCH, KeyRing, derived_key

SEAL_BYTES = 16


class Unsealable(Exception):
    """Damaged, of another version, or sealed with a key that is not in the ring."""


class Ciphers:
    """The ciphers of one purpose and name, one for each epoch of the ring."""

    def __init__(self, ring: KeyRing, purpose: str, name: str) -> None:
        self.epoch = ring.current.number
        self._ciphers: Mapping[int, ChaCha20Poly1305] = {
            epoch.number: ChaCha20Poly1305(derived_key(epoch.secret, purpose, name)) for epoch in ring.epochs
        }
        self.encrypt = self._ciphers[self.epoch].encrypt
        """With the current epoch's key: nonce, text, and what it is bound to."""

    def has(self, epoch: int) -> bool:
        return epoch in self._ciphers

    def decrypt(self, epoch: int, nonce: bytes, body: bytes, bound: bytes) -> bytes:
        cipher = self._ciphers.get(epoch)
        if cipher is None:
            raise Unsealable(f"it was sealed with key epoch {epoch}, which the ring does not have")
        try:
            return cipher.decrypt(nonce, body, bound)
        except InvalidTag:
            raise Unsealable("its seal is broken") from None


def require_known_epoch(ring: KeyRing, epoch: int | None, where: str) -> None:
    """A worker whose ring is older than another's must not give up for good what that one can open. `epoch` is that of
    a record that cannot be opened, None where it has none.
    """
    newest = max(each.number for each in ring.epochs)
    if epoch is not None and newest < epoch <= LARGEST_EPOCH:
        raise StateRefused(
            "What a partition of the raw topic has sent cannot be opened.",
            where=where,
            why=f"it was sealed with key epoch {epoch}, and the newest of the key ring is {newest}",
            fix="give this worker the key ring of the others; epochs are added, never removed",
        )


def held_refused(what: str, why: str, where: str) -> StateRefused:
    """What waits for its release can never be released."""
    fix = "put the key epochs back that the ring had; epochs are added, never removed"
    return StateRefused(f"{what} cannot be opened.", where=where, why=why, fix=fix)
