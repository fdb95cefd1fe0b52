"""What plain randomised response would have released for the very same events.

Generalised randomised response keeps the value with probability e^epsilon / (e^epsilon + k - 1) and otherwise releases
one of the other k - 1 values, each alike; that is epsilon-LDP for one event. It is run here with keyed coins of its
own, event by event: no figure in the view comes from a formula.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.typing import NDArray

COIN_BYTES = 8
COIN_RANGE = 1 << (8 * COIN_BYTES)

Codes = NDArray[np.uint8]


class RandomisedResponse:
    """One rival, with a secret key of its own."""

    def __init__(self, epsilon: float, values: int, key: bytes) -> None:
        self.epsilon = epsilon
        self._values = values
        # The coin is below the threshold with the right probability to within 2^-64.
        keep = Fraction(exp(epsilon)) / (Fraction(exp(epsilon)) + values - 1)
        self._keep_below = min(COIN_RANGE - 1, int(keep * COIN_RANGE))
        self._coins = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()

    def release(self, truth: Codes) -> Codes:
        """One release for each value, by the next coins of the keystream."""
        stream = self._coins.update(bytes(2 * COIN_BYTES * truth.size))
        coins = np.frombuffer(stream, dtype="<u8").reshape(2, truth.size)
        kept = coins[0] < np.uint64(self._keep_below)
        # 1 to k - 1 places further round the circle of values: each other value alike (to within k 2^-64).
        others = (truth + 1 + (coins[1] % np.uint64(self._values - 1)).astype(np.int64)) % self._values
        return np.where(kept, truth, others).astype(np.uint8)
