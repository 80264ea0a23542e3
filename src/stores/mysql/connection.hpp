// A connection to MariaDB or MySQL that does not block.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mysql.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "stores/driver/descriptor_set.hpp"
#include "stores/mysql/uri.hpp"

namespace latchkey::inline v1::detail::mysql {

/// The rows of one statement; NULL is empty.
using Rows = std::vector<std::vector<std::string>>;

/// The result of a statement. MysqlConnection::results has its rows.
struct StatementResult {
  const Rows* rows = nullptr;  ///< null: it returned none
  std::uint64_t changed = 0;   ///< rows
};

/// An error of the server, or of the client library: 2000 to 2999, and 5000 to 5999.
struct SqlError {
  unsigned number = 0;  ///< 0: none
  std::string text{};

  [[nodiscard]] bool is_of_client() const noexcept {
    return number / 1000 == 2 || number / 1000 == 5;
  }
};

/// One connection by libmariadb's non-blocking functions, which run on a stack of their own until
/// they would have to wait. One thread at a time. No option file and no environment variable
/// decides where it leads or what it says there. Programs that the process starts do not inherit
/// its socket.
///
/// | state      | meaning                                            | left by                    |
/// |------------|----------------------------------------------------|----------------------------|
/// | closed     | there is no connection                             | connect                    |
/// | connecting | name, network and log-in                           | advance, to idle or broken |
/// | running    | statements were sent                               | advance, to idle or broken |
/// | idle       | `results` and `error` are of the last statements   | query                      |
/// | broken     | `error` says why                                   | close                      |
class MysqlConnection {
 public:
  enum class State { closed, connecting, running, idle, broken };

  /// The most bytes of all rows of one query. Each cell and each result counts `bytes_beside` more.
  static constexpr std::size_t longest_reply = std::size_t{64} << 20, bytes_beside = 64;

  explicit MysqlConnection(stores::DescriptorSet& descriptors) : descriptors_(descriptors) {}
  MysqlConnection(const MysqlConnection&) = delete;
  MysqlConnection& operator=(const MysqlConnection&) = delete;
  ~MysqlConnection();

  [[nodiscard]] State state() const noexcept { return state_; }
  /// The rows of each statement with a result set, in order. Statements after an error did not run.
  [[nodiscard]] const std::deque<Rows>& results() const noexcept { return results_; }
  /// The result of each statement, in order; a CALL counts as two: its rows, and its end.
  [[nodiscard]] const std::vector<StatementResult>& statements() const noexcept {
    return statements_;
  }
  [[nodiscard]] const SqlError& error() const noexcept { return error_; }

  /// Idle, and the server has sent nothing: it has not ended the session, as far as is known.
  [[nodiscard]] bool is_ready() const noexcept;

  /// Throws std::bad_alloc, as do the next two.
  void connect(const MysqlUri& uri);
  /// Several statements are separated by ';'. A reply of more than `longest_reply` bytes breaks the
  /// connection.
  void query(std::string text);
  /// Continues if the server has answered.
  void advance();
  /// Ends the connection at once, without a farewell: the server ends the session.
  void close() noexcept;
  /// In a forked child: leaves the connection to the parent.
  void abandon() noexcept;

 private:
  /// await: the reply to what was sent has not begun. Only then is it read: the library would try
  /// at once, in vain.
  enum class Step { connect, send, await, read, row, next };

  /// `events`: what the library waits for; 0: the step is finished.
  void run(int events);
  int start(Step step);
  int resume(int events);
  /// Ends the step and returns the one that follows; Step::connect: none does.
  [[nodiscard]] Step after_step();
  [[nodiscard]] Step stop(SqlError error);
  [[nodiscard]] Step begin_rows();
  void read_row();
  void count(std::size_t bytes);
  void free_result() noexcept;
  void fail();
  void watch(int events);
  void drop() noexcept;

  stores::DescriptorSet& descriptors_;
  MYSQL* mysql_ = nullptr;
  State state_ = State::closed;
  Step step_ = Step::connect;
  int descriptor_ = -1;  ///< in `descriptors_`
  // The variables that the library writes to while a step is under way.
  MYSQL* connected_ = nullptr;
  MYSQL_ROW row_ = nullptr;
  int code_ = 0;
  my_bool read_ = 0;
  MYSQL_RES* result_ = nullptr;  ///< whose rows are read
  std::size_t reply_size_ = 0;
  MysqlUri uri_;
  std::string text_;
  std::deque<Rows> results_;
  std::vector<StatementResult> statements_;
  SqlError error_;
};

}  // namespace latchkey::inline v1::detail::mysql
