"""Translate the client library's errors into ours, at the one place where each call is made."""

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka.errors import IllegalOperation, InvalidProducerEpoch, KafkaError, ProducerFenced

from stream.errors import Fenced, PublishFailed

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
    except (KafkaError, OSError) as error:
        raise PublishFailed(f"{what} failed.", where=where, why=_kind(error), fix=_FIX) from None
    except (AssertionError, IllegalOperation):
        # aiokafka checks the order of its transaction's states; after an error inside it they no longer fit.
        raise PublishFailed(
            f"{what} failed.", where=where, why="the transaction is already in error", fix=_FIX
        ) from None


def _kind(error: BaseException) -> str:
    return getattr(error, "description", None) or getattr(error, "message", None) or type(error).__name__
