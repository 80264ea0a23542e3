"""Locks, Lock and the holds."""

import asyncio
import ctypes
import enum
import math
import threading

from . import _native, _waiting
from ._errors import Error, InvalidArgument, LockLost
from ._holds import AsyncHold, Hold, LossGuard, end_of_body, report_loss
from ._native import checked, lib, milliseconds, text_bytes
from ._waiting import logger, owners

FOREVER = math.inf
WATCHDOG = math.inf


class LockType(enum.Enum):
    """Who may hold a lock at the same time; docs/guarantees.md has the table."""

    REENTRANT = 1
    FAIR = 2
    READ = 3
    WRITE = 4
    FENCED = 5


def check_on_lost(on_lost: str) -> None:
    if on_lost not in ("raise", "report"):
        raise InvalidArgument(f"unknown on_lost {on_lost!r}; expected 'raise' or 'report'")


def cache_milliseconds(cache) -> int:
    if not isinstance(cache, str):
        return milliseconds(cache)
    if cache != "adaptive":
        raise InvalidArgument(f"unknown cache {cache!r}; expected a time, or 'adaptive'")
    return _native.CACHE_ADAPTIVE


def terms_of(*, type, wait, lease, hold_for, held_at_most, lock_delay, cache, fenced) -> dict:
    """The fields of a latchkey_request that are given."""
    if type is not None and not isinstance(type, LockType):
        raise InvalidArgument(f"unknown lock type {type!r}; expected a latchkey.LockType")
    terms = {
        "wait_ms": milliseconds(wait),
        "lease_ms": milliseconds(lease),
        "hold_for_ms": milliseconds(hold_for),
        "held_at_most_ms": milliseconds(held_at_most),
        "lock_delay_ms": milliseconds(lock_delay),
        "cache_ms": cache_milliseconds(cache),
    }
    terms = {name: value for name, value in terms.items() if value != _native.UNSET}
    if type is not None:
        terms["type"] = type.value
    if fenced:
        terms["fenced"] = 1
    return terms


class Lock:
    """How a lock, several locks together or a semaphore is taken. Any number of threads and tasks may
    use one at once, also one within the other."""

    def __init__(self, locks: "Locks", keys: tuple, terms: dict, on_lost: str) -> None:
        check_on_lost(on_lost)
        if not keys:
            raise InvalidArgument("a lock has at least one key")
        self._locks = locks
        self._keys = keys
        self._terms = terms
        self._on_lost = on_lost
        self._entered: dict = {}  # the holds of `with`, by their thread or task, innermost last

    def acquire(self) -> Hold:
        request = _native.request_of(self._keys, owners.of_thread(), self._terms)
        return Hold(self._locks._waiters.acquire(request), self._locks)

    async def acquire_async(self) -> AsyncHold:
        task = asyncio.current_task()
        request = _native.request_of(self._keys, owners.of_task(task), self._terms)
        waiter = self._locks._waiters.of_running_loop()
        _, handle = await waiter.run(lib.start_acquire, ctypes.byref(request))
        return AsyncHold(handle, self._locks)

    def _push(self, holder, entry) -> None:
        self._entered.setdefault(holder, []).append(entry)

    def _pop(self, holder):
        entries = self._entered[holder]
        entry = entries.pop()
        if not entries:
            del self._entered[holder]
        return entry

    def __enter__(self) -> Hold:
        hold = self.acquire()
        self._push(threading.get_ident(), hold)
        return hold

    def __exit__(self, kind, error, trace) -> None:
        end_of_body(self._pop(threading.get_ident()), error, self._on_lost)

    async def __aenter__(self) -> AsyncHold:
        hold = await self.acquire_async()
        guard = LossGuard(hold) if self._on_lost == "raise" else None
        self._push(asyncio.current_task(), (hold, guard))
        return hold

    async def __aexit__(self, kind, error, trace) -> None:
        hold, guard = self._pop(asyncio.current_task())
        lost = hold._lost_error() if guard is not None and guard.end(error) else None
        if not hold.released:
            await self._release(hold, lost or error)
        if lost is not None:
            raise lost from error

    async def _release(self, hold: AsyncHold, error) -> None:
        try:
            held = await hold.release()
        except Error as failed:
            if error is None:
                raise
            logger.warning("%s", failed)
            return
        if not isinstance(error, LockLost):
            report_loss(hold, held, error, self._on_lost)


class Locks:
    """A connection to what keeps the locks, with the key, type and terms of nothing yet. Thread-safe."""

    def __init__(
        self,
        uri: str,
        *,
        prefix: str = "",
        watchdog=None,
        command_timeout=None,
        unavailable_after=None,
        allow_down: bool = False,
    ) -> None:
        self._options = _native.new_options(
            prefix=prefix,
            watchdog=watchdog,
            command_timeout=command_timeout,
            unavailable_after=unavailable_after,
            allow_down=allow_down,
        )
        self._policies = None
        self._adopt(checked(lib.open, text_bytes(uri, "a URI"), ctypes.byref(self._options)))

    @classmethod
    def from_policies(cls, file, **options) -> "Locks":
        from ._policies import PolicyFile

        return PolicyFile(file, options).default

    def _adopt(self, handle: int) -> None:
        self._handle = handle
        self._waiters = _waiting.Waiters(handle)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            lib.locks_free(handle)

    def lock(
        self,
        *keys: str,
        type=None,
        wait=None,
        lease=None,
        hold_for=None,
        held_at_most=None,
        lock_delay=None,
        cache=None,
        fenced: bool = False,
        on_lost: str = "raise",
    ) -> Lock:
        terms = terms_of(
            type=type,
            wait=wait,
            lease=lease,
            hold_for=hold_for,
            held_at_most=held_at_most,
            lock_delay=lock_delay,
            cache=cache,
            fenced=fenced,
        )
        return Lock(self, keys, terms, on_lost)

    def semaphore(
        self, key: str, *, permits: int, take: int = 1, wait=None, lease=None, on_lost: str = "raise"
    ) -> Lock:
        terms = {"total": permits, "permits": take}
        for name, time in (("wait_ms", wait), ("lease_ms", lease)):
            if time is not None:
                terms[name] = milliseconds(time)
        return Lock(self, (key,), terms, on_lost)

    def locked(self, key=None, **terms):
        from ._decorator import locked

        return locked(key, locks=self, **terms)

    def force_release(self, key: str) -> bool:
        return checked(lib.force_release, self._handle, text_bytes(key, "a key")) == 1

    def close(self, drain=0) -> None:
        others = self._policies.all() if self._policies is not None else [self]
        for each in others:
            lib.close(each._handle, milliseconds(drain))
            each._waiters.close()

    def __enter__(self) -> "Locks":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.close()
