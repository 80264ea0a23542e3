// Why a command failed: the one place where errors of libmongoc and of servers become text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mongoc/mongoc.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::mongodb {

/// A command without a definite result. Its text is a clause without a full stop.
class NoAnswer : public std::runtime_error {
 public:
  NoAnswer(const std::string& reason, bool may_have_run)
      : std::runtime_error(reason), may_have_run_(may_have_run) {}

  [[nodiscard]] bool may_have_run() const noexcept { return may_have_run_; }

 private:
  bool may_have_run_;
};

/// For a reply that no such command has.
[[nodiscard]] NoAnswer malformed_reply();

/// The server, or libmongoc, rejects a command for good. Its text is a clause without a full stop.
class Rejected : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A command that failed.
struct FailedCommand {
  std::string_view name;        ///< such as findAndModify
  std::string_view collection;  ///< with its database
  std::chrono::milliseconds elapsed{}, timeout{};
};

/// True: the connection still works, because the server answered.
[[nodiscard]] bool is_answer(const bson_error_t& error) noexcept;

/// Throws NoAnswer or Rejected. Neither contains a user or a password.
[[noreturn]] void raise(const bson_error_t& error, const FailedCommand& command);

}  // namespace latchkey::inline v1::detail::mongodb
