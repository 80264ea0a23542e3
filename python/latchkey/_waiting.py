"""How operations of the C interface are waited for: by an asyncio event loop, or by the main thread."""

import asyncio
import ctypes
import logging
import os
import select
import threading
import weakref

from ._errors import LockTimeout
from ._native import checked, finish, lib

logger = logging.getLogger("latchkey")


class _Owners:
    """The owner of sync code is its thread, that of a coroutine its task."""

    def __init__(self) -> None:
        self._of_thread = threading.local()
        self._of_tasks: "weakref.WeakKeyDictionary[asyncio.Task, int]" = weakref.WeakKeyDictionary()

    def of_thread(self) -> int:
        owner = getattr(self._of_thread, "owner", None)
        if owner is None:
            owner = self._of_thread.owner = lib.owner_new()
        return owner

    def of_task(self, task: asyncio.Task) -> int:
        owner = self._of_tasks.get(task)
        if owner is None:
            owner = self._of_tasks[task] = lib.owner_new()
        return owner


owners = _Owners()


class _NativeLoop:
    """A latchkey_loop. That of a parent process is left alone after a fork."""

    def __init__(self, locks_handle: int) -> None:
        self.handle = checked(lib.loop_new, locks_handle)
        self.descriptor = lib.loop_descriptor(self.handle)

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle is not None:
            lib.loop_free(handle)


class MainThreadWaiter:
    """Waits in poll(), which a signal interrupts: so Ctrl-C ends the wait for a lock, and withdraws it."""

    def __init__(self, locks_handle: int) -> None:
        self._loop = _NativeLoop(locks_handle)
        self._poll = select.poll()
        self._poll.register(self._loop.descriptor, select.POLLIN)
        self._ended: set = set()

    def acquire(self, request) -> int:
        operation = checked(lib.start_acquire, self._loop.handle, ctypes.byref(request), None)
        try:
            while True:
                ended = lib.loop_dispatch(self._loop.handle)
                if ended is not None:
                    self._ended.add(ended)  # perhaps that of a call which a signal's handler made
                elif operation in self._ended:
                    break
                else:
                    self._poll.poll()
        except BaseException:
            self._ended.discard(operation)
            lib.operation_cancel(operation)
            raise
        self._ended.remove(operation)
        return finish(operation)[1]


class TaskWaiter:
    """Waits in one asyncio event loop, by its one descriptor. Used on the loop's thread."""

    def __init__(self, locks_handle: int, loop: asyncio.AbstractEventLoop, closing: bool) -> None:
        self._native = _NativeLoop(locks_handle)
        self._loop = weakref.ref(loop)
        self._futures: dict = {}
        self._closing = closing  # it ends once nothing is under way
        loop.add_reader(self._native.descriptor, self._dispatch)

    def start(self, function, *arguments):
        """Starts an operation. The future of its result, and what identifies it for `withdraw`."""
        operation = checked(function, self._native.handle, *arguments, None)
        loop = self._loop()
        future = loop.create_future()
        self._futures[operation] = future
        self._dispatch()  # what has ended at once needs no turn of the loop
        return operation, future

    def withdraw(self, operation: int, future: asyncio.Future) -> None:
        """The caller does not want the result any more; a lock that was granted is given back."""
        if self._futures.get(operation) is future:  # and not another one at the same address
            del self._futures[operation]
            lib.operation_cancel(operation)
        elif future.done() and not future.cancelled() and future.exception() is None:
            self._give_back(future.result()[1])

    async def run(self, function, *arguments):
        operation, future = self.start(function, *arguments)
        try:
            return await future
        except asyncio.CancelledError:
            self.withdraw(operation, future)
            raise

    async def release(self, hold_handle: int) -> bool:
        """A task that is cancelled meanwhile leaves: the release happens all the same."""
        _, future = self.start(lib.start_release, hold_handle)
        return (await future)[0] == 1

    def close(self) -> None:
        """The loop waits no longer once the operations under way have ended."""
        self._closing = True
        self._end_if_idle()

    @property
    def closed(self) -> bool:
        return self._native.handle is None

    def _dispatch(self) -> None:
        native = self._native
        while native.handle is not None:
            operation = lib.loop_dispatch(native.handle)
            if operation is None:
                break
            self._end(operation, self._futures.pop(operation))
        if self._closing:
            self._end_if_idle()

    def _end(self, operation: int, future) -> None:
        wanted = future is not None and not future.cancelled()
        try:
            result = finish(operation)
        except Exception as error:
            if wanted:
                future.set_exception(error)
            elif not isinstance(error, LockTimeout):
                logger.warning("%s", error)  # nobody else learns of it
            return
        if wanted:
            future.set_result(result)
        else:
            self._give_back(result[1])

    def _give_back(self, hold_handle) -> None:
        if hold_handle is not None:
            self._futures[checked(lib.start_release, self._native.handle, hold_handle, None)] = None

    def _end_if_idle(self) -> None:
        loop = self._loop()
        if not self._futures and self._native.handle is not None and loop is not None:
            if not loop.is_closed():
                loop.remove_reader(self._native.descriptor)
            lib.loop_free(self._native.handle)
            self._native.handle = None


class Waiters:
    """The waiters of one Locks."""

    _all: "weakref.WeakSet[Waiters]" = weakref.WeakSet()

    def __init__(self, locks_handle: int) -> None:
        self._handle = locks_handle
        self._closed = False
        self._forget()
        Waiters._all.add(self)

    def _forget(self) -> None:
        self._main = None
        self._of_loops: "weakref.WeakKeyDictionary" = weakref.WeakKeyDictionary()

    def acquire(self, request) -> int:
        """The handle of a hold. Blocks the calling thread."""
        if threading.current_thread() is not threading.main_thread():
            return checked(lib.acquire, self._handle, ctypes.byref(request))
        if self._main is None:
            self._main = MainThreadWaiter(self._handle)
        return self._main.acquire(request)

    def of_running_loop(self) -> TaskWaiter:
        loop = asyncio.get_running_loop()
        waiter = self._of_loops.get(loop)
        if waiter is None or waiter.closed:
            waiter = self._of_loops[loop] = TaskWaiter(self._handle, loop, self._closed)
        return waiter

    def close(self) -> None:
        self._closed = True
        for loop, waiter in list(self._of_loops.items()):
            if not loop.is_closed():
                loop.call_soon_threadsafe(waiter.close)

    @classmethod
    def _after_fork(cls) -> None:
        for each in list(cls._all):
            each._forget()


os.register_at_fork(after_in_child=Waiters._after_fork)
