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
  [[nodiscard]] std::string verdict(const std::deque<Rows>& results) override;
  [[nodiscard]] std::string meaning(const SqlError& error) const override;
  [[nodiscard]] std::string why_not(const Request& request) const override;
  std::size_t append(std::string& sql, const Request& request) const override;
  [[nodiscard]] Shape shape(const Request& request) const override;
  [[nodiscard]] Outcome outcome(const Request& request, const Rows& rows,
                                std::chrono::milliseconds poll) const override;
  [[nodiscard]] std::string sweep(std::string_view after) const override;

 private:
  /// `name = … AND locked_by = …`, and that the lock has not ended.
  [[nodiscard]] std::string held_by(const Request& request) const;
  [[nodiscard]] std::string name_of(const Request& request) const;
  /// The time as the table can store it.
  [[nodiscard]] std::string stored(const std::string& time) const;
  [[nodiscard]] std::string in(std::chrono::milliseconds lease) const;
  /// A lock_until that has passed.
  [[nodiscard]] std::string ended() const;
  [[nodiscard]] static Shape shape_of(Verb verb) noexcept;

  const std::string table_;
  /// Whether times are of type TIMESTAMP, which depends on time zones. Until it is known they are
  /// treated as such.
  bool is_timestamp_ = true;
};

}  // namespace latchkey::inline v1::detail::mysql
