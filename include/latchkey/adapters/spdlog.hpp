// Events as log lines: target latchkey::spdlog.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>

#include <latchkey/listener.hpp>

namespace spdlog {
class logger;
}  // namespace spdlog

namespace latchkey::inline v1 {

/// Writes one line for each event: kind, type, key, method, times, holder.
///
/// | level | events                                                        |
/// |-------|---------------------------------------------------------------|
/// | error | unavailable, refused, lost, release_unconfirmed, abandoned,   |
/// |       | unlock_error, hidden_error, connection_lost                   |
/// | warn  | timeout, would_deadlock, connection_restored, warning, order, |
/// |       | dropped                                                       |
/// | info  | connected                                                     |
/// | debug | waiting, granted, taken, cancelled, closed, released          |
/// | trace | attempt, renewed                                              |
///
/// Keys are logged unchanged. If the logger's level excludes warnings when the Locks are made, it
/// receives only losses, reports, errors, and lost or restored connections; otherwise the level may
/// change at any time. Exceptions of the logger are harmless, and its sinks may block. Thread-safe
/// if the logger is.
class SpdlogListener final : public Listener {
 public:
  explicit SpdlogListener(std::shared_ptr<spdlog::logger> logger);
  ~SpdlogListener() override;

  void on_event(const Event& event) override;
  [[nodiscard]] bool wants_everything() const noexcept override;

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace latchkey::inline v1
