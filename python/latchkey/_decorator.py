"""The decorator @locked, and the Locks that it uses."""

import contextlib
import contextvars
import functools
import inspect

from ._errors import (
    BackendUnavailable,
    Error,
    InvalidArgument,
    InvalidKey,
    LockTimeout,
    NotConfigured,
    PolicyError,
    ReleaseUnconfirmed,
)
from ._keys import Key
from ._locks import Lock, Locks, terms_of
from ._policies import Terms
from ._waiting import logger

DEFAULT_LEASE_MS = 30_000
_WORDS = {
    "on_timeout": ("raise", "skip"),
    "on_unavailable": ("raise", "skip"),
    "on_lost": ("raise", "report"),
    "on_unconfirmed_release": ("raise", "report"),
}

_installed: "Locks | None" = None
_current: contextvars.ContextVar = contextvars.ContextVar("latchkey_current_hold", default=None)


def install(locks: Locks) -> None:
    """Makes every @locked without locks= use these."""
    global _installed
    if _installed is not None and _installed is not locks:
        raise InvalidArgument(
            "other Locks are installed: calls under them may hold keys that these would grant again"
        )
    _installed = locks


def install_from(file, **options) -> Locks:
    """As install(Locks.from_policies(file, ...))."""
    locks = Locks.from_policies(file, **options)
    install(locks)
    return locks


def current_hold():
    """The hold of the innermost decorated call that runs here; None: there is none."""
    return _current.get()


class _Plan:
    """How the calls of one function are locked with one Locks."""

    def __init__(self, locks: Locks, terms: Terms, signature: inspect.Signature) -> None:
        self.base = locks
        self.unlocked = terms.unlocked
        policies = locks._policies
        self._locks = policies.backend(terms.backend) if terms.backend is not None else locks
        self._keys = [Key(template, signature) for template in terms.keys]
        self._request = {"lease_ms": DEFAULT_LEASE_MS, **terms.request}
        self.strategies = {name: "raise" for name in _WORDS}
        self.strategies.update(terms.strategies)
        self._signature = signature

    def lock(self, args: tuple, kwargs: dict) -> Lock:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        keys = tuple(text for key in self._keys for text in key.render(bound.arguments))
        if not keys:
            raise InvalidKey(f"key '{self._keys[0].template}': [*] has no elements, so there is no key")
        return Lock(self._locks, keys, self._request, self.strategies["on_lost"])

    def after_failure(self, error: Error) -> bool:
        """After an acquire that has failed: True: the body runs without the lock, False: not at all.
        Raises the error if that is the strategy."""
        timeout = isinstance(error, LockTimeout)
        strategy = self.strategies["on_timeout" if timeout else "on_unavailable"]
        if strategy == "raise":
            raise error
        logger.warning("%s", error)
        return strategy == "run_unlocked_dangerously"

    @contextlib.contextmanager
    def body(self, hold):
        """Around the body: current_hold() is its hold."""
        token = _current.set(hold)
        try:
            yield
        finally:
            _current.reset(token)

    @contextlib.contextmanager
    def end(self, error):
        """Around the end of the lock after the body, which has raised `error`."""
        try:
            yield
        except ReleaseUnconfirmed as failed:
            failed.body_ran = True
            if error is not None or self.strategies["on_unconfirmed_release"] == "raise":
                raise
            logger.warning("%s", failed)
        except Error as failed:
            failed.body_ran = True
            raise


class _Site:
    """One decorated function."""

    def __init__(self, function, policy, code: Terms, locks) -> None:
        self._signature = inspect.signature(function)
        self.method = f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "")
        self._policy = policy
        if policy is not None and ("." in policy or "::" in policy):
            self.method, self._policy = policy, None
        self.method = self.method.replace(".", "::")
        self._is_by_file = policy is not None
        self._code = code
        self._locks = locks
        self._plan: "_Plan | None" = None
        for template in code.keys:
            Key(template, self._signature)  # a wrong template is an error where it is written

    def plan(self) -> _Plan:
        locks = self._locks if self._locks is not None else _installed
        if locks is None:
            raise NotConfigured(
                f"{self.method} is locked by no Locks: call latchkey.install(latchkey.Locks(uri)) first"
            )
        plan = self._plan
        if plan is None or plan.base is not locks:
            plan = self._plan = self._new_plan(locks)
        return plan

    def _new_plan(self, locks: Locks) -> _Plan:
        policies = locks._policies
        if policies is not None:
            terms = policies.find(self.method, self._policy, self._code)
            if not terms.keys and not terms.unlocked:
                policies.refuse_without_key(self.method)
        elif self._is_by_file:
            raise PolicyError(
                f"{self.method} takes its lock from a policy file: use Locks.from_policies(file)"
            )
        else:
            terms = self._code
        return _Plan(locks, terms, self._signature)


def _sync_wrapper(function, site: _Site):
    @functools.wraps(function)
    def call(*args, **kwargs):
        plan = site.plan()
        if plan.unlocked:
            return function(*args, **kwargs)
        lock = plan.lock(args, kwargs)
        try:
            hold = lock.__enter__()
        except (LockTimeout, BackendUnavailable) as error:
            return function(*args, **kwargs) if plan.after_failure(error) else None
        try:
            with plan.body(hold):
                result = function(*args, **kwargs)
        except BaseException as error:
            with plan.end(error):
                lock.__exit__(type(error), error, error.__traceback__)
            raise
        with plan.end(None):
            lock.__exit__(None, None, None)
        return result

    return call


def _async_wrapper(function, site: _Site):
    @functools.wraps(function)
    async def call(*args, **kwargs):
        plan = site.plan()
        if plan.unlocked:
            return await function(*args, **kwargs)
        lock = plan.lock(args, kwargs)
        try:
            hold = await lock.__aenter__()
        except (LockTimeout, BackendUnavailable) as error:
            return await function(*args, **kwargs) if plan.after_failure(error) else None
        try:
            with plan.body(hold):
                result = await function(*args, **kwargs)
        except BaseException as error:
            with plan.end(error):
                await lock.__aexit__(type(error), error, error.__traceback__)
            raise
        with plan.end(None):
            await lock.__aexit__(None, None, None)
        return result

    return call


def locked(
    key=None,
    *,
    policy=None,
    type=None,
    wait=None,
    lease=None,
    hold_for=None,
    held_at_most=None,
    lock_delay=None,
    cache=None,
    fenced=False,
    permits=None,
    on_timeout=None,
    on_unavailable=None,
    on_lost=None,
    on_unconfirmed_release=None,
    locks=None,
):
    """Decorates a function, or a coroutine function, whose calls hold the lock of their key."""
    if (key is None) == (policy is None):
        raise InvalidArgument("@locked takes a key or policy=, and not both")
    keys = [] if key is None else [key] if isinstance(key, str) else list(key)
    request = terms_of(
        type=type,
        wait=wait,
        lease=lease,
        hold_for=hold_for,
        held_at_most=held_at_most,
        lock_delay=lock_delay,
        cache=cache,
        fenced=fenced,
    )
    if permits is not None:
        request["total"] = permits
    chosen = {
        "on_timeout": on_timeout,
        "on_unavailable": on_unavailable,
        "on_lost": on_lost,
        "on_unconfirmed_release": on_unconfirmed_release,
    }
    strategies = {name: word for name, word in chosen.items() if word is not None}
    for name, word in strategies.items():
        if word not in _WORDS[name]:
            expected = " or ".join(repr(each) for each in _WORDS[name])
            raise InvalidArgument(f"unknown {name} {word!r}; expected {expected}")
    code = Terms(keys, request, strategies)

    def decorate(function):
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidArgument(
                f"{function.__qualname__} is a generator, whose body runs after the call: take the lock "
                "within it, by `with locks.lock(...)`"
            )
        site = _Site(function, policy, code, locks)
        wrapper = _async_wrapper if inspect.iscoroutinefunction(function) else _sync_wrapper
        return wrapper(function, site)

    return decorate
