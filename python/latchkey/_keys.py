"""Key templates over Python values. latchkey's parser reads them, and its interpreter makes the key."""

import ctypes
import enum
import inspect
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone

from . import _native
from ._errors import InvalidKey
from ._native import MAX_KEY, Value, checked, lib

_ABSENT = object()
_NO_ELEMENT = object()


def _fraction(microseconds: int) -> str:
    return f".{microseconds:06d}".rstrip("0") if microseconds else ""


def _duration_text(length: timedelta) -> str:
    all_microseconds = length // timedelta(microseconds=1)
    seconds, rest = divmod(abs(all_microseconds), 1_000_000)
    return f"{'-' if all_microseconds < 0 else ''}{seconds}{_fraction(rest)}s"


def _instant_text(instant: datetime) -> str:
    utc = instant.astimezone(timezone.utc)
    return f"{utc.year:04d}{utc:%m%dT%H%M%S}{_fraction(utc.microsecond)}Z"


def _as_text(value) -> "str | bytes | None":
    """The text of values that have one, as docs/keys.md says of their C++ counterparts."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, uuid.UUID):
        return value.hex
    if isinstance(value, timedelta):
        return _duration_text(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return _instant_text(value)
    own = getattr(type(value), "__latchkey_key__", None)
    return own(value) if own is not None else None


def _why_no_key(value) -> str:
    if isinstance(value, float):
        return "a float, which makes no key: use an int or a str"
    if isinstance(value, (Mapping, Sequence)):
        return "a container, which makes no key: write [0], ['text'] or [*] after it"
    if isinstance(value, (datetime, date)):
        return "a time without a time zone, which makes no key: use an aware datetime"
    return (
        f"a {type(value).__name__}, which makes no key: name one of its attributes, or define "
        "__latchkey_key__(self) -> str in its class"
    )


class _Path:
    """One path of a template, as a reader of the arguments of a call."""

    def __init__(self, path: _native.Path, template: str) -> None:
        self.text = path.text.decode()
        self.argument = path.argument.decode() if path.argument is not None else None
        self.position = path.position
        self.use = path.use
        self._template = template
        steps = [path.steps[index] for index in range(path.step_count)]
        self._steps = [
            (step.kind, step.text.decode() if step.text is not None else step.number)
            for step in steps
        ]
        kinds = [step.kind for step in steps]
        self.star = kinds.index(_native.STAR) if _native.STAR in kinds else None

    def fail(self, sentence: str) -> None:
        raise InvalidKey(f"key '{self._template}': {self.text} {sentence}")

    def follow(self, value, begin: int, end: "int | None" = None):
        """The value after these steps; _ABSENT or _NO_ELEMENT if there is none."""
        for kind, what in self._steps[begin:end]:
            if value is None:
                return _ABSENT
            value = self._member(value, what) if kind == _native.MEMBER else _element(value, what)
            if value is _NO_ELEMENT:
                return value
        return _ABSENT if value is None else value

    def _member(self, value, name: str):
        try:
            return getattr(value, name)
        except AttributeError:
            hint = f"; write ['{name}']" if isinstance(value, Mapping) else ""
            self.fail(f"names '{name}', which a {type(value).__name__} does not have{hint}")

    def put(self, value, into: Value) -> None:
        """Stores a value as the interpreter takes it."""
        if value is _ABSENT or value is _NO_ELEMENT:
            into.kind = _native.ABSENT if value is _ABSENT else _native.NO_ELEMENT
            return
        if isinstance(value, enum.Enum) and not hasattr(type(value), "__latchkey_key__"):
            value = value.value
        if self.use == _native.USE_SIZE and not isinstance(value, str):
            if not hasattr(value, "__len__"):
                self.fail(f"has no size: it is a {type(value).__name__}")
            return self._put_integer(len(value), into)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._put_integer(value, into)
        text = _as_text(value)
        if text is None:
            self.fail("is " + _why_no_key(value))
        raw = text.encode("utf-8", "surrogateescape")
        into.kind = _native.TEXT
        into.text = raw  # ctypes keeps it alive
        into.length = len(raw)

    def _put_integer(self, number: int, into: Value) -> None:
        if abs(number) >= 2**64:
            self.fail("is an integer of more than 64 bits, which makes no key: use a str")
        into.kind = _native.INTEGER
        into.magnitude = abs(number)
        into.negative = number < 0


def _element(value, index):
    try:
        return value[index]
    except (IndexError, KeyError):
        return _NO_ELEMENT


class Key:
    """A template that fits the parameters of a function."""

    def __init__(self, template: str, signature: inspect.Signature) -> None:
        self.template = template
        self._handle = checked(lib.key_parse, _native.text_bytes(template, "a key template"))
        count = ctypes.c_size_t()
        paths = lib.key_paths(self._handle, ctypes.byref(count))
        self._paths = [_Path(paths[index], template) for index in range(count.value)]
        names = list(signature.parameters)
        counted = names[1:] if names[:1] in (["self"], ["cls"]) else names
        self._arguments = [self._argument_of(path, names, counted) for path in self._paths]
        self._star = next((path for path in self._paths if path.star is not None), None)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            lib.key_free(handle)

    @staticmethod
    def _argument_of(path: _Path, names: list, counted: list) -> str:
        if path.argument is None:
            if path.position < len(counted):
                return counted[path.position]
            path.fail(f"is no position: there are {len(counted)} parameters, counted from 0")
        if path.argument not in names:
            path.fail(f"names no parameter: there are {', '.join(names) or 'none'}")
        return path.argument

    def render(self, arguments: Mapping) -> list:
        """The key of a call; with [*] one for each element."""
        if self._star is None:
            return [self._render_one(arguments, None)]
        path, argument = self._star, arguments[self._arguments[self._paths.index(self._star)]]
        container = path.follow(argument, 0, path.star)
        if container is _ABSENT or container is _NO_ELEMENT:
            path.fail("has no value, so [*] has no elements")
        if isinstance(container, (str, bytes)) or not hasattr(container, "__iter__"):
            path.fail(f"is a {type(container).__name__}: [*] takes each element of a container")
        return [self._render_one(arguments, element) for element in container]

    def _render_one(self, arguments: Mapping, element) -> str:
        values = (Value * max(len(self._paths), 1))()
        for value, path, argument in zip(values, self._paths, self._arguments):
            if path.star is None:
                path.put(path.follow(arguments[argument], 0), value)
            else:
                path.put(path.follow(element, path.star + 1), value)
        out = ctypes.create_string_buffer(MAX_KEY + 1)
        length = checked(lib.key_render, self._handle, values, out)
        return out.raw[:length].decode("utf-8", "surrogateescape")
