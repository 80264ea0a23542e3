// The lock server of a simulation, and its clock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/testing/simulator.hpp>

#include "memory/lock_table.hpp"
#include "testing/simulator/world/random.hpp"

namespace latchkey::inline v1::sim {

/// The store's clock: simulated time plus an origin. Faults make it jump.
class StoreClock final : public Clock {
 public:
  explicit StoreClock(const duration& truth) noexcept : truth_(truth) {}

  [[nodiscard]] time_point now() const noexcept override { return time_point(truth_ + offset_); }
  /// Nothing blocks in a simulation.
  void wait_until(std::unique_lock<std::mutex>&, std::condition_variable&, time_point) override {}

  void jump(duration length) noexcept { offset_ += length; }

 private:
  const duration& truth_;
  duration offset_ = std::chrono::seconds(1'000'000);
};

/// Carries out each request when the network delivers it.
class Store {
 public:
  explicit Store(const Clock::duration& truth) noexcept : clock_(truth) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  [[nodiscard]] virtual Capabilities offers() const noexcept = 0;

  /// `connection` sent the request and receives the notifications. Null: the simulator itself.
  virtual Outcome apply(const Request& request, detail::Subscriber* connection) = 0;

  /// The connection broke: its subscriptions end.
  virtual void unsubscribe(const detail::Subscriber& connection) noexcept = 0;

  virtual void restart() = 0;

  /// One step of a cluster that moves the key's slot to another node: it moves one of its keys.
  virtual void migrate(const std::string& /*key*/, Random& /*random*/) {}
  /// All migrations complete.
  virtual void end_migrations() {}

  /// How many of these keys are locked, once what has expired is gone.
  [[nodiscard]] virtual std::size_t left(const std::vector<std::string>& keys) = 0;

  /// Whether `id` holds `key`, by a lock of any type.
  [[nodiscard]] bool holds(std::string_view key, const HoldId& id) {
    for (const LockType type :
         {LockType::REENTRANT, LockType::READ, LockType::WRITE, LockType::PERMIT}) {
      if (holds_as(type, key, id)) return true;
    }
    return false;
  }
  [[nodiscard]] bool holds_as(LockType type, std::string_view key, const HoldId& id) {
    return grants(Verb::verify, key, id, type);
  }
  /// Whether the store lists `id` among the holders of `key`. False if it cannot list them.
  [[nodiscard]] bool names(std::string_view key, const HoldId& id) {
    if (!offers().administration) return false;
    LockInfo info;
    Request request;
    request.verb = Verb::inspect;
    request.key = key;
    request.info = &info;
    if (apply(request, nullptr).kind != Outcome::Kind::granted) return false;
    const std::string text = id.text();
    return std::any_of(info.holders.begin(), info.holders.end(),
                       [&](const HolderInfo& holder) { return holder.id == text; });
  }
  [[nodiscard]] bool is_locked(std::string_view key) {
    LockInfo info;
    Request request;
    request.verb = Verb::inspect;
    request.key = key;
    request.info = &info;
    return apply(request, nullptr).kind == Outcome::Kind::granted && info.locked;
  }
  /// A lock is free, or a semaphore is deleted, by somebody else.
  void force_release(std::string_view key) {
    (void)grants(Verb::force_release, key, {});
    (void)grants(Verb::force_release, key, {}, LockType::PERMIT);
  }

  void jump(Clock::duration length) noexcept { clock_.jump(length); }

 protected:
  [[nodiscard]] StoreClock& clock() noexcept { return clock_; }

 private:
  bool grants(Verb verb, std::string_view key, const HoldId& id,
              LockType type = LockType::REENTRANT) {
    Request request;
    request.verb = verb;
    request.type = type;
    request.key = key;
    request.id = id;
    return apply(request, nullptr).kind == Outcome::Kind::granted;
  }

  StoreClock clock_;
};

/// The lock table of the memory backend. A restart empties it.
[[nodiscard]] std::unique_ptr<Store> make_table_store(const Clock::duration& truth);

/// A store that the user wrote, accessed through backends that the user wrote.
[[nodiscard]] std::unique_ptr<Store> make_backend_store(const Clock::duration& truth,
                                                        const testing::MakeStore& make);

}  // namespace latchkey::inline v1::sim
