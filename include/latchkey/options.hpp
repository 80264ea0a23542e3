// The options of Locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class CallObserver;
class Clock;
class Listener;

/// Whether Locks can be made while their server is down.
enum class Startup : std::uint8_t {
  require,  ///< no: Locks::connect throws BackendUnavailable
  /// Yes. While the server does not answer, the listener gets a `warning` (std::clog if there is no
  /// listener), acquires end with BackendUnavailable, and locks are granted once the server
  /// answers. If the server answers but cannot serve, connect throws BackendRefused; if that
  /// happens after connect, the listener gets a `warning` and calls throw BackendRefused.
  allow_down,
};

/// An object that Locks use: borrowed by a pointer, or shared. What is borrowed must outlive the
/// Locks and their holds; what is shared lives as long as they do. Null by default. A copy refers
/// to the same object.
template <class T>
class SharedOrBorrowed {
 public:
  SharedOrBorrowed() noexcept = default;
  // NOLINTBEGIN(google-explicit-constructor): `.listener = &listener` is what users write
  SharedOrBorrowed(T* borrowed) noexcept : object_(std::shared_ptr<void>(), borrowed) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  SharedOrBorrowed(std::shared_ptr<U> shared) noexcept : object_(std::move(shared)) {}
  operator T*() const noexcept { return object_.get(); }
  // NOLINTEND(google-explicit-constructor)
  T* operator->() const noexcept { return object_.get(); }

 private:
  std::shared_ptr<T> object_{};
};

/// Options of one Locks, checked when the Locks are made: a value out of range throws a
/// std::invalid_argument that names it. Options of one store alone are in its URI.
struct Options {
  /// Prepended to every key, as Redisson's NameMapper does.
  std::string prefix{};
  /// The lease of a hold that the watchdog renews; renewed every third of it. 30 ms to 1 day.
  std::chrono::milliseconds watchdog = std::chrono::seconds(30);
  /// How long a command may stay without a reply before its outcome counts as unknown.
  std::chrono::milliseconds command_timeout = std::chrono::seconds(2);
  /// How long an acquire with `forever` continues without any reply.
  std::chrono::milliseconds unavailable_after = std::chrono::seconds(10);
  /// Whether connect throws if the server does not answer. A quorum connects even if servers are
  /// down.
  Startup startup = Startup::require;
  /// Warns the listener (std::clog if there is no listener) the first time that decorated calls
  /// acquire the locks of two key templates in both orders, or two keys of one template in
  /// descending order: threads that do this at the same time can deadlock. Costs nested calls a few
  /// microseconds.
  bool check_order = false;
  /// Publishes the holder: host, process and method are stored beside each hold while it lasts, and
  /// a LockTimeout names those of the holder. Redis, PostgreSQL, ZooKeeper and etcd. On Redis it
  /// costs one small command more with each acquire, renewal and release, and one read when a
  /// LockTimeout is thrown. If the server forbids a command, it is left out. Every client that can
  /// read the database can read these texts.
  bool announce = false;
  /// Has the server tell of changes of the keys that are held for longer than half a second, so
  /// that a lock that is deleted or forced is known as lost at once, and not at the next check.
  /// Redis 7.0.5 or later, Valkey (a server that refuses CLIENT TRACKING leads to a `warning`),
  /// ZooKeeper, etcd; PostgreSQL, of forced releases. False: a loss is noticed at the next check.
  bool watch_holds = true;
  /// For how long this process may keep a REENTRANT, READ, WRITE or FENCED lock that its last
  /// holder here has released, so that the next call here takes it without asking the server. Who
  /// waits for it elsewhere gets it within milliseconds; a try without a wait gets nothing:
  /// docs/redis.md says when to use it. One lock has a time of its own by Lease::cache. 0: a lock
  /// is given back when it is released. At most 10 s, or adaptive_cache: the time is learned for
  /// each key. Redis 7.0.5 or later, Valkey, their clusters; `memory:` ignores it, and others
  /// refuse it.
  std::chrono::milliseconds cache{0};
  /// About how many locks are kept so at a time, from 1 to 4 096; those that were used least
  /// recently are given back first. Each of 256 parts of the keys has its share, at least one.
  std::uint32_t cache_size = 4'096;
  /// The source of time; null: Clock::system().
  SharedOrBorrowed<Clock> clock{};
  /// Receives the events; null: none are delivered. Installed Locks are never destroyed: share the
  /// listener with them (std::make_shared), or let it be static.
  SharedOrBorrowed<Listener> listener{};
  /// Is called by each decorated call itself, before, around and after its body; null: none.
  SharedOrBorrowed<CallObserver> call_observer{};
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
