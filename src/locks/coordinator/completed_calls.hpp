// Answered calls that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "locks/coordinator/call.hpp"

namespace latchkey::inline v1::detail {

/// Calls whose completions are still to be told, in the order of their answers. Needs no memory.
class CompletedCalls {
 public:
  CompletedCalls() noexcept = default;
  CompletedCalls(CompletedCalls&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  CompletedCalls& operator=(CompletedCalls&&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push_back(Call& call) noexcept {
    call.next_completed = nullptr;
    (last_ == nullptr ? first_ : last_->next_completed) = &call;
    last_ = &call;
  }

  /// Takes over all calls of `other`.
  void append(CompletedCalls&& other) noexcept {
    if (other.empty()) return;
    (last_ == nullptr ? first_ : last_->next_completed) = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, nullptr);
  }

  /// Tells all completions, with no mutex held: one may destroy its call, and may start other
  /// calls.
  void notify_all() noexcept {
    last_ = nullptr;
    for (Call* call = std::exchange(first_, nullptr); call != nullptr;) {
      Call& each = *std::exchange(call, call->next_completed);
      each.completion->answered();
    }
  }

 private:
  Call* first_ = nullptr;
  Call* last_ = nullptr;
};

}  // namespace latchkey::inline v1::detail
