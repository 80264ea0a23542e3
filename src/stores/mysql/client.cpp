// The client of MariaDB or MySQL.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/client.hpp"

#include <mysql.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "backend/verbs.hpp"
#include "stores/mysql/server_errors.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

using std::chrono::milliseconds;

/// How often a client that has requests looks for what killed processes have left behind.
constexpr std::chrono::seconds sweep_interval{1};
/// How long the handshake waits between two looks whether the last session has ended.
constexpr milliseconds handshake_pause{5};

ConnectionFailure connect_failure(const SqlError& error) {
  constexpr unsigned no_socket = 2002, no_host = 2003;
  ConnectionFailure failure;
  failure.permanent = is_permanent(error.number);
  failure.nothing_listens = error.number == no_socket || error.number == no_host;
  const bool is_plain = error.is_of_client() && error.number != plugin_not_allowed;
  failure.text = is_plain ? error.text : error_text(error);
  return failure;
}

}  // namespace

MysqlClient::MysqlClient(MysqlUri uri, const Options& options)
    : uri_(std::move(uri)),
      timeout_(options.command_timeout),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      layout_(Layout::make(uri_)),
      connection_(descriptors_),
      handshake_(*layout_, uri_.create, timeout_),
      batch_(*layout_, uri_.poll),
      policy_(std::random_device{}()) {
  mysql_library_init(0, nullptr, nullptr);
}

stores::StoreClient::Start MysqlClient::start_state() const noexcept {
  if (stage_ == Stage::up) return Start::up;
  const ConnectionFailure* const failure = policy_.last_failure();
  return failure != nullptr && failure->is_certain() ? Start::failed : Start::connecting;
}

void MysqlClient::submit(std::span<Request* const> requests, Sink& sink) {
  struct Refused {
    Request* request;
    std::string why;  ///< empty: it is answered, as nobody waits at the server
  };
  const TimePoint now = clock_.now();
  std::vector<Request*> accepted;
  std::vector<Refused> others;
  accepted.reserve(requests.size());
  for (Request* const request : requests) {
    const bool lists_waiters =
        request->verb == Verb::list && request->part != nullptr && request->part->awaited;
    std::string why = layout_->why_not(*request);
    if (lists_waiters || !why.empty()) {
      others.push_back({request, lists_waiters ? std::string() : std::move(why)});
    } else {
      accepted.push_back(request);
    }
  }
  batch_.add(accepted, sink, now);
  for (Refused& each : others) {  // from here on, nothing needs memory
    if (each.why.empty()) {
      each.request->part->cursor = {};
      outbox_.complete(*each.request, sink, Outcome::Kind::granted);
    } else {
      outbox_.refuse(*each.request, sink, std::move(each.why));
    }
  }
  if (stage_ == Stage::up) return;
  policy_.want(now);
  policy_.hasten();
}

void MysqlClient::send(TimePoint now) {
  if (stage_ == Stage::up) send_batch(now);
}

void MysqlClient::advance(TimePoint now) {
  connection_.advance();
  while (step(now)) {
  }
  if (stage_ == Stage::up && connection_.state() != MysqlConnection::State::broken) return;
  const ConnectionFailure* const known = policy_.last_failure();
  const std::string why = known != nullptr ? known->text : overdue();
  if (known != nullptr && known->permanent) return batch_.refuse_waiting(why, outbox_);
  batch_.expire(
      now, [this](const Request& request, TimePoint at) { return gives_up_at(request, at); }, why,
      outbox_);
}

bool MysqlClient::step(TimePoint now) {
  using State = MysqlConnection::State;
  const State state = connection_.state();
  if (stage_ == Stage::down) {
    if (now < policy_.next_attempt_at()) return false;
    handshake_.begin(session_);
    stage_ = Stage::connecting;
    deadline_ = later(now, timeout_);
    connection_.connect(uri_);
    return true;
  }
  if (state == State::broken) {
    ConnectionFailure failure = connect_failure(connection_.error());
    if (stage_ != Stage::connecting) failure.permanent = false;
    lose(std::move(failure), now);
    return true;
  }
  if (now >= deadline_ && state != State::idle) {
    lose(ConnectionFailure{.permanent = false, .text = overdue()}, now);
    return true;
  }
  if (stage_ == Stage::up) return state == State::idle && serve(now);
  return state == State::idle && shake_hands(now);
}

bool MysqlClient::shake_hands(TimePoint now) {
  const auto ask = [&] {
    stage_ = Stage::handshake;
    connection_.query(handshake_.text());
    return true;
  };
  if (stage_ == Stage::connecting) return ask();
  if (stage_ == Stage::pausing) {
    if (now >= deadline_) {
      lose(ConnectionFailure{.permanent = false,
                             .text = "the last session at the server does not end"},
           now);
      return true;
    }
    return now >= retry_at_ && ask();
  }
  switch (handshake_.read(connection_.results(), connection_.error())) {
    case Handshake::Next::send: return ask();
    case Handshake::Next::wait:
      stage_ = Stage::pausing;
      retry_at_ = later(now, handshake_pause);
      return false;
    case Handshake::Next::failed: lose(handshake_.failure(), now); return true;
    case Handshake::Next::done: break;
  }
  session_ = handshake_.session();
  batch_.permit_joint(session_->is_mariadb);
  stage_ = Stage::up;
  deadline_ = Clock::never();
  policy_.connected(now);
  outbox_.link(true, {});
  return true;
}

bool MysqlClient::serve(TimePoint now) {
  const SqlError& error = connection_.error();
  if (ends_session(error.number)) {
    lose(ConnectionFailure{.permanent = false, .text = error_text(error)}, now);
    return true;
  }
  const bool fits = sweeping_ || batch_.under_way() == 0 || batch_.fits(connection_.statements());
  if (error.number == 0 && !fits) {
    lose(ConnectionFailure{.permanent = false, .text = std::string(sql::malformed)}, now);
    return true;
  }
  if (std::exchange(sweeping_, false)) {
    constexpr Layout::Shape shape{1, true};
    const auto& results = connection_.results();
    const bool found = error.number == 0 && !results.empty() && shape.fits(results.front());
    swept_to_ = found ? results.front().front().front() : std::string();
    if (!found) batch_.roll_back_first();
  } else if (batch_.under_way() > 0) {
    pacing_.ended(batch_.under_way(), batch_.waiting(), sent_, now, true);
    batch_.finish(connection_.statements(), error, now, outbox_);
  }
  deadline_ = Clock::never();
  return send_batch(now);
}

bool MysqlClient::send_batch(TimePoint now) {
  if (batch_.under_way() > 0 || !pacing_.is_ready(batch_.waiting(), now)) return false;
  if (!connection_.is_ready()) return false;
  if (now >= next_sweep_) {
    next_sweep_ = later(now, sweep_interval);
    if (std::string text = layout_->sweep(swept_to_); !text.empty()) {
      sweeping_ = true;
      run("ROLLBACK;BEGIN;" + text + ";COMMIT", now);
      return true;
    }
  }
  sent_ = now;
  run(batch_.send(), now);
  return true;
}

void MysqlClient::run(std::string text, TimePoint now) {
  deadline_ = later(now, timeout_);
  connection_.query(std::move(text));
}

void MysqlClient::lose(ConnectionFailure failure, TimePoint now) {
  const bool wanted = batch_.waiting() > 0 || batch_.under_way() > 0;
  connection_.close();
  sweeping_ = false;
  stage_ = Stage::down;
  deadline_ = Clock::never();
  batch_.lose(failure.text, outbox_);
  outbox_.link(false, failure.text);
  policy_.failed(std::move(failure), now, wanted);
}

std::string MysqlClient::overdue() const {
  return "no answer for " + std::to_string(timeout_.count()) + " ms";
}

MysqlClient::TimePoint MysqlClient::gives_up_at(const Request& request,
                                                TimePoint submitted) const noexcept {
  const TimePoint last = later(submitted, timeout_);
  return fails_fast(request.verb) ? std::min(last, policy_.gives_up_at(submitted)) : last;
}

Clock::time_point MysqlClient::due() const noexcept {
  if (stage_ == Stage::up) {
    if (connection_.state() == MysqlConnection::State::broken) return TimePoint{};  // by `submit`
    const bool can_send = batch_.waiting() > 0 && batch_.under_way() == 0 &&
                          connection_.state() == MysqlConnection::State::idle;
    return can_send ? pacing_.due() : deadline_;
  }
  const TimePoint expiry = batch_.expires_at(
      [this](const Request& request, TimePoint at) { return gives_up_at(request, at); });
  const TimePoint next = stage_ == Stage::down      ? policy_.next_attempt_at()
                         : stage_ == Stage::pausing ? std::min(retry_at_, deadline_)
                                                    : deadline_;
  return std::min(expiry, next);
}

// The next session ends this one at the server before it sends anything.
void MysqlClient::start_over(TimePoint now) noexcept {
  connection_.close();
  forget_requests();
  policy_.failed(no_memory(), now, true);
}

void MysqlClient::abandon() noexcept {
  connection_.abandon();
  forget_requests();
  policy_.reset();
  session_.reset();
  handshake_.renew_mark();
}

void MysqlClient::forget_requests() noexcept {
  batch_.forget();
  stage_ = Stage::down;
  deadline_ = Clock::never();
  sweeping_ = false;
}

}  // namespace latchkey::inline v1::detail::mysql
