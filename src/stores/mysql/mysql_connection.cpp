// A connection to MariaDB or MySQL that does not block.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/mysql_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <utility>

namespace latchkey::inline v1::detail::mysql {
namespace {

const char* or_null(const std::string& text) noexcept {
  return text.empty() ? nullptr : text.c_str();
}

void set_options(MYSQL* mysql, const MysqlUri& uri) {
  const unsigned off = 0;
  const my_bool on = 1;
  mysql_options(mysql, MYSQL_OPT_NONBLOCK, nullptr);
  mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &off);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (uri.ssl_ca.empty() && uri.ssl_cert.empty()) return;
  mysql_ssl_set(mysql, or_null(uri.ssl_key), or_null(uri.ssl_cert), or_null(uri.ssl_ca), nullptr,
                nullptr);
  mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &on);
  if (!uri.ssl_ca.empty()) mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
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
  set_options(mysql_, uri_);
  state_ = State::connecting;
  go_on(start(Step::connect));
}

void MysqlConnection::query(std::string text) {
  text_ = std::move(text);
  results_.clear();
  statements_.clear();
  error_ = {};
  state_ = State::running;
  go_on(start(Step::send));
}

void MysqlConnection::advance() {
  if (mysql_ == nullptr || state_ == State::broken) return;
  const short ready = descriptors_.ready(descriptor_);
  if (ready == 0) return;
  if (state_ == State::idle) {  // nothing is expected: the server has closed, or says why it will
    error_ = {2006, "the server has closed the connection"};
    return fail();
  }
  if (const int status = ready_status(ready); status != 0) go_on(resume(status));
}

void MysqlConnection::go_on(int events) {
  while (events == 0) {
    if (step_ == Step::store) read_rows();
    const Step next = after_step();
    if (next == Step::connect) break;
    events = start(next);
  }
  if (state_ == State::broken) return fail();
  watch(events);
}

int MysqlConnection::start(Step step) {
  step_ = step;
  switch (step) {
    case Step::connect:
      return mysql_real_connect_start(
          &connected_, mysql_, uri_.socket.empty() ? uri_.host.host.c_str() : nullptr,
          or_null(uri_.user), uri_.password.c_str(), uri_.database.c_str(), uri_.host.port,
          or_null(uri_.socket), CLIENT_MULTI_STATEMENTS);
    case Step::send: return mysql_send_query_start(&code_, mysql_, text_.data(), text_.size());
    case Step::await: return MYSQL_WAIT_READ;
    case Step::read: return mysql_read_query_result_start(&read_, mysql_);
    case Step::store: return mysql_store_result_start(&stored_, mysql_);
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
    case Step::store: return mysql_store_result_cont(&stored_, mysql_, events);
    case Step::next: return mysql_next_result_cont(&code_, mysql_, events);
  }
  return 0;
}

MysqlConnection::Step MysqlConnection::after_step() {
  const bool failed = step_ == Step::connect ? connected_ == nullptr
                      : step_ == Step::send  ? code_ != 0
                      : step_ == Step::read  ? read_ != 0
                      : step_ == Step::next  ? code_ > 0
                                             : mysql_errno(mysql_) != 0;
  if (failed) {
    error_ = {mysql_errno(mysql_), mysql_error(mysql_)};
    const bool dead = step_ == Step::connect || error_.is_of_client();
    state_ = dead ? State::broken : State::idle;
    return Step::connect;
  }
  if (step_ == Step::send) return Step::await;
  const bool has_rows = step_ == Step::read || (step_ == Step::next && code_ == 0);
  if (has_rows && mysql_field_count(mysql_) > 0) return Step::store;
  if (has_rows) statements_.push_back({nullptr, mysql_affected_rows(mysql_)});
  if (step_ != Step::connect && mysql_more_results(mysql_) != 0) return Step::next;
  state_ = State::idle;
  return Step::connect;
}

void MysqlConnection::read_rows() {
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> owned(
      std::exchange(stored_, nullptr), &mysql_free_result);
  MYSQL_RES* const stored = owned.get();
  if (stored == nullptr) return;
  Rows& rows = results_.emplace_back();
  statements_.push_back({&rows, 0});
  const unsigned columns = mysql_num_fields(stored);
  while (MYSQL_ROW row = mysql_fetch_row(stored)) {
    const unsigned long* const lengths = mysql_fetch_lengths(stored);
    std::vector<std::string>& cells = rows.emplace_back();
    for (unsigned column = 0; column < columns; ++column) {
      cells.emplace_back(row[column] == nullptr ? "" : row[column], lengths[column]);
    }
  }
}

void MysqlConnection::fail() {
  SqlError error = std::move(error_);
  close();
  error_ = std::move(error);
  state_ = State::broken;
}

// While it connects, the library may go from one address to the next, with another socket that may
// have the same number.
void MysqlConnection::watch(int events) {
  const int now = static_cast<int>(mysql_get_socket(mysql_));
  if (descriptor_ >= 0 && (state_ == State::connecting || now != descriptor_)) {
    descriptors_.forget(descriptor_);
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
  if (mysql_ != nullptr) mysql_close(std::exchange(mysql_, nullptr));
  state_ = State::closed;
  results_.clear();
  statements_.clear();
  error_ = {};
}

}  // namespace latchkey::inline v1::detail::mysql
