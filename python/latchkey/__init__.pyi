"""Locks across threads, processes, machines and languages. docs/python.md describes them.

A time is a number of seconds or a timedelta; None: the default. A lock waits for 3 s and is renewed
until it is released; a decorated call has a lease of 30 s. Each acquire may raise LockTimeout,
WouldDeadlock, Closed, BackendUnavailable, BackendRefused, InvalidKey and InvalidArgument.
"""

import enum
import os
from collections.abc import Callable, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Literal, Optional, TypeVar, Union

__version__: str
__all__: list[str]

_Time = Union[float, timedelta]
_Function = TypeVar("_Function", bound=Callable[..., object])

FOREVER: float
"""A wait without a limit."""
WATCHDOG: float
"""A lease that is renewed for as long as the process lives."""

class Error(Exception):
    body_ran: bool

class LockTimeout(Error, TimeoutError): ...
class LockLost(Error): ...
class WouldDeadlock(Error): ...
class Closed(Error): ...
class BackendUnavailable(Error): ...
class ReleaseUnconfirmed(BackendUnavailable): ...
class BackendRefused(Error): ...
class InvalidKey(Error, ValueError): ...
class PolicyError(Error, ValueError): ...
class InvalidArgument(Error, ValueError): ...
class NotConfigured(Error): ...

class LockType(enum.Enum):
    REENTRANT = 1
    FAIR = 2
    READ = 3
    WRITE = 4
    FENCED = 5

class Hold:
    """A lock that a thread holds. Any thread may use it, one at a time. `with hold:` releases it."""

    key: str
    token: Optional[int]
    """A number larger than any given for the key before; None: the lock has none."""
    fence: Optional[str]
    """Key, type and token as one text, to be sent with requests to what the lock guards."""

    @property
    def released(self) -> bool: ...
    @property
    def lost(self) -> bool:
        """True from the deadline on, and once it is known that the server no longer has the hold.
        Compares clocks and does nothing else. True after the release, too."""

    @property
    def remaining(self) -> float:
        """The seconds until the deadline; 0 if the hold is lost."""

    def extend(self, lease: _Time) -> bool:
        """Moves the deadline to `lease` from now, never to an earlier time. False: the hold is lost."""

    def release(self) -> bool:
        """False: the hold had been lost. Raises ReleaseUnconfirmed; the hold has ended in any case."""

    def __enter__(self) -> Hold: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...

class AsyncHold:
    """A lock that a task holds. For the thread of its event loop. Its members are those of Hold."""

    key: str
    token: Optional[int]
    fence: Optional[str]

    @property
    def released(self) -> bool: ...
    @property
    def lost(self) -> bool: ...
    @property
    def remaining(self) -> float: ...
    async def extend(self, lease: _Time) -> bool: ...
    async def release(self) -> bool: ...
    async def wait_lost(self) -> None:
        """Returns when the hold is lost."""

class Lock:
    """How a lock, several locks together or a semaphore is taken. Any number of threads and tasks may
    use one at once, also one within the other.

    A hold that was lost raises LockLost at the end of a body that has raised nothing; in asyncio the
    loss cancels the body. `on_lost="report"` logs a warning instead.
    """

    def acquire(self) -> Hold: ...
    async def acquire_async(self) -> AsyncHold: ...
    def __enter__(self) -> Hold: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...
    async def __aenter__(self) -> AsyncHold: ...
    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...

class Locks:
    """One connection to what keeps the locks. Thread-safe, and for any number of event loops."""

    def __init__(
        self,
        uri: str,
        *,
        prefix: str = ...,
        watchdog: Optional[_Time] = ...,
        command_timeout: Optional[_Time] = ...,
        unavailable_after: Optional[_Time] = ...,
        allow_down: bool = ...,
    ) -> None:
        """Connects before it returns. Raises InvalidArgument, BackendUnavailable or BackendRefused."""

    @classmethod
    def from_policies(
        cls,
        file: Union[str, os.PathLike[str]],
        *,
        prefix: str = ...,
        watchdog: Optional[_Time] = ...,
        command_timeout: Optional[_Time] = ...,
        unavailable_after: Optional[_Time] = ...,
        allow_down: bool = ...,
    ) -> Locks:
        """The default backend of a policy file, whose policies @locked then follows. Raises
        PolicyError with all errors of the file."""

    def lock(
        self,
        *keys: str,
        type: Optional[LockType] = ...,
        wait: Optional[_Time] = ...,
        lease: Optional[_Time] = ...,
        hold_for: Optional[_Time] = ...,
        held_at_most: Optional[_Time] = ...,
        lock_delay: Optional[_Time] = ...,
        cache: Union[_Time, Literal["adaptive"], None] = ...,
        fenced: bool = ...,
        on_lost: str = ...,
    ) -> Lock: ...
    def semaphore(
        self,
        key: str,
        *,
        permits: int,
        take: int = ...,
        wait: Optional[_Time] = ...,
        lease: Optional[_Time] = ...,
        on_lost: str = ...,
    ) -> Lock:
        """A semaphore with so many permits, of which each acquire takes `take`."""

    def locked(
        self, key: Union[str, Iterable[str], None] = ..., **terms: object
    ) -> Callable[[_Function], _Function]:
        """As latchkey.locked, with these Locks."""

    def force_release(self, key: str) -> bool:
        """Ends every hold of the key, whoever the holders are. False: nobody held it."""

    def close(self, drain: _Time = ...) -> None:
        """Ends waits with Closed, gives holders `drain` to release, and releases what they still hold."""

    def __enter__(self) -> Locks: ...
    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None: ...

def install(locks: Locks) -> None:
    """Makes every @locked without locks= use these. Once for each process."""

def install_from(
    file: Union[str, os.PathLike[str]],
    *,
    prefix: str = ...,
    watchdog: Optional[_Time] = ...,
    command_timeout: Optional[_Time] = ...,
    unavailable_after: Optional[_Time] = ...,
    allow_down: bool = ...,
) -> Locks:
    """install(Locks.from_policies(file, ...)), which it returns."""

def locked(
    key: Union[str, Iterable[str], None] = ...,
    *,
    policy: Optional[str] = ...,
    type: Optional[LockType] = ...,
    wait: Optional[_Time] = ...,
    lease: Optional[_Time] = ...,
    hold_for: Optional[_Time] = ...,
    held_at_most: Optional[_Time] = ...,
    lock_delay: Optional[_Time] = ...,
    cache: Union[_Time, Literal["adaptive"], None] = ...,
    fenced: bool = ...,
    permits: Optional[int] = ...,
    on_timeout: Optional[str] = ...,
    on_unavailable: Optional[str] = ...,
    on_lost: Optional[str] = ...,
    on_unconfirmed_release: Optional[str] = ...,
    locks: Optional[Locks] = ...,
) -> Callable[[_Function], _Function]:
    """Decorates a function or a coroutine function, whose calls hold the lock of their key: a template
    over the parameters, or several. `policy` is a named policy of the file, or the "Class.method"
    whose rules apply. A call that is skipped returns None."""

def current_hold() -> Union[Hold, AsyncHold, None]:
    """The hold of the innermost decorated call that runs here."""
