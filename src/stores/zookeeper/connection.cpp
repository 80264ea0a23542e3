// The connection to a ZooKeeper ensemble.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/connection.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>

namespace latchkey::inline v1::detail::zookeeper {
namespace {

std::string seconds_text(std::chrono::milliseconds time) {
  const bool whole = time.count() % 1000 == 0;
  return whole ? std::to_string(time.count() / 1000) + "s" : std::to_string(time.count()) + "ms";
}

}  // namespace

ZooKeeperConnection::ZooKeeperConnection(const ZooKeeperUri& uri, std::chrono::milliseconds timeout,
                                         ConnectionEvents& events,
                                         stores::DescriptorSet& descriptors)
    : uri_(uri),
      timeout_(timeout),
      events_(events),
      descriptors_(descriptors),
      policy_(std::random_device{}()) {}

const ConnectionFailure* ZooKeeperConnection::rejection() const noexcept {
  const ConnectionFailure* const failure = policy_.last_failure();
  return failure != nullptr && failure->permanent ? failure : nullptr;
}

void ZooKeeperConnection::advance(TimePoint now) {
  now_ = now;
  if (!session_) {
    if (now < policy_.next_attempt_at()) return;
    open(now);
    if (!session_) return;
  }
  session_->set_now(now);
  session_->process(own_.valid() ? descriptors_.ready(own_.get()) : short{0});
  examine(now);
  check_silence(now);
  if (session_ && now >= next_sign_of_life()) {
    session_->exists(uri_.folder.empty() ? "/" : uri_.folder, false, [](Reply&&) {});
  }
  rest(now);
}

ZooKeeperConnection::TimePoint ZooKeeperConnection::next_sign_of_life() const noexcept {
  if (!is_up() || !keeps_session_) return Clock::never();
  return later(session_->last_sent(), session_->timeout() / 10);
}

void ZooKeeperConnection::rest(TimePoint now) {
  now_ = now;
  if (!session_) return;
  session_->send_out();
  if (stage_ == Stage::connecting && session_->descriptor() < 0 && now < policy_.next_attempt_at())
    return;
  const bool begins = session_->descriptor() < 0;
  std::chrono::microseconds wait{};
  const short events = session_->interest(wait);
  if (begins) stage_since_ = now;
  library_due_ = later(now, wait);
  if (begins || session_->descriptor() != watched_) unwatch();
  if (session_->descriptor() >= 0) watch(events);
  if (session_->ended() != seen_ended_) library_due_ = now;  // `advance` sees to it
}

// The library opens and closes its descriptor, which programs that this process starts would
// inherit and keep open. A duplicate can leave the set at any time.
void ZooKeeperConnection::watch(short events) {
  if (!own_.valid()) {
    watched_ = session_->descriptor();
    ::fcntl(watched_, F_SETFD, FD_CLOEXEC);
    own_ = FileDescriptor(::fcntl(watched_, F_DUPFD_CLOEXEC, 0));
    if (!own_.valid()) throw std::bad_alloc();
  }
  descriptors_.watch(own_.get(), events);
}

void ZooKeeperConnection::unwatch() noexcept {
  if (own_.valid()) descriptors_.forget(own_.get());
  own_ = FileDescriptor();
  watched_ = -1;
}

ZooKeeperConnection::TimePoint ZooKeeperConnection::due() const noexcept {
  if (!session_) return policy_.next_attempt_at();
  if (stage_ == Stage::connecting && session_->descriptor() < 0) return policy_.next_attempt_at();
  TimePoint due = std::min(library_due_, next_sign_of_life());
  if (session_->has_operations()) due = std::min(due, later(session_->oldest(), timeout_));
  if (stage_ == Stage::connecting) due = std::min(due, later(stage_since_, timeout_));
  return due;
}

void ZooKeeperConnection::open(TimePoint now) {
  try {
    session_ = std::make_unique<Session>(uri_, [this](std::string_view path, NodeEvent event) {
      events_.on_node_event(path, event);
    });
  } catch (const std::runtime_error& error) {
    return fail({.permanent = false, .text = error.what(), .nothing_listens = false}, now);
  }
  stage_ = Stage::connecting;
  stage_since_ = lost_at_ = now;
  was_up_ = false;
  seen_ended_ = failed_ = 0;
}

void ZooKeeperConnection::close() noexcept {
  unwatch();
  session_.reset();
  stage_ = Stage::apart;
}

void ZooKeeperConnection::examine(TimePoint now) {
  if (!rejected_.empty()) {
    close();
    return fail({.permanent = true, .text = std::exchange(rejected_, {})}, now);
  }
  if (session_->ended() != seen_ended_) on_ended(now);
  if (!session_) return;
  switch (session_->state()) {
    case Session::State::expired: return give_session_up(now);
    case Session::State::refused:
      close();
      return fail({.permanent = true, .text = "the server rejects digest authentication"}, now);
    case Session::State::connected:
      if (stage_ == Stage::connecting) greet(now);
      return;
    case Session::State::connecting: return;
  }
}

// The first operation shows that the server works, and that it lets this user in.
void ZooKeeperConnection::greet(TimePoint now) {
  const std::chrono::milliseconds granted = session_->timeout();
  if (granted < uri_.session || granted > uri_.requested_session) {
    const ConnectionFailure failure{.permanent = true,
                                    .text = "the server offers no session of " +
                                            seconds_text(uri_.session) +
                                            "; the nearest is session=" + seconds_text(granted)};
    close();
    return fail(failure, now);
  }
  stage_ = Stage::greeting;
  const std::string folder = uri_.folder.empty() ? "/" : uri_.folder;
  if (was_up_) {
    session_->sync(folder, [this](Reply&& reply) { on_greeted(reply.code, true); });
  } else {
    session_->children(folder, false, [this](Reply&& reply) { on_greeted(reply.code, false); });
  }
}

void ZooKeeperConnection::on_greeted(int code, bool resumed) {
  if (code == ZNOAUTH) {
    rejected_ = "the server does not let this user read " +
                in_quotes(uri_.folder.empty() ? "/" : uri_.folder) +
                ": check user and password, and the ACL of that node";
    return;  // the session is closed when the library has returned
  }
  stage_ = Stage::up;
  was_up_ = true;
  failed_ = 0;
  policy_.connected(now_);
  events_.on_link_up(resumed);
}

// A connection, or an attempt, has ended.
void ZooKeeperConnection::on_ended(TimePoint now) {
  seen_ended_ = session_->ended();
  unwatch();
  const std::string why = why_ended();
  const bool was_connected = stage_ == Stage::greeting || stage_ == Stage::up;
  if (was_connected) {
    lose(now, why);
    if (session_->state() != Session::State::expired) fail({.text = why}, now);
  } else if (++failed_ % uri_.servers.size() == 0) {
    const bool nothing_listens = session_->last_error() == ECONNREFUSED;
    fail({.permanent = false, .text = why, .nothing_listens = nothing_listens}, now);
    events_.on_down(why);
  }
  if (stage_ == Stage::connecting && was_up_ && now - lost_at_ >= session_->timeout())
    give_session_up(now);
}

std::string ZooKeeperConnection::why_ended() const {
  const int error = session_->last_error();
  if (error == ECONNREFUSED) return "connection refused";
  if (error == EBADMSG) return "the server sent a malformed message";
  if (error == 0 || error == ENOENT || error == EAGAIN) return "the server closed the connection";
  return std::error_code(error, std::generic_category()).message();
}

void ZooKeeperConnection::lose(TimePoint now, const std::string& why) {
  stage_ = Stage::connecting;
  stage_since_ = lost_at_ = now;
  session_->drop();
  events_.on_link_lost(why);
}

void ZooKeeperConnection::fail(ConnectionFailure failure, TimePoint now) {
  const bool permanent = failure.permanent;
  const std::string why = failure.text;
  policy_.failed(std::move(failure), now, false);
  if (permanent) events_.on_down(why);
}

// All leases that it carried have ended, or the server says so.
void ZooKeeperConnection::give_session_up(TimePoint now) {
  if (stage_ != Stage::connecting) lose(now, "the session has ended");
  close();
  events_.on_session_lost();
  open(now);
}

// A server that does not answer counts as lost.
void ZooKeeperConnection::check_silence(TimePoint now) {
  if (!session_) return;
  const bool silent = session_->has_operations() && now >= later(session_->oldest(), timeout_);
  const bool stuck = stage_ == Stage::connecting && session_->descriptor() >= 0 &&
                     now >= later(stage_since_, timeout_);
  if (!silent && !stuck) return;
  session_->break_connection();
  session_->process(POLLIN | POLLOUT);
  examine(now);
}

// The library notices the end of the connection and makes another one.
void ZooKeeperConnection::start_over(TimePoint now) noexcept {
  policy_.failed(no_memory(), now, true);
  if (!session_) return;
  session_->drop();
  session_->break_connection();
  if (stage_ == Stage::greeting || stage_ == Stage::up) stage_since_ = lost_at_ = now;
  stage_ = Stage::connecting;
}

// Nothing is sent on the parent's connection.
void ZooKeeperConnection::abandon() noexcept {
  if (session_) session_->leave_to_parent();
  own_ = FileDescriptor();
  watched_ = -1;
  session_.reset();
  stage_ = Stage::apart;
  policy_.reset();
}

}  // namespace latchkey::inline v1::detail::zookeeper
