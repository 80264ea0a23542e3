"""Locks across threads, processes, machines and languages, on the protocol of Redisson. docs/python.md."""

from ._decorator import current_hold, install, install_from, locked
from ._errors import (
    BackendRefused,
    BackendUnavailable,
    Closed,
    Error,
    InvalidArgument,
    InvalidKey,
    LockLost,
    LockTimeout,
    NotConfigured,
    PolicyError,
    ReleaseUnconfirmed,
    WouldDeadlock,
)
from ._holds import AsyncHold, Hold
from ._locks import FOREVER, WATCHDOG, Lock, Locks, LockType
from ._native import lib as _lib

__version__ = _lib.version().decode()
__all__ = [
    "AsyncHold",
    "BackendRefused",
    "BackendUnavailable",
    "Closed",
    "Error",
    "FOREVER",
    "Hold",
    "InvalidArgument",
    "InvalidKey",
    "Lock",
    "LockLost",
    "LockTimeout",
    "LockType",
    "Locks",
    "NotConfigured",
    "PolicyError",
    "ReleaseUnconfirmed",
    "WATCHDOG",
    "WouldDeadlock",
    "current_hold",
    "install",
    "install_from",
    "locked",
]
