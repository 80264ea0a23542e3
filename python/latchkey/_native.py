"""The functions of liblatchkey_c.so, which latchkey/latchkey.h describes, by ctypes."""

import ctypes
import math
import os
import pathlib
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from datetime import timedelta

from . import _errors

UNSET = -(2**63)
ENDLESS = 2**63 - 1
CACHE_ADAPTIVE = -(2**31)
MAX_KEY = 1024


class Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("prefix", c_char_p),
        ("watchdog_ms", c_int64),
        ("command_timeout_ms", c_int64),
        ("unavailable_after_ms", c_int64),
        ("allow_down", c_int),
    ]


class Request(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("keys", POINTER(c_char_p)),
        ("key_count", c_size_t),
        ("owner", c_uint64),
        ("type", c_int),
        ("wait_ms", c_int64),
        ("lease_ms", c_int64),
        ("hold_for_ms", c_int64),
        ("held_at_most_ms", c_int64),
        ("lock_delay_ms", c_int64),
        ("cache_ms", c_int64),
        ("total", c_int64),
        ("permits", c_int64),
        ("fenced", c_int),
    ]


class Step(Structure):
    _fields_ = [("kind", c_int), ("text", c_char_p), ("number", c_uint64)]


class Path(Structure):
    _fields_ = [
        ("text", c_char_p),
        ("argument", c_char_p),
        ("position", c_uint64),
        ("steps", POINTER(Step)),
        ("step_count", c_size_t),
        ("use", c_int),
    ]


class Value(Structure):
    _fields_ = [
        ("kind", c_int),
        ("text", c_char_p),
        ("length", c_size_t),
        ("magnitude", c_uint64),
        ("negative", c_int),
    ]


class Policy(Structure):
    _fields_ = [
        ("request", Request),
        ("keys", POINTER(c_char_p)),
        ("key_count", c_size_t),
        ("backend", c_char_p),
        ("on_timeout", c_int),
        ("on_unavailable", c_int),
        ("on_lost", c_int),
        ("on_unconfirmed_release", c_int),
        ("unlocked", c_int),
    ]


# The kinds of steps, uses and values of latchkey.h.
MEMBER, INDEX, TEXT_INDEX, STAR = range(4)
USE_VALUE, USE_INTEGER, USE_SIZE = range(3)
ABSENT, NO_ELEMENT, TEXT, INTEGER = range(4)

_ERROR = POINTER(c_void_p)
_FUNCTIONS = {
    "version": (c_char_p, []),
    "error_code": (c_int, [c_void_p]),
    "error_message": (c_char_p, [c_void_p]),
    "error_free": (None, [c_void_p]),
    "open": (c_void_p, [c_char_p, POINTER(Options), _ERROR]),
    "close": (None, [c_void_p, c_int64]),
    "locks_free": (None, [c_void_p]),
    "owner_new": (c_uint64, []),
    "acquire": (c_void_p, [c_void_p, POINTER(Request), _ERROR]),
    "force_release": (c_int, [c_void_p, c_char_p, _ERROR]),
    "hold_key": (c_char_p, [c_void_p]),
    "hold_lost": (c_int, [c_void_p]),
    "hold_remaining_ms": (c_int64, [c_void_p]),
    "hold_token": (c_uint64, [c_void_p, c_size_t]),
    "hold_fence": (c_char_p, [c_void_p, c_size_t]),
    "hold_extend": (c_int, [c_void_p, c_int64, _ERROR]),
    "hold_release": (c_int, [c_void_p, _ERROR]),
    "loop_new": (c_void_p, [c_void_p, _ERROR]),
    "loop_descriptor": (c_int, [c_void_p]),
    "loop_dispatch": (c_void_p, [c_void_p]),
    "loop_free": (None, [c_void_p]),
    "start_acquire": (c_void_p, [c_void_p, POINTER(Request), c_void_p, _ERROR]),
    "start_extend": (c_void_p, [c_void_p, c_void_p, c_int64, c_void_p, _ERROR]),
    "start_release": (c_void_p, [c_void_p, c_void_p, c_void_p, _ERROR]),
    "start_watch": (c_void_p, [c_void_p, c_void_p, c_void_p, _ERROR]),
    "operation_cancel": (None, [c_void_p]),
    "operation_finish": (c_int, [c_void_p, POINTER(c_void_p), _ERROR]),
    "key_parse": (c_void_p, [c_char_p, _ERROR]),
    "key_paths": (POINTER(Path), [c_void_p, POINTER(c_size_t)]),
    "key_render": (c_int, [c_void_p, POINTER(Value), c_char_p, _ERROR]),
    "key_free": (None, [c_void_p]),
    "policies_read": (c_void_p, [c_char_p, _ERROR]),
    "policies_open": (c_void_p, [c_void_p, c_char_p, POINTER(Options), _ERROR]),
    "policies_find": (POINTER(Policy), [c_void_p, c_char_p, c_char_p, POINTER(Policy), _ERROR]),
    "policy_free": (None, [POINTER(Policy)]),
    "policies_free": (None, [c_void_p]),
}


class _Library:
    """The functions, without the prefix latchkey_. A call releases the interpreter's lock."""

    def __init__(self) -> None:
        beside = pathlib.Path(__file__).with_name("liblatchkey_c.so")
        library = ctypes.CDLL(os.environ.get("LATCHKEY_C_LIBRARY", str(beside)))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, "latchkey_" + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)


lib = _Library()


def raise_error(error: c_void_p) -> None:
    """Raises the error that a function has stored, and frees it."""
    code = lib.error_code(error)
    message = lib.error_message(error).decode("utf-8", "replace")
    lib.error_free(error)
    raise _errors.BY_CODE[code](message)


def checked(function, *arguments):
    """Calls a function whose last parameter is an error; its result, or the error as an exception."""
    error = c_void_p()
    result = function(*arguments, ctypes.byref(error))
    if error.value is not None:
        raise_error(error)
    return result


def milliseconds(seconds) -> int:
    """A time in seconds or as a timedelta, rounded up; None: not given; math.inf: without an end."""
    if seconds is None:
        return UNSET
    if isinstance(seconds, timedelta):
        return -(-seconds // timedelta(milliseconds=1))
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or math.isnan(seconds):
        raise TypeError(f"a time is a number of seconds or a timedelta, not {seconds!r}")
    return ENDLESS if seconds == math.inf else math.ceil(seconds * 1000)


def text_bytes(text: str, what: str) -> bytes:
    """For a C string, which cannot have a NUL within."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {text!r}")
    if "\0" in text:
        raise _errors.InvalidKey(f"{what} {text!r} has a NUL, which the C interface cannot pass on")
    return text.encode()


def new_options(
    *, prefix="", watchdog=None, command_timeout=None, unavailable_after=None, allow_down=False
) -> Options:
    return Options(
        size=ctypes.sizeof(Options),
        prefix=text_bytes(prefix, "the prefix"),
        watchdog_ms=milliseconds(watchdog),
        command_timeout_ms=milliseconds(command_timeout),
        unavailable_after_ms=milliseconds(unavailable_after),
        allow_down=allow_down,
    )


def new_request(terms: dict) -> Request:
    """A request with the fields of `terms`; all others are not given."""
    request = Request(
        size=ctypes.sizeof(Request),
        wait_ms=UNSET,
        lease_ms=UNSET,
        hold_for_ms=UNSET,
        held_at_most_ms=UNSET,
        lock_delay_ms=UNSET,
        cache_ms=UNSET,
        total=UNSET,
        permits=UNSET,
    )
    for name, value in terms.items():
        setattr(request, name, value)
    return request


def request_of(keys, owner: int, terms: dict) -> Request:
    request = new_request(terms)
    request.keys = (c_char_p * len(keys))(*[text_bytes(key, "a key") for key in keys])
    request.key_count = len(keys)
    request.owner = owner
    return request


def finish(operation: int):
    """The result of an operation that has ended, and the handle of its hold, if it is an acquire."""
    hold = c_void_p()
    result = checked(lib.operation_finish, operation, ctypes.byref(hold))
    return result, hold.value
