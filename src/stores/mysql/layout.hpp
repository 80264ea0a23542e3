// How locks are kept in a database: the SQL of requests, and what its results mean.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/mysql/connection.hpp"
#include "stores/mysql/uri.hpp"

namespace latchkey::inline v1::detail::mysql {

/// The SQL of one schema. Every text is one or several statements, of which one returns rows, or
/// several return one row each, whose cells are those of one row; it is a part of a transaction
/// that the caller begins and ends.
///
/// A request that usually succeeds may have a shortcut beside its text: one statement that changes
/// one row if it succeeds, and otherwise nothing. MariaDB executes the shortcuts of several
/// requests as one joint statement, which returns the rows of those that have succeeded.
class Layout {
 public:
  Layout() = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  virtual ~Layout() = default;

  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;

  /// Statements that succeed if the tables can be used.
  [[nodiscard]] virtual std::string check() const = 0;
  /// Why the results of `check` say that the tables cannot be used, as a clause; empty: they can.
  [[nodiscard]] virtual std::string verdict(const std::deque<Rows>& results) = 0;
  /// The meaning of an error of `check` or of a request, as a clause; empty: nothing special.
  [[nodiscard]] virtual std::string meaning(const SqlError& error) const = 0;

  /// Why a request cannot be executed, as a clause; empty: it can.
  [[nodiscard]] virtual std::string why_not(const Request& request) const = 0;
  /// Appends the statements of a request, and returns how many results they have, as
  /// MysqlConnection::statements counts them. Throws std::bad_alloc.
  virtual std::size_t append(std::string& sql, const Request& request) const = 0;
  /// Appends the shortcut; false: there is none. If it changes a row, the request is granted.
  virtual bool append_shortcut(std::string& /*sql*/, const Request& /*request*/) const {
    return false;
  }
  /// Which joint statement takes the request.
  enum class Joint : std::uint8_t { none, acquire, release };
  [[nodiscard]] virtual Joint joint(const Request& /*request*/) const noexcept {
    return Joint::none;
  }
  /// Appends one statement for requests of one kind, which is not `none`, and of different keys.
  virtual void append_joint(std::string& /*sql*/, std::span<Request* const> /*requests*/) const {}
  /// Whether a row that the joint statement has returned grants the request.
  [[nodiscard]] virtual bool grants(const Request& /*request*/,
                                    const std::vector<std::string>& /*row*/) const {
    return false;
  }
  /// The shape of the rows of a request's text. `outcome` understands rows of this shape only.
  struct Shape {
    std::size_t columns;
    bool is_one_row;

    [[nodiscard]] bool fits(const Rows& rows) const noexcept {
      return is_one_row ? rows.size() == 1 && rows.front().size() == columns
                        : rows.empty() || rows.front().size() == columns;
    }
  };
  [[nodiscard]] virtual Shape shape(const Request& request) const = 0;
  /// The shape of the rows of a joint statement.
  [[nodiscard]] virtual Shape shape(Joint /*kind*/) const noexcept { return {0, false}; }
  /// `poll`: the longest pause of a waiter that finds its key busy.
  [[nodiscard]] virtual Outcome outcome(const Request& request, const Rows& rows,
                                        std::chrono::milliseconds poll) const = 0;

  /// Removes what killed processes have left behind, from the row after `after`; its result is the
  /// next `after`. Empty: there is nothing to do.
  [[nodiscard]] virtual std::string sweep(std::string_view after) const = 0;

  [[nodiscard]] static std::unique_ptr<Layout> make(const MysqlUri& uri);
};

/// `x'6b6579'`: any bytes, in any character set.
void append_bytes(std::string& sql, std::string_view bytes);
/// At most a hundred years.
[[nodiscard]] std::int64_t microseconds_of(std::chrono::milliseconds time) noexcept;
/// A number without a sign; 0 if it is none.
[[nodiscard]] std::uint64_t token_in(std::string_view cell) noexcept;
/// How long a waiter may sleep: until the holder's lease ends, at most until the next poll.
[[nodiscard]] std::chrono::milliseconds pause_of(std::int64_t left_microseconds,
                                                 std::chrono::milliseconds poll) noexcept;

/// The clause for an error that the server reports; it contains no user.
[[nodiscard]] std::string error_text(const SqlError& error);

}  // namespace latchkey::inline v1::detail::mysql
