"""Amounts as a person reads them."""

import math


def in_nats(amount: float) -> str:
    return "an amount without bound" if math.isinf(amount) else f"{amount:.4g} nats"
