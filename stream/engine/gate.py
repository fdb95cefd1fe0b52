"""Between Faust and the sessions:

what Faust says about partitions goes in, what the sessions need of Faust comes out.
"""

from collections.abc import Callable
from typing import Any, cast

from stream.engine.plan import Plan
from stream.errors import SottovoceError
from stream.protocol.ports import Block
from stream.protocol.sessions import Sessions


class Gate:
    """Hands assignments, revocations and blocks to the sessions, and every failure to `on_failure`."""

    def __init__(self, plan: Plan, sessions: Sessions, on_failure: Callable[[BaseException], None]) -> None:
        self.plan = plan
        self.on_failure = on_failure
        # Written by the thread that fetches and read by the main one, one whole entry at a time.
        self.nothing: dict[int, tuple[int, int]] = {}
        self._sessions = sessions
        self._assigned: set[int] | None = None

    def has_room(self, partition: int) -> bool:
        return self._sessions.has_room(partition)

    def assigned(self, partitions: set[int]) -> None:
        self._assigned = partitions

    async def revoked(self) -> None:
        """Before Faust does anything: what an unfinished recovery still wants to assign is stale from here on."""
        self._assigned = None
        try:
            await self._sessions.revoke()
        except SottovoceError as error:
            self.on_failure(error)

    async def recovered(self) -> None:
        """Faust seeks to the committed offsets when this returns. It drops exceptions here, so they are passed on."""
        if self._assigned is None:
            return
        try:
            await self._sessions.assign(self._assigned)
        except Exception as error:  # noqa: BLE001 whatever it is, the worker must not go on without its sessions
            self.on_failure(error)

    def accept(self, block: Block) -> None:
        try:
            self._sessions.accept(block)
        except SottovoceError as error:
            self.on_failure(error)


def gate_of(app: Any) -> Gate:
    """The gate of the Faust app that a Faust object belongs to."""
    return cast("Gate", app.gate)
