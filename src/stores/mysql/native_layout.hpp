// Locks in latchkey's own tables.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "stores/mysql/layout.hpp"

namespace latchkey::inline v1::detail::mysql {

/// Calls the procedures of ddl.sql, which explain what they do.
class NativeLayout final : public Layout {
 public:
  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::string check() const override { return "CALL latchkey_schema()"; }
  [[nodiscard]] std::string verdict(const std::deque<Rows>& results) override;
  [[nodiscard]] std::string meaning(const SqlError& error) const override;
  [[nodiscard]] std::string why_not(const Request& request) const override;
  std::size_t append(std::string& sql, const Request& request) const override;
  bool append_shortcut(std::string& sql, const Request& request) const override;
  [[nodiscard]] Joint joint(const Request& request) const noexcept override;
  void append_joint(std::string& sql, std::span<Request* const> requests) const override;
  [[nodiscard]] Shape shape(const Request& request) const override;
  [[nodiscard]] Shape shape(Joint kind) const noexcept override;
  [[nodiscard]] bool grants(const Request& request,
                            const std::vector<std::string>& row) const override;
  [[nodiscard]] Outcome outcome(const Request& request, const Rows& rows,
                                std::chrono::milliseconds poll) const override;
  [[nodiscard]] std::string sweep(std::string_view after) const override;
};

}  // namespace latchkey::inline v1::detail::mysql
