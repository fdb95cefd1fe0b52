"""What the paper prints in its tables, for comparison. Nothing is computed from it."""

from __future__ import annotations

from typing import Final

TABLE_1: Final = {
    ("CelebA", 1.0): {"grr": 0.889e-4, "exp": 3.36e-4},
    ("CelebA", 3.0): {"grr": 0.197e-4, "exp": 0.514e-4},
    ("Adult", 1.0): {"grr": 2.99e-4, "exp": 8.16e-4},
    ("Adult", 3.0): {"grr": 3.08e-4, "exp": 2.73e-4},
    ("CVD", 1.0): {"grr": 11.6e-4, "exp": 54.1e-4},
    ("CVD", 3.0): {"grr": 2.49e-4, "exp": 5.82e-4},
    ("DSS", 1.0): {"grr": 0.674e-4, "exp": 3.79e-4},
    ("DSS", 3.0): {"grr": 0.168e-4, "exp": 0.241e-4},
}
TABLE_2: Final = {
    ("CelebA", 1.0): (8.89e-5, 0.29, 0.29, 0.32, 0.32, 0.33, 9.44e-5, 0.29),
    ("CelebA", 3.0): (1.97e-5, 0.31, 0.32, 0.54, 0.54, 0.53, 1.81e-5, 0.35),
    ("Adult", 1.0): (0.017, 0.25, 0.30, 0.22, 0.34, 0.22, 0.082, 0.25),
    ("Adult", 3.0): (0.0037, 0.23, 0.29, 0.31, 0.55, 0.31, 0.0037, 0.27),
    ("CVD", 1.0): (0.0088, 0.25, 0.29, 0.25, 0.31, 0.26, 0.038, 0.26),
    ("CVD", 3.0): (0.00075, 0.23, 0.26, 0.40, 0.50, 0.39, 0.00060, 0.26),
    ("DSS", 1.0): (0.031, 0.28, 0.35, 0.19, 0.41, 0.19, 0.17, 0.29),
    ("DSS", 3.0): (0.012, 0.25, 0.33, 0.23, 0.63, 0.22, 0.012, 0.28),
}
"""GRR, RAPPOR, EXP, OUE, BLH, OLH, SS, SHE."""
TABLE_3_EPSILONS: Final = (0.5, 1.0, 2.0)
TABLE_3: Final = {
    "neighbour to secret": {"theoretical": (0.5, 1.0, 2.0), "experimental": (0.5007, 0.9985, 2.0020)},
    "secret to neighbour": {"theoretical": (0.2810, 0.6203, 1.4340), "experimental": (0.2833, 0.6222, 1.4369)},
}
