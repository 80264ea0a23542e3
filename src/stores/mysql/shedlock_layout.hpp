// Locks in ShedLock's table.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "stores/mysql/layout.hpp"

namespace latchkey::inline v1::detail::mysql {

/// REENTRANT locks that exclude ShedLock's, and each other. A row that another has written is
/// changed only after its lock_until. As ShedLock, it leaves the rows in the table. Times are the
/// server's, in UTC, as of ShedLock with `usingDbTime()`.
class ShedlockLayout final : public Layout {
 public:
  explicit ShedlockLayout(const MysqlUri& uri) : table_('`' + uri.table + '`') {}

  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::string check() const override;
  [[nodiscard]] std::string verdict(const Rows& rows) const override;
  [[nodiscard]] std::string meaning(const SqlError& error) const override;
  [[nodiscard]] std::string why_not(const Request& request) const override;
  std::size_t append(std::string& sql, const Request& request) const override;
  [[nodiscard]] Outcome outcome(const Request& request, const Rows& rows,
                                std::chrono::milliseconds poll) const override;
  [[nodiscard]] std::string sweep(std::string_view after) const override;

 private:
  /// `name = … AND locked_by = …`, and that the lock has not ended.
  [[nodiscard]] std::string held_by(const Request& request) const;
  [[nodiscard]] std::string name_of(const Request& request) const;

  const std::string table_;
};

}  // namespace latchkey::inline v1::detail::mysql
