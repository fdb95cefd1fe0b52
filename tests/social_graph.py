"""A seeded stand-in for a network of friends in eight towns, as large as a public one: 6,969 users, 47,502 friendships.

People live around the middle of their town and differ in sociability; friendships are drawn by both and by how near
people live, and two in a hundred across towns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

USERS = (997, 507, 811, 1228, 862, 656, 1083, 825)
FRIENDSHIPS, ACROSS = 47_502, 0.02


class SocialGraph(NamedTuple):
    homes: npt.NDArray[np.float64]
    friends: npt.NDArray[np.int64]

    def closest(self) -> npt.NDArray[np.int64]:
        """The friendships that hang everybody together with the least distance in all: no circle is left."""
        apart = np.hypot(*(self.homes[self.friends[:, 0]] - self.homes[self.friends[:, 1]]).T)
        size = len(self.homes)
        tree = minimum_spanning_tree(csr_matrix((apart, tuple(self.friends.T)), shape=(size, size))).tocoo()
        return np.stack([tree.row, tree.col], axis=1).astype(np.int64)


def social_graph(seed: int = 1) -> SocialGraph:
    generator = np.random.default_rng(seed)
    town = np.repeat(np.arange(len(USERS)), USERS)
    homes = generator.normal(size=(town.size, 2)) * 0.08 + generator.random((len(USERS), 2))[town]
    sociable = np.exp(generator.normal(size=town.size))
    found = set[tuple[int, int]]()
    for number, size in enumerate(USERS):
        inside = np.flatnonzero(town == number)
        apart = np.hypot(*(homes[inside][:, None] - homes[inside]).transpose(2, 0, 1))
        one, two = np.triu_indices(size, 1)
        weights = (np.outer(sociable[inside], sociable[inside]) * (apart + 0.03) ** -2.0)[one, two]
        count = round((1 - ACROSS) * FRIENDSHIPS * size / town.size)
        drawn = generator.choice(one.size, size=count, replace=False, p=weights / weights.sum())
        found |= {(int(inside[one[k]]), int(inside[two[k]])) for k in drawn}
    while len(found) < FRIENDSHIPS:
        one, two = sorted(generator.integers(0, town.size, 2).tolist())
        if town[one] != town[two]:
            found.add((one, two))
    return SocialGraph(homes, np.array(sorted(found)))
