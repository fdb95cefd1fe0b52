"""Translate the client library's errors into ours, at the one place where each call is made."""

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalOperation,
    InvalidProducerEpoch,
    KafkaError,
    ProducerFenced,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)

from stream.errors import Fenced, PublishFailed, Refused

_FORBIDDEN = {
    TopicAuthorizationFailedError: "it may not do that with one of the topics",
    GroupAuthorizationFailedError: "it may not use the pipeline's consumer group",
    TransactionalIdAuthorizationFailed: "it may not use the pipeline's transactional ids",
    ClusterAuthorizationFailedError: "it may not do that with the cluster: perhaps it may not make topics",
}
_FIX = "nothing to do: a fresh worker is started and repeats the block from the last commit"


@contextmanager
def publishing(what: str, where: str) -> Iterator[None]:
    """Whatever goes wrong inside is a `PublishFailed`; being replaced by a newer producer is `Fenced`.

    Only the kind of an error is passed on, never its text: a client's error may quote the record that caused it.
    """
    try:
        yield
    except (ProducerFenced, InvalidProducerEpoch):
        raise Fenced(
            f"{what}: refused by the brokers.",
            where=where,
            why="another worker has taken the partition over, perhaps with the same group_instance, or the transaction "
            "took too long and was ended",
            fix=_FIX,
        ) from None
    except tuple(_FORBIDDEN) as error:
        raise Refused(
            f"{what}: the brokers forbid it to this worker.",
            where=where,
            why=next(why for kind, why in _FORBIDDEN.items() if isinstance(error, kind)),
            fix="give it the permissions that `sottovoce acls` prints for these settings",
        ) from None
    except (KafkaError, OSError) as error:
        raise PublishFailed(f"{what} failed.", where=where, why=_kind(error), fix=_FIX) from None
    except (AssertionError, IllegalOperation):
        # aiokafka checks the order of its transaction's states; after an error inside it they no longer fit.
        raise PublishFailed(
            f"{what} failed.", where=where, why="the transaction is already in error", fix=_FIX
        ) from None


def _kind(error: BaseException) -> str:
    return getattr(error, "description", None) or getattr(error, "message", None) or type(error).__name__
