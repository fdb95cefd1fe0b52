"""A model that is learnt from the pipeline's own releases: what is declared of it."""

from typing import Annotated, Any, Final

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from beliefs.alphabet import Alphabet
from beliefs.alphabet_rows import written_alphabet
from stream.settings.section import Section
from stream.settings.values import declared_schema, read_declared

MOST_VALUES: Final = 64
"""The counts of a partition's pairs are written with every block: 32 KiB at this size."""


def read_values(value: Any) -> Alphabet:
    fewer = "fewer values, for example larger bins, or learn the model outside with `sottovoce fit` and name its file"
    return read_declared(value, MOST_VALUES, "[still, walking]", fewer)


Values = Annotated[
    Alphabet,
    PlainValidator(read_values),
    PlainSerializer(written_alphabet),
    WithJsonSchema(declared_schema(MOST_VALUES)),
]


class LearnSettings(Section):
    """A model that each partition learns from what it has released itself."""

    values: Values = Field(
        description="the values of the protected field: [still, walking], or an alphabet as in a model file, "
        "{kind: integers, low: 0, high: 9}; at most 64"
    )
    doubt: Annotated[float, Field(ge=1e-12, le=1e-2, allow_inf_nan=False)] = Field(
        default=1e-6, description="the probability that the learnt probabilities are further off than is covered"
    )
    withheld: Annotated[float, Field(gt=0, le=0.5, allow_inf_nan=False)] = Field(
        default=0.1,
        description="the largest share of epsilon that may be withheld for what the learnt model may be off by; "
        "before that is enough, and 98 % of what would be kept if it were certain, nothing but local privacy is used; "
        "with 0.5 it switches as soon as more is kept than without a model",
    )
