"""What is asked for, and all that an estimate depends on beside the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from beliefs.alphabet import Alphabet, Bins, Grid, IntegerRange
from mechanisms.local.pooled import Pooling
from stream.audit.public import Public
from stream.fields.forms import Form


@dataclass(frozen=True)
class Asked:
    """`window` and `late` in milliseconds; without a window all records are one. `joint` names pairs of fields."""

    window: int = 0
    late: int = 0
    joint: tuple[tuple[str, str], ...] = ()
    confidence: float = 0.95
    pooling: Pooling = "precision"
    transitions: bool = False


@dataclass(frozen=True)
class Task:
    """`policy` and `models` are what the pipeline's records bear; `publics` are those of the field whose values follow
    one another, one for each model, or none without such a field. What is about fewer users than `floor` is not told.
    """

    pipeline: str
    released_topic: str
    policy: bytes
    models: frozenset[bytes]
    forms: tuple[Form, ...]
    publics: tuple[Public, ...]
    floor: int
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the groups of fields that may be coarsened."""
    learns: bool = False
    """Whether its model is learnt while it runs, so that records bear the model of their epoch."""
    asked: Asked = field(default_factory=Asked)

    @property
    def followed(self) -> str:
        """What the field whose values follow one another is called."""
        return str(self.publics[0].form.protected)

    @property
    def crossed(self) -> tuple[tuple[Form, bool], ...]:
        """The fields whose joint tables with that one are asked for, and whether they are named before it."""
        forms, followed = {form.name: form for form in self.forms}, self.followed if self.publics else None
        return tuple(
            (forms[one if other == followed else other], other == followed)
            for one, other in self.asked.joint
            if followed in (one, other)
        )

    @property
    def alphabet(self) -> Alphabet:
        """Of that field."""
        return self.publics[0].form.alphabet


def middles_of(alphabet: Alphabet) -> dict[str, list[float]]:
    """The number of each value, for each number that a value has; texts have none."""
    if isinstance(alphabet, IntegerRange | Bins):
        return {"": [float(alphabet.value_at(place)) for place in range(alphabet.size)]}
    if isinstance(alphabet, Grid):
        names = alphabet.names or ("0", "1")
        places = [alphabet.middle_at(place) for place in range(alphabet.size)]
        return {name: [place[number] for place in places] for number, name in enumerate(names)}
    return {}
