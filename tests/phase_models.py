"""Models in phases for tests."""

from __future__ import annotations

import random

import numpy as np
from context_models import law_of, random_law

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.context_rows import Laws
from beliefs.contexts import chain_of
from beliefs.model_file import Model, parse, serialise_phases


def random_phases(symbols: int, order: int, phases: int, seed: int) -> Model:
    source = random.Random(f"{symbols} {order} {phases} {seed}")
    start = np.array(random_law(source, symbols, 0.05))
    tables: list[Laws] = [_laws(source, symbols, order) for _ in range(phases)]
    names = Categories([f"act{x}" for x in range(symbols)])
    if order > 1:
        return parse(serialise_phases(names, order, start, tables, {}))
    chains = [Chain.from_dense(start, [random_law(source, symbols, 0.05) for _ in range(symbols)]) for _ in tables]
    return parse(serialise_phases(names, 1, start, chains, {}))


def _laws(source: random.Random, symbols: int, order: int) -> Laws:
    contexts = [(), (0,) * order, (symbols - 1, 0)[:order], (0, symbols - 1)[:order]]
    return {context: law_of(random_law(source, symbols, 0.05)) for context in contexts}


def alike(chain: Chain, phases: int) -> Chain:
    return Chain.in_phases([chain] * phases)


def of_contexts(order: int = 2, symbols: int = 3) -> Chain:
    start, laws = np.full(symbols, 1 / symbols), _laws(random.Random(7), symbols, order)
    return chain_of(start, laws)
