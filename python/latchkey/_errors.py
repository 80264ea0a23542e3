"""The exceptions of latchkey."""


class Error(Exception):
    """The base class: `except latchkey.Error` catches all of them.

    body_ran: the error left a decorated call whose body ran, so repeating the call repeats its work.
    """

    body_ran = False


class LockTimeout(Error, TimeoutError):
    """The lock was busy for the whole wait."""


class LockLost(Error):
    """The hold ended before it was released: others may have held the lock meanwhile."""


class WouldDeadlock(Error):
    """This thread or task holds the key in a way in which the lock could never be granted."""


class Closed(Error):
    """The Locks were closed before or during the call."""


class BackendUnavailable(Error):
    """The server gave no definite reply: the lock may or may not be free."""


class ReleaseUnconfirmed(BackendUnavailable):
    """The server did not confirm a release, after the work was done."""


class BackendRefused(Error):
    """The server rejected the request."""


class InvalidKey(Error, ValueError):
    """A key, or a key template, that cannot be used."""


class PolicyError(Error, ValueError):
    """An error in a policy file, or all errors of the file, a line for each."""


class InvalidArgument(Error, ValueError):
    """A malformed URI, an option out of range, or another argument that cannot be used."""


class NotConfigured(Error):
    """A decorated call before latchkey.install()."""


class _OutOfMemory(Error, MemoryError):
    """Memory or a descriptor was not to be had."""


# By the latchkey_code of latchkey.h.
BY_CODE = {
    1: LockTimeout,
    2: LockLost,
    3: WouldDeadlock,
    4: Closed,
    5: BackendUnavailable,
    6: ReleaseUnconfirmed,
    7: BackendRefused,
    8: InvalidKey,
    9: PolicyError,
    10: InvalidArgument,
    11: _OutOfMemory,
    12: Error,
}
