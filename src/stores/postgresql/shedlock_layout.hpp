// ShedLock's table.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <vector>

#include "stores/postgresql/layout.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// `shedlock(name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP, locked_at TIMESTAMP, locked_by
/// VARCHAR(255))`. Times are UTC. A row stays when its lock is free. ShedLock's own services use
/// their host's name as locked_by; latchkey uses the id of the hold, and changes a row only if it
/// is free or has that id.
class ShedlockLayout final : public Layout {
 public:
  explicit ShedlockLayout(const std::string& table);

  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::span<const Statement> statements() const noexcept override {
    return statements_;
  }
  [[nodiscard]] std::string check() const override;
  [[nodiscard]] Verdict verdict(const PGresult* result) const override;
  [[nodiscard]] std::string why_not(const Request& request) const override;
  [[nodiscard]] Call call(const Request& request, std::string_view channel,
                          bool is_own) const override;
  [[nodiscard]] Outcome outcome(const Request& request, const PGresult* result) const override;

 private:
  const std::string table_;
  std::vector<Statement> statements_;
};

}  // namespace latchkey::inline v1::detail::postgresql
