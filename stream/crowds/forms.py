"""What is read of an event for a window of a crowd: its cells, then its user's type, then his household."""

from __future__ import annotations

from stream import names
from stream.crowds.promise import CrowdPromise
from stream.keys import derived_key
from stream.records.belonging import Belonging
from stream.records.fields import FieldForm


def forms_of(promise: CrowdPromise) -> tuple[FieldForm, ...]:
    """In the order in which an event's symbols come."""
    typed = () if promise.type_form is None else (promise.type_form,)
    return (*promise.release.forms, *typed, *_household(promise))


def _household(promise: CrowdPromise) -> tuple[FieldForm, ...]:
    """Tags come from the ring's first epoch, so that a household keeps its tag when the key is changed."""
    if promise.household_path is None:
        return ()
    key = derived_key(promise.ring.first.secret, names.PURPOSE_HOUSEHOLD, promise.pipeline)
    return (FieldForm("household", promise.household_path, Belonging(key)),)
