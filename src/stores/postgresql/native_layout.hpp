// latchkey's own tables and functions (ddl.sql).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "stores/postgresql/layout.hpp"

namespace latchkey::inline v1::detail::postgresql {

class NativeLayout final : public Layout {
 public:
  /// The result of latchkey.version().
  static constexpr int version = 1;

  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::span<const Statement> statements() const noexcept override;
  [[nodiscard]] std::string check() const override;
  [[nodiscard]] Verdict verdict(const PGresult* result) const override;
  [[nodiscard]] std::string why_not(const Request& request) const override;
  [[nodiscard]] Call call(const Request& request, std::string_view channel,
                          bool is_own) const override;
  [[nodiscard]] Outcome outcome(const Request& request, const PGresult* result) const override;
};

/// Whether `latchkey.give_tokens` gives the tokens of what the request acquires.
[[nodiscard]] bool gives_tokens(const Request& request) noexcept;

}  // namespace latchkey::inline v1::detail::postgresql
