// One hold at the backend, and what the local owner has of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "locks/call.hpp"
#include "locks/intrusive_list.hpp"

namespace latchkey::detail {

class Coordinator;
class LockSpace;

class RemoteHold;

/// A request of a coordinator: `context` is the Coordinator, `hold` whom it is about (null: the
/// key).
struct OwnedRequest : Request {
  RemoteHold* hold = nullptr;
};

/// How long after one release of an id the next is sent, until it is sure.
inline constexpr std::chrono::seconds repeat_pause{1};

/// How far a subscription has come.
struct Subscription {
  enum class Stage : std::uint8_t { off, joining, on, leaving };
  Stage stage = Stage::off;
  OwnedRequest request{};
  /// When an unsubscribe that was never sent is sent again.
  Clock::time_point retry_at = Clock::never();

  [[nodiscard]] bool under_way() const noexcept {
    return stage == Stage::joining || stage == Stage::leaving;
  }
};

/// A claim on the backend under one id: asked for, held, and given back once.
///
/// | stage  | what it is                                             | left by               |
/// |--------|--------------------------------------------------------|-----------------------|
/// | claim  | a waiting call asks for it, perhaps many times         | held, ending, dropped |
/// | held   | granted; `grips()` local holds share it; may be `lost` | linger, ending        |
/// | linger | no local hold; kept until `linger_until` (hold_for, or | ending                |
/// |        | a thread that ended while it held)                     |                       |
/// | ending | its release was sent, and is sent again until it is    | dropped               |
/// |        | sure                                                   |                       |
///
/// `deadline` and `lost` are read by any thread; all else belongs to the coordinator of its key.
class RemoteHold {
 public:
  enum class Stage : std::uint8_t { claim, held, linger, ending };

  // Read by any thread that has a local hold.
  std::atomic<Clock::rep> deadline{0};
  std::atomic<bool> lost{false};
  std::atomic<bool> inherited{false};  ///< this process is a fork of the holder
  HoldId id;
  std::uint64_t token = 0;
  Coordinator* home = nullptr;
  LockSpace* space = nullptr;
  std::stop_source stop{std::nostopstate};

  // The coordinator's own.
  Stage stage = Stage::claim;
  LockType type = LockType::REENTRANT;
  Owner owner = Owner::nobody();
  Origin origin{};                   ///< of the call that was granted first
  Call* call = nullptr;              ///< claim: who asks; null once abandoned
  IntrusiveList<Call> renewals;      ///< held: extends and re-entries that wait for a renewal
  Call* release_waiter = nullptr;    ///< ending: who waits for its outcome
  Call* downgrade_waiter = nullptr;  ///< held: who waits for the downgrade
  RemoteHold* previous = nullptr;
  RemoteHold* next = nullptr;
  RemoteHold* same_bucket = nullptr;  ///< of the held ones by owner

  std::uint32_t locks[2] = {0, 0};  ///< counted by lock(): exclusive, shared
  std::uint32_t holds[2] = {0, 0};  ///< Hold objects: exclusive, shared
  std::uint32_t watchdogs = 0;      ///< how many of all these the watchdog renews
  std::uint32_t pins = 0;  ///< composites that are still waiting for others: its lease is renewed

  std::chrono::milliseconds lease{};   ///< what was last granted, or is being asked for
  std::chrono::milliseconds wanted{};  ///< a renewal to this lease is to be sent; 0: none
  Clock::time_point sent{};            ///< when the request under way in `ask` was sent
  Clock::time_point check_sent{};
  Clock::time_point check_due{};  ///< when what was sent then should have been
  Clock::time_point granted_at{};
  Clock::time_point check_at = Clock::never();
  Clock::time_point poll_at = Clock::never();
  /// When its release is sent again, or, while that is under way unattended, looked after.
  Clock::time_point repeat_at = Clock::never();
  Clock::time_point linger_until = Clock::never();
  /// No lease, nor FAIR place, that any request gave this id at the backend ends after this.
  Clock::time_point expires_at{};
  std::chrono::milliseconds poll{};  ///< the next safety poll
  bool asking = false;               ///< `ask` is under way
  bool checking = false;             ///< `check` is under way
  bool releasing = false;            ///< `end` is under way
  bool retry_requested = false;      ///< something happened while `ask` was under way
  bool unsettled = false;            ///< an `ask` was never answered: a copy may run yet
  bool refused = false;              ///< an `ask` was refused, perhaps after it had written
  bool reached = false;              ///< an `ask` ran, or may have run
  bool released = false;             ///< an `end` was answered
  bool release_again = false;        ///< an `ask` was answered that the `end` may have overtaken
  bool expires_by_itself = false;    ///< linger: the backend was told when it ends
  bool downgrading = false;          ///< the WRITE ended, its READs go on
  /// A downgrade was sent and not surely answered, or an acquire of the WRITE may run yet: at the
  /// backend it is a WRITE or a READ.
  bool write_or_read = false;
  bool stop_owed = false;    ///< lost, and there was no memory to say so to its token
  bool gone = false;         ///< the backend said so: nothing to release
  bool unconfirmed = false;  ///< the listener was told so: its end is told

  OwnedRequest ask{};
  OwnedRequest check{};
  OwnedRequest end{};
  std::string note{};           ///< what the three say of the holder; empty: nothing
  Subscription subscription{};  ///< FAIR: each claim has its own channel

  [[nodiscard]] std::uint32_t exclusive_holds() const noexcept { return locks[0] + holds[0]; }
  [[nodiscard]] std::uint32_t shared_holds() const noexcept { return locks[1] + holds[1]; }
  [[nodiscard]] std::uint32_t local_holds() const noexcept {
    return exclusive_holds() + shared_holds();
  }

  [[nodiscard]] Clock::time_point deadline_point() const noexcept {
    return Clock::time_point(Clock::duration(deadline.load(std::memory_order_acquire)));
  }
  [[nodiscard]] bool is_lost(Clock::time_point now) const noexcept {
    return lost.load(std::memory_order_acquire) || now >= deadline_point();
  }
  [[nodiscard]] bool under_way() const noexcept {
    return asking || checking || releasing || subscription.under_way();
  }

  /// From now on its requests carry this.
  void announce(std::string text) {
    note = std::move(text);
    ask.note = check.note = end.note = note;
  }

  /// As new, for the pool.
  void reset() noexcept;
};

/// From `sent + lease` this much is kept back: the holder stops believing before the backend does.
constexpr Clock::duration margin(std::chrono::milliseconds lease) noexcept {
  const Clock::duration share = Clock::duration(lease) / 100;
  constexpr Clock::duration least = std::chrono::milliseconds(5);
  return share > least ? share : least;
}

}  // namespace latchkey::detail
