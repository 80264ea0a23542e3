"""Policy files: docs/policies.md."""

import ctypes
import os
import threading

from . import _native
from ._errors import PolicyError
from ._locks import Locks
from ._native import checked, lib, text_bytes

# The numbers of latchkey_strategy, in the words of the file.
STRATEGIES = {1: "raise", 2: "skip", 3: "run_unlocked_dangerously", 4: "report"}
NUMBERS = {word: number for number, word in STRATEGIES.items()}
SETTINGS = ("on_timeout", "on_unavailable", "on_lost", "on_unconfirmed_release")
_TERMS = (
    "type",
    "wait_ms",
    "lease_ms",
    "hold_for_ms",
    "held_at_most_ms",
    "lock_delay_ms",
    "cache_ms",
    "total",
    "permits",
    "fenced",
)


class Terms:
    """What the code, or the file and the code, say about one method."""

    def __init__(self, keys: list, request: dict, strategies: dict) -> None:
        self.keys = keys
        self.request = request
        self.strategies = strategies
        self.backend = None
        self.unlocked = False


class PolicyFile:
    """A policy file and the Locks of its backends, which are connected when they are first needed."""

    def __init__(self, file, options: dict) -> None:
        self._path = os.fspath(file)
        self._handle = checked(lib.policies_read, text_bytes(self._path, "the name of a file"))
        self._options = options
        self._mutex = threading.Lock()
        self._backends: dict = {}
        self.default = self.backend(None)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            lib.policies_free(handle)

    def all(self) -> list:
        with self._mutex:
            return list(self._backends.values())

    def backend(self, name: "str | None") -> Locks:
        with self._mutex:
            found = self._backends.get(name)
            if found is None:
                found = self._backends[name] = self._open(name)
            return found

    def _open(self, name: "str | None") -> Locks:
        locks = Locks.__new__(Locks)
        locks._policies = self
        locks._options = _native.new_options(**self._options)
        raw = None if name is None else name.encode()
        options = ctypes.byref(locks._options)
        locks._adopt(checked(lib.policies_open, self._handle, raw, options))
        return locks

    def find(self, method: str, policy: "str | None", code: Terms) -> Terms:
        """The terms of a method: what the file says, and the code where that is silent."""
        given = _native.Policy(request=_native.new_request(code.request))
        for name, word in code.strategies.items():
            setattr(given, name, NUMBERS[word])
        found = checked(
            lib.policies_find,
            self._handle,
            method.encode(),
            None if policy is None else policy.encode(),
            ctypes.byref(given),
        )
        try:
            return self._terms_of(found.contents, code)
        finally:
            lib.policy_free(found)

    @staticmethod
    def _terms_of(policy: _native.Policy, code: Terms) -> Terms:
        request = {name: getattr(policy.request, name) for name in _TERMS}
        unset = (_native.UNSET, 0)
        request = {
            name: value
            for name, value in request.items()
            if value != unset[name in ("type", "fenced")]
        }
        strategies = {
            name: STRATEGIES[getattr(policy, name)] for name in SETTINGS if getattr(policy, name)
        }
        keys = [policy.keys[index].decode() for index in range(policy.key_count)]
        terms = Terms(keys or code.keys, request, strategies)
        terms.backend = policy.backend.decode() if policy.backend is not None else None
        terms.unlocked = policy.unlocked != 0
        return terms

    def refuse_without_key(self, method: str) -> None:
        raise PolicyError(
            f"{self._path}: no rule gives {method} a key: write rules:, and below it "
            f"{method}: with key: and a template"
        )
