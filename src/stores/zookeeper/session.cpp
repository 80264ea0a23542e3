// One session with a ZooKeeper ensemble.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/session.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <utility>

namespace latchkey::inline v1::detail::zookeeper {
namespace {

void ignore_log(const char* /*line*/) noexcept {}
void ignore_login(int /*code*/, const void* /*data*/) noexcept {}

}  // namespace

Session::Session(const ZooKeeperUri& uri, OnNodeEvent on_event)
    : open_(uri.open), on_event_(std::move(on_event)) {
  const std::string login = uri.user.empty() ? std::string() : uri.user + ':' + uri.password;
  handle_ = ::zookeeper_init2(host_list(uri.servers).c_str(), &Session::on_event,
                              static_cast<int>(uri.requested_session.count()), nullptr, this,
                              ZOO_NO_LOG_CLIENTENV, &ignore_log);
  if (handle_ == nullptr) throw std::runtime_error("no server's name can be resolved");
  // By default each call of zookeeper_interest resolves the names, and waits for that.
  ::zoo_set_servers_resolution_delay(handle_, -1);
  if (login.empty()) return;
  ::zoo_add_auth(handle_, "digest", login.data(), static_cast<int>(login.size()), &ignore_login,
                 nullptr);
}

Session::~Session() {
  drop();
  ::zookeeper_close(handle_);
}

Session::State Session::state() const noexcept {
  const int state = ::zoo_state(handle_);
  if (state == ZOO_CONNECTED_STATE) return State::connected;
  if (state == ZOO_EXPIRED_SESSION_STATE) return State::expired;
  return state == ZOO_AUTH_FAILED_STATE ? State::refused : State::connecting;
}

// The library reads one message at a time, and all of it if all of it has arrived.
void Session::process(short events) {
  if (descriptor_ < 0 || events == 0) return;
  int wanted = ((events & POLLOUT) != 0 ? ZOOKEEPER_WRITE : 0) |
               ((events & (POLLIN | POLLERR | POLLHUP)) != 0 ? ZOOKEEPER_READ : 0);
  if ((events & (POLLERR | POLLHUP)) != 0) wanted |= ZOOKEEPER_WRITE;  // a connect that failed
  for (bool first = true;; first = false) {
    if ((wanted & ZOOKEEPER_READ) != 0 && state() == State::connected) {
      const Next next = next_message();
      if (next == Next::incomplete) {
        wanted &= ~ZOOKEEPER_READ;
        if (!first || wanted == 0) return;
      } else if (next == Next::malformed) {
        is_malformed_ = true;
        break_connection();
      }
    }
    errno = 0;
    const int code = ::zookeeper_process(handle_, first ? wanted : ZOOKEEPER_READ);
    if (std::exchange(is_broken_, false)) {
      break_connection();
      throw std::bad_alloc();
    }
    if (code == ZOK && (wanted & ZOOKEEPER_READ) != 0) continue;
    if (code != ZOK && code != ZNOTHING) fail(errno);
    return;
  }
}

Session::Next Session::next_message() {
  if (long_message_ && *long_message_ == completed_) return Next::readable;
  long_message_.reset();
  std::array<char, length_size + longest_whole_message> bytes;
  const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  // Bytes that arrive after this peek are unchecked: the library may not read them before the next.
  if (got < 0 && errno == EAGAIN) return Next::incomplete;
  if (got <= 0) return Next::readable;  // the library reports the end
  const std::string_view input(bytes.data(), static_cast<std::size_t>(got));
  const std::size_t length =
      input.size() < length_size ? longest_whole_message : message_length(input);
  if (length == 0) return Next::malformed;
  const std::size_t whole = length_size + std::min(length, longest_whole_message);
  if (input.size() < whole) {
    // If nothing has arrived since the last look, nothing will: the connection has ended.
    const bool grows = std::exchange(peeked_bytes_, input.size()) != input.size();
    await_bytes(input.size() < length_size ? length_size : whole);
    return grows ? Next::incomplete : Next::malformed;
  }
  peeked_bytes_ = 0;
  await_bytes(1);
  const ReplyShape* const awaited = operations_.empty() ? nullptr : &operations_.front()->shape;
  if (!is_readable(input.substr(length_size, whole - length_size), length, awaited))
    return Next::malformed;
  if (length > longest_whole_message) long_message_ = completed_;
  return Next::readable;
}

void Session::await_bytes(std::size_t count) noexcept {
  if (std::exchange(awaited_bytes_, count) == count) return;
  const int value = static_cast<int>(count);
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value);
}

short Session::interest(std::chrono::microseconds& wait) {
  timeval time{};
  int wanted = 0, descriptor = -1;
  errno = 0;
  const int code = ::zookeeper_interest(handle_, &descriptor, &wanted, &time);
  if (code == ZOK) {
    descriptor_ = descriptor;
  } else {
    fail(errno);
  }
  wait = std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  return static_cast<short>(((wanted & ZOOKEEPER_READ) != 0 ? POLLIN : 0) |
                            ((wanted & ZOOKEEPER_WRITE) != 0 ? POLLOUT : 0));
}

// The library gives the length and the content of each operation to the network apart, so the
// kernel would send two packets, and the server would read twice.
void Session::cork(bool on) noexcept {
  if (is_corked_ == on) return;
  is_corked_ = on;
  const int value = on ? 1 : 0;
  if (descriptor_ >= 0) ::setsockopt(descriptor_, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

void Session::send_out() noexcept {
  cork(false);
  reached_ = Reach::none;
}

// After some errors the library leaves the connection open.
void Session::fail(int error) noexcept {
  const int state = ::zoo_state(handle_);
  const bool is_open = state == ZOO_CONNECTED_STATE || state == ZOO_ASSOCIATING_STATE ||
                       state == ZOO_CONNECTING_STATE;
  if (is_open) return break_connection();
  last_error_ = std::exchange(is_malformed_, false) ? EBADMSG : error;
  awaited_bytes_ = 1;
  peeked_bytes_ = 0;
  long_message_.reset();
  descriptor_ = -1;
  is_corked_ = false;
  ++ended_;
}

// A socket that is shut down still has what arrived before, which may be what it is broken for.
void Session::break_connection() noexcept {
  if (descriptor_ < 0) return;
  ::shutdown(descriptor_, SHUT_RDWR);
  std::array<char, 4096> bytes;
  while (::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
  }
}

void Session::drop() noexcept {
  for (Operation* const operation : operations_) {
    operation->session = nullptr;
    operation->handler = nullptr;
  }
  operations_.clear();
}

// The library would say goodbye on the socket that the parent uses. It gets another one.
void Session::leave_to_parent() noexcept {
  if (descriptor_ < 0) return;
  const int other = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (other >= 0) {
    ::dup3(other, descriptor_, O_CLOEXEC);
    ::close(other);
  } else {
    ::close(descriptor_);
  }
}

std::chrono::milliseconds Session::timeout() const noexcept {
  return std::chrono::milliseconds(::zoo_recv_timeout(handle_));
}

clientid_t Session::id() const noexcept { return *::zoo_client_id(handle_); }

void Session::on_event(zhandle_t* /*handle*/, int type, int /*state*/, const char* path,
                       void* context) noexcept {
  auto& session = *static_cast<Session*>(context);
  if (type == ZOO_SESSION_EVENT || path == nullptr) return;
  try {
    session.on_event_(path, type == ZOO_DELETED_EVENT ? NodeEvent::deleted : NodeEvent::changed);
  } catch (const std::bad_alloc&) {
    session.is_broken_ = true;
  }
}

}  // namespace latchkey::inline v1::detail::zookeeper
