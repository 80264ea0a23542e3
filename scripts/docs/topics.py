"""What the reference shows, and in which order: topics, their headers and names.

A header of include/latchkey that declares something public is in one topic or in INTERNAL;
`reference.py` fails for one that is in neither.
"""

from dataclasses import dataclass


@dataclass
class Topic:
    file: str
    title: str
    intro: str
    headers: dict[str, set[str] | None]  # None: all that the header declares


TOPICS = [
    Topic("macros", "Macros",
          "The macros of decorated methods. [Annotations](../annotations.md) explains them with "
          "examples. Each has a short name without `LATCHKEY_`, unless you define "
          "`LATCHKEY_NO_SHORT_MACROS`.",
          {"decorate/macros.hpp": None, "decorate/decorated.hpp": None,
           "decorate/once_per.hpp": None,
           "reflect/field_macros.hpp": {"LATCHKEY_FIELDS", "LATCHKEY_REFLECT"}}),
    Topic("locked", "LOCKED without macros",
          "What the macros stand for: the aspect that locks, its settings, its strategies, and "
          "the hold of the current call.",
          {"locked.hpp": None, "locked/options.hpp": None, "locked/scope.hpp": None,
           "strategy.hpp": None, "held.hpp": None, "completes_at_return.hpp": None}),
    Topic("annotations", "Annotations of C++26",
          "The header `<latchkey/annotations.hpp>`, for compilers with reflection. "
          "[Annotations](../annotations.md) shows them beside the macros.",
          {"annotations/values.hpp": None, "annotations/word.hpp": None,
           "annotations/proxy.hpp": None, "annotations/check.hpp": None}),
    Topic("locks", "Locks and holds",
          "Connections to a backend, locks, and holds, without decorated methods.",
          {"locks.hpp": None, "lock.hpp": None, "read_write_lock.hpp": None, "hold.hpp": None,
           "semaphore.hpp": None, "permits.hpp": None,
           "lock_type.hpp": None, "wait.hpp": None, "lease.hpp": None, "attempt.hpp": None,
           "owner.hpp": None, "options.hpp": None, "quorum.hpp": None, "leader.hpp": None,
           "once_per.hpp": None, "cron.hpp": None, "count_down_latch.hpp": None}),
    Topic("fencing", "Fencing",
          "Fences, and guards that refuse old ones. [Fencing](../fencing.md) says which to take.",
          {"fence.hpp": None, "fences/seen_fences.hpp": None, "fences/sql.hpp": None,
           "fences/postgresql.hpp": None, "fences/mysql.hpp": None, "fences/redis_script.hpp": None,
           "fences/redis.hpp": None, "fences/fenced_file.hpp": None}),
    Topic("administration", "Administration",
          "What a backend says about its locks. [Inspecting and force-releasing "
          "locks](../operate.md#inspecting-and-force-releasing-locks) shows how to use it.",
          {"lock_info.hpp": None, "list_page.hpp": None, "hold_id.hpp": None}),
    Topic("installation", "Installation and policies",
          "The locks that decorated calls use, and the file that changes their settings. "
          "[Policies](../policies.md) describes the file.",
          {"install.hpp": None, "default_locks.hpp": None, "policy.hpp": None,
           "registry.hpp": None, "version.hpp": None}),
    Topic("errors", "Errors",
          "All exceptions. [How an acquire ends](../guarantees.md#how-an-acquire-ends) says which "
          "call throws which.",
          {"error.hpp": None}),
    Topic("events", "Events",
          "Listeners and the events that they receive. [Events and metrics](../events.md) lists "
          "when each event happens.",
          {"listener.hpp": None, "listeners.hpp": None, "adapters/spdlog.hpp": None,
           "adapters/prometheus.hpp": None}),
    Topic("aspects", "Aspects and sites",
          "Code of your own around a body, and the places in the source where aspects are "
          "applied.",
          {"aspect.hpp": None, "aspect/decorated.hpp": None, "join_point.hpp": None,
           "site.hpp": None, "fixed_string.hpp": None}),
    Topic("keys", "Keys",
          "Keys by hand: templates in code, and keys that are parsed at run time. "
          "[Keys](../keys.md) describes the language.",
          {"key.hpp": None, "key/parsed_key.hpp": None, "key/schema.hpp": None,
           "key/key_buffer.hpp": {"KeyBuffer", "max_key_size"}, "key/hash.hpp": None,
           "reflect/fields.hpp": {"tag", "Field", "FieldList"}}),
    Topic("coroutines", "Coroutines",
          "Locks for Boost.Asio: target `latchkey::asio`. [Coroutines](../coroutines.md) describes "
          "how to use them.",
          {"asio/async.hpp": None, "asio/first_of.hpp": None, "asio/latch.hpp": None,
           "asio/leader.hpp": None, "asio/once.hpp": None}),
    Topic("backends", "Backends",
          "Where locks are kept: the simple interface for a store of your own, the full one, and "
          "the clock.",
          {"simple_backend.hpp": None, "backend.hpp": None, "capabilities.hpp": None, "loop_driver.hpp": None,
           "clock.hpp": None, "parker.hpp": None}),
    Topic("stores", "Stores",
          "Each store is a target of its own. [Stores](../stores/README.md) compares them.",
          {"postgresql.hpp": None, "mysql.hpp": None, "zookeeper.hpp": None, "etcd.hpp": None,
           "mongodb.hpp": None,
           "postgresql/transaction_lock.hpp": {"transaction_lock", "try_transaction_lock"}}),
    Topic("testing", "Testing kit",
          "Target `latchkey::testing`. [Testing](../testing.md) shows how to use it.",
          {"testing/failure.hpp": None, "testing/scoped_locks.hpp": None,
           "testing/scoped_policies.hpp": None, "testing/recorder.hpp": None,
           "testing/holds_lock.hpp": None, "testing/manual_clock.hpp": None,
           "testing/mock_backend.hpp": None, "testing/backend_contract.hpp": None,
           "testing/simulator.hpp": None}),
]

# Headers and folders whose declarations are not for users, although they are outside of `detail`.
INTERNAL = {"key/", "asio/", "testing/contract/", "reflect/", "decorate/preprocessor.hpp", "locked/",
            "aspect/", "annotations/"}

# Members that only other headers use, of types whose other members are shown.
HIDDEN = {
    "LockOptions": {"Setting", "Type", "Timeout", "Unavailable", "When", "terms", "settings",
                    "never_throws", "raises_loss", "always_asked", "can_run_unlocked",
                    "always_runs", "fixed_name", "locks", "stop_token", "condition", "timeout",
                    "unavailable"},
    "Locked": {"Place", "around", "site_notes", "operatorT"},
    "Aspect": {"Place", "fixed_site_name", "site_notes"},
    "JoinPoint": {"JoinPoint", "own_site", "addresses"},
    "Site": {"Site", "give_name"},
    "SiteIterator": {"SiteIterator", "value_type", "difference_type"},
    "SiteList": {"SiteList"},
    "KeyBuffer": {"append", "reserve", "commit", "mark", "reset"},
    "HoldsLockMatcher": {"is_gtest_matcher", "DescribeTo", "DescribeNegationTo"},
    "BackendUnavailable": {"Release"},
}
