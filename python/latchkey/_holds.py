"""What is held, and how it ends."""

import asyncio
import sys
import warnings

from . import _waiting
from ._errors import Error, LockLost
from ._native import checked, lib, milliseconds
from ._waiting import logger


class _HoldState:
    """What a hold knows, whoever waits for its release."""

    def __init__(self, handle: int, locks) -> None:
        self._handle = handle
        self._locks = locks  # keeps the connection
        self.key = lib.hold_key(handle).decode("utf-8", "surrogateescape")
        self.token = lib.hold_token(handle, 0) or None
        fence = lib.hold_fence(handle, 0)
        self.fence = fence.decode() if fence is not None else None

    def __repr__(self) -> str:
        state = "released" if self._handle is None else "lost" if self.lost else "held"
        return f"<latchkey.{type(self).__name__} of {self.key!r}, {state}>"

    @property
    def released(self) -> bool:
        return self._handle is None

    @property
    def lost(self) -> bool:
        handle = self._handle
        return handle is None or lib.hold_lost(handle) != 0

    @property
    def remaining(self) -> float:
        handle = self._handle
        return 0.0 if handle is None else lib.hold_remaining_ms(handle) / 1000

    def _take(self) -> "int | None":
        handle, self._handle = self._handle, None
        return handle

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None and not sys.is_finalizing():
            warnings.warn(f"the hold of {self.key!r} was never released", ResourceWarning)
            lib.hold_release(handle, None)

    def _lost_error(self) -> LockLost:
        return LockLost(
            f"lock lost: the hold of '{self.key}' ended before it was released; others may have held "
            "the lock meanwhile"
        )


class Hold(_HoldState):
    """A lock that a thread holds. Any thread may use it, one at a time."""

    def extend(self, lease) -> bool:
        handle = self._handle
        return handle is not None and checked(lib.hold_extend, handle, milliseconds(lease)) == 1

    def release(self) -> bool:
        handle = self._take()
        return handle is not None and checked(lib.hold_release, handle) == 1

    def __enter__(self) -> "Hold":
        return self

    def __exit__(self, kind, error, trace) -> None:
        end_of_body(self, error, "raise")


class AsyncHold(_HoldState):
    """A lock that a task holds. For the thread of its event loop."""

    @property
    def _waiter(self) -> _waiting.TaskWaiter:
        return self._locks._waiters.of_running_loop()

    async def extend(self, lease) -> bool:
        if self._handle is None:
            return False
        length = milliseconds(lease)
        return (await self._waiter.run(lib.start_extend, self._handle, length))[0] == 1

    async def release(self) -> bool:
        handle = self._take()
        return handle is not None and await self._waiter.release(handle)

    async def wait_lost(self) -> None:
        if self._handle is not None:
            await self._waiter.run(lib.start_watch, self._handle)


def end_of_body(hold: Hold, error, on_lost: str) -> None:
    """Releases after a body that has raised `error`, or None. The error of the body always wins."""
    if hold.released:
        return
    try:
        held = hold.release()
    except Error as failed:
        if error is None:
            raise
        logger.warning("%s", failed)
        return
    report_loss(hold, held, error, on_lost)


def report_loss(hold, held: bool, error, on_lost: str) -> None:
    if held:
        return
    lost = hold._lost_error()
    if error is None and on_lost == "raise":
        raise lost
    logger.warning("%s", lost)


class LossGuard:
    """Cancels the task that holds a lock when it is lost, as asyncio.timeout() does at its end."""

    def __init__(self, hold: AsyncHold) -> None:
        self._task = asyncio.current_task()
        self._waiter = hold._waiter
        self._before = self._cancellations()
        self._fired = False
        self._operation, self._future = self._waiter.start(lib.start_watch, hold._handle)
        self._future.add_done_callback(self._on_done)

    def _cancellations(self) -> int:
        return self._task.cancelling() if sys.version_info >= (3, 11) else 0

    def _on_done(self, future: asyncio.Future) -> None:
        if not future.cancelled() and self._task is not None:
            self._fired = True
            self._task.cancel()

    def end(self, error) -> bool:
        """True: the cancellation `error` is this guard's alone, and is undone."""
        task, self._task = self._task, None
        self._waiter.withdraw(self._operation, self._future)
        self._future.cancel()
        if not self._fired:
            return False
        others = task.uncancel() > self._before if sys.version_info >= (3, 11) else False
        return isinstance(error, asyncio.CancelledError) and not others
