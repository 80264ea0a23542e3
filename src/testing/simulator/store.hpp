// The place where locks live in a simulation, seen from outside, and its clock.
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
#include "testing/simulator/random.hpp"

namespace latchkey::sim {

/// The store's own clock: the simulation's time with an origin of its own, and it may jump.
class StoreClock final : public Clock {
 public:
  explicit StoreClock(const duration& truth) noexcept : truth_(truth) {}

  [[nodiscard]] time_point now() const noexcept override { return time_point(truth_ + offset_); }
  /// Nobody sleeps in a simulation.
  void wait_until(std::unique_lock<std::mutex>&, std::condition_variable&, time_point) override {}

  void jump(duration length) noexcept { offset_ += length; }

 private:
  const duration& truth_;
  duration offset_ = std::chrono::seconds(1'000'000);
};

/// What the network brings requests to. One attempt each, carried out when it is asked for.
class Store {
 public:
  explicit Store(const Clock::duration& truth) noexcept : clock_(truth) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  [[nodiscard]] virtual Capabilities offers() const noexcept = 0;

  /// `link` is where the request came from and where notifications go; null: from nowhere.
  virtual Outcome apply(const Request& request, detail::Subscriber* link) = 0;

  /// The link is cut: its subscriptions end.
  virtual void forget(const detail::Subscriber& link) noexcept = 0;

  virtual void restart() = 0;

  /// One step of a cluster that moves the key's slot to another node: its keys go one by one.
  virtual void migrate(const std::string& /*key*/, Random& /*random*/) {}
  /// All have arrived.
  virtual void end_migrations() {}

  /// What is left of these keys, after everything that has expired was looked at.
  [[nodiscard]] virtual std::size_t left(const std::vector<std::string>& keys) = 0;

  /// As whatever type.
  [[nodiscard]] bool holds(std::string_view key, const HoldId& id) {
    for (const LockType type : {LockType::REENTRANT, LockType::READ, LockType::WRITE}) {
      if (ask(Verb::verify, key, id, type)) return true;
    }
    return false;
  }
  /// The store itself names `id` among the holders; false where it cannot be asked.
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
  /// True where somebody held it.
  bool force_release(std::string_view key) { return ask(Verb::force_release, key, {}); }

  void jump(Clock::duration length) noexcept { clock_.jump(length); }

 protected:
  [[nodiscard]] StoreClock& clock() noexcept { return clock_; }

 private:
  bool ask(Verb verb, std::string_view key, const HoldId& id, LockType type = LockType::REENTRANT) {
    Request request;
    request.verb = verb;
    request.type = type;
    request.key = key;
    request.id = id;
    return apply(request, nullptr).kind == Outcome::Kind::granted;
  }

  StoreClock clock_;
};

/// latchkey's own: the table of the memory backend, of which a restart leaves nothing.
[[nodiscard]] std::unique_ptr<Store> make_table_store(const Clock::duration& truth);

/// Somebody else's, over backends of his.
[[nodiscard]] std::unique_ptr<Store> make_backend_store(const Clock::duration& truth,
                                                        const testing::MakeStore& make);

}  // namespace latchkey::sim
