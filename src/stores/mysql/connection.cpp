// A connection to MariaDB or MySQL that does not block.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/connection.hpp"

#include <errmsg.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "stores/mysql/connect_options.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

/// More than any statement of latchkey returns.
constexpr unsigned most_columns = 32;

SqlError too_long() {
  return {CR_NET_PACKET_TOO_LARGE, "the reply has more than " +
                                       std::to_string(MysqlConnection::longest_reply >> 20) +
                                       " MiB; list keys page by page"};
}

short poll_events(int status) noexcept {
  int events = 0;
  if ((status & MYSQL_WAIT_READ) != 0) events |= POLLIN;
  if ((status & MYSQL_WAIT_WRITE) != 0) events |= POLLOUT;
  if ((status & MYSQL_WAIT_EXCEPT) != 0) events |= POLLPRI;
  return static_cast<short>(events);
}

int ready_status(short events) noexcept {
  int status = 0;
  if ((events & (POLLIN | POLLERR | POLLHUP)) != 0) status |= MYSQL_WAIT_READ;
  if ((events & (POLLOUT | POLLERR | POLLHUP)) != 0) status |= MYSQL_WAIT_WRITE;
  if ((events & POLLPRI) != 0) status |= MYSQL_WAIT_EXCEPT;
  return status;
}

}  // namespace

MysqlConnection::~MysqlConnection() {
  if (state_ == State::idle) {
    drop();  // says farewell
  } else {
    close();
  }
}

bool MysqlConnection::is_ready() const noexcept {
  if (state_ != State::idle) return false;
  pollfd arrived{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&arrived, 1, 0) == 0;
}

void MysqlConnection::connect(const MysqlUri& uri) {
  close();
  uri_ = uri;
  mysql_ = mysql_init(nullptr);
  if (mysql_ == nullptr) throw std::bad_alloc();
  error_ = set_options(mysql_, uri_);
  if (error_.number != 0) return fail();
  state_ = State::connecting;
  run(start(Step::connect));
}

void MysqlConnection::query(std::string text) {
  text_ = std::move(text);
  results_.clear();
  statements_.clear();
  error_ = {};
  reply_size_ = 0;
  state_ = State::running;
  run(start(Step::send));
}

void MysqlConnection::advance() {
  if (mysql_ == nullptr || state_ == State::broken) return;
  const short ready = descriptors_.ready(descriptor_);
  if (ready == 0) return;
  if (state_ == State::idle) {  // nothing is expected: the server has closed, or says why it will
    error_ = {2006, "the server has closed the connection"};
    return fail();
  }
  if (const int status = ready_status(ready); status != 0) run(resume(status));
}

void MysqlConnection::run(int events) {
  while (events == 0) {
    const Step next = after_step();
    if (next == Step::connect) break;
    events = start(next);
  }
  if (state_ == State::broken) return fail();
  watch(events);
}

int MysqlConnection::start(Step step) {
  step_ = step;
  const bool by_socket = !uri_.socket.empty();
  switch (step) {
    case Step::connect:
      return mysql_real_connect_start(
          &connected_, mysql_, by_socket ? nullptr : uri_.host.host.c_str(), uri_.user.c_str(),
          uri_.password.c_str(), uri_.database.c_str(), uri_.host.port,
          by_socket ? uri_.socket.c_str() : nullptr, CLIENT_MULTI_STATEMENTS);
    case Step::send: return mysql_send_query_start(&code_, mysql_, text_.data(), text_.size());
    case Step::await: return MYSQL_WAIT_READ;
    case Step::read: return mysql_read_query_result_start(&read_, mysql_);
    case Step::row: return mysql_fetch_row_start(&row_, result_);
    case Step::next: return mysql_next_result_start(&code_, mysql_);
  }
  return 0;
}

int MysqlConnection::resume(int events) {
  switch (step_) {
    case Step::connect: return mysql_real_connect_cont(&connected_, mysql_, events);
    case Step::send: return mysql_send_query_cont(&code_, mysql_, events);
    case Step::await: return start(Step::read);
    case Step::read: return mysql_read_query_result_cont(&read_, mysql_, events);
    case Step::row: return mysql_fetch_row_cont(&row_, result_, events);
    case Step::next: return mysql_next_result_cont(&code_, mysql_, events);
  }
  return 0;
}

MysqlConnection::Step MysqlConnection::after_step() {
  const bool failed = step_ == Step::connect ? connected_ == nullptr
                      : step_ == Step::send  ? code_ != 0
                      : step_ == Step::read  ? read_ != 0
                      : step_ == Step::next  ? code_ > 0
                                             : row_ == nullptr && mysql_errno(mysql_) != 0;
  if (failed) return stop({mysql_errno(mysql_), mysql_error(mysql_)});
  if (step_ == Step::connect && uri_.has_tls() && mysql_get_ssl_cipher(mysql_) == nullptr) {
    return stop({CR_SSL_CONNECTION_ERROR, "the server offers no TLS"});
  }
  if (step_ == Step::send) return Step::await;
  if (step_ == Step::row && row_ != nullptr) {
    read_row();
    return reply_size_ > longest_reply ? stop(too_long()) : Step::row;
  }
  free_result();
  const bool has_result = step_ == Step::read || (step_ == Step::next && code_ == 0);
  if (has_result) {
    count(0);
    if (reply_size_ > longest_reply) return stop(too_long());
    if (mysql_field_count(mysql_) > 0) return begin_rows();
    statements_.push_back({nullptr, mysql_affected_rows(mysql_)});
  }
  if (step_ != Step::connect && mysql_more_results(mysql_) != 0) return Step::next;
  state_ = State::idle;
  return Step::connect;
}

MysqlConnection::Step MysqlConnection::stop(SqlError error) {
  error_ = std::move(error);
  const bool dead = step_ == Step::connect || error_.is_of_client();
  state_ = dead ? State::broken : State::idle;
  free_result();
  return Step::connect;
}

MysqlConnection::Step MysqlConnection::begin_rows() {
  if (mysql_field_count(mysql_) > most_columns) {
    return stop({CR_MALFORMED_PACKET, "the reply has more columns than any that was asked for"});
  }
  result_ = mysql_use_result(mysql_);
  if (result_ == nullptr) throw std::bad_alloc();
  statements_.push_back({&results_.emplace_back(), 0});
  return Step::row;
}

void MysqlConnection::read_row() {
  const unsigned columns = mysql_num_fields(result_);
  const unsigned long* const lengths = mysql_fetch_lengths(result_);
  std::vector<std::string>& cells = results_.back().emplace_back();
  cells.reserve(columns);
  for (unsigned column = 0; column < columns; ++column) {
    const bool is_null = row_[column] == nullptr;
    cells.emplace_back(is_null ? "" : row_[column], is_null ? 0 : lengths[column]);
    count(cells.back().size());
  }
}

void MysqlConnection::count(std::size_t bytes) { reply_size_ += bytes_beside + bytes; }

// The rows that have not arrived are not awaited.
void MysqlConnection::free_result() noexcept {
  if (result_ == nullptr) return;
  if (state_ != State::running) result_->handle = nullptr;
  mysql_free_result(std::exchange(result_, nullptr));
}

void MysqlConnection::fail() {
  SqlError error = std::move(error_);
  close();
  error_ = std::move(error);
  state_ = State::broken;
}

// While it connects, the library may go from one address to the next, with another socket that may
// have the same number. A program that the process starts must not inherit it.
void MysqlConnection::watch(int events) {
  const int now = static_cast<int>(mysql_get_socket(mysql_));
  if (state_ == State::connecting || now != descriptor_) {
    if (descriptor_ >= 0) descriptors_.forget(descriptor_);
    if (now >= 0) ::fcntl(now, F_SETFD, FD_CLOEXEC);
  }
  descriptor_ = now;
  const short wanted = events == 0 ? short{POLLIN} : poll_events(events);
  if (descriptor_ >= 0) descriptors_.watch(descriptor_, wanted);
}

void MysqlConnection::close() noexcept {
  if (mysql_ != nullptr && descriptor_ >= 0) ::shutdown(descriptor_, SHUT_RDWR);
  drop();
}

// The library says farewell to the server: to a file that is none, instead of the parent's socket.
void MysqlConnection::abandon() noexcept {
  if (mysql_ != nullptr && descriptor_ >= 0) {
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
      ::dup2(nowhere, descriptor_);
      ::close(nowhere);
    } else {
      mysql_ = nullptr;  // and its memory is lost
    }
  }
  descriptor_ = -1;  // the set of descriptors is the parent's, too
  drop();
}

void MysqlConnection::drop() noexcept {
  if (descriptor_ >= 0) descriptors_.forget(std::exchange(descriptor_, -1));
  state_ = State::closed;
  free_result();
  if (mysql_ != nullptr) mysql_close(std::exchange(mysql_, nullptr));
  results_.clear();
  statements_.clear();
  error_ = {};
}

}  // namespace latchkey::inline v1::detail::mysql
