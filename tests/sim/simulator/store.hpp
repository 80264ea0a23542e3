// The place where locks live, seen from outside: the table of the memory backend and its clock.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "memory/lock_table.hpp"
#include "sim/simulator/world.hpp"

namespace latchkey::sim {

/// A LockTable with a clock that may jump, and a memory that may be lost.
class Store {
 public:
  explicit Store(World& world) : world_(world), table_(std::make_unique<detail::LockTable>()) {}

  [[nodiscard]] Clock::time_point now() const noexcept {
    return Clock::time_point(world_.now + offset_);
  }

  Outcome apply(const Request& request, detail::Subscriber* subscriber) {
    return table_->apply(request, now(), subscriber);
  }

  [[nodiscard]] bool holds(std::string_view key, const HoldId& id) {
    Request request;
    request.verb = Verb::verify;
    request.key = key;
    request.id = id;
    return table_->apply(request, now()).kind == Outcome::Kind::granted;
  }

  /// True where somebody held it.
  bool force_release(std::string_view key) {
    Request request;
    request.verb = Verb::force_release;
    request.key = key;
    return table_->apply(request, now()).kind == Outcome::Kind::granted;
  }

  void jump(Clock::duration length) noexcept { offset_ += length; }
  void restart_empty() { table_ = std::make_unique<detail::LockTable>(); }
  void forget(const detail::Subscriber& subscriber) noexcept { table_->forget(subscriber); }

  /// What is left, after everything that has expired was looked at.
  [[nodiscard]] std::size_t left(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) (void)holds(key, HoldId{});
    return table_->size();
  }

 private:
  World& world_;
  Clock::duration offset_ = std::chrono::seconds(1'000'000);
  std::unique_ptr<detail::LockTable> table_;
};

}  // namespace latchkey::sim
