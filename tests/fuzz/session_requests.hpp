// The requests that the session's fuzzer submits, and who receives their outcomes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "fuzz/require.hpp"

namespace latchkey::fuzz {

/// A request, and how many outcomes it has had.
struct Asked : Request {
  LockInfo found{};
  std::vector<std::string> listed{};
  ListPart page{};
  std::array<Member, 2> both{};
  int ends = 0;
};

class Ends final : public Sink {
 public:
  void completed(Request& request, Outcome&& outcome) noexcept override {
    require(++static_cast<Asked&>(request).ends == 1);
    const bool explains =
        outcome.kind == Outcome::Kind::unknown || outcome.kind == Outcome::Kind::refused;
    require(!explains || !outcome.reason.empty());
  }
  void notified(const Notification& notification) noexcept override {
    const bool of_link = notification.kind == Notification::Kind::link_up ||
                         notification.kind == Notification::Kind::link_down ||
                         notification.kind == Notification::Kind::warning;
    // After FLUSHALL and FLUSHDB the server names no key.
    if (notification.kind == Notification::Kind::changed) return;
    require(of_link == notification.key.empty());
  }
};

}  // namespace latchkey::fuzz
