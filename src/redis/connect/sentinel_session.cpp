// One sentinel, and what it says of the master.
#include "redis/connect/sentinel_session.hpp"

#include <poll.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "redis/protocol/number.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/session/handshake.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

/// Between a failure and the next attempt; between an answer and the next question, so that a
/// sentinel that vanished without a trace is missed.
constexpr auto redial_pause = 1s, question_pause = 2s;
/// An answer outlives its sentinel by so much: the others hear of a failover much sooner.
constexpr auto believed_for = 30s;

/// What the sentinel's record of the master says its config epoch is; 0: nothing.
std::uint64_t epoch_of(const redisReply& record) noexcept {
  for (std::size_t index = 0; index + 1 < record.elements; index += 2) {
    std::uint64_t epoch = 0;
    if (text_of(*record.element[index]) != "config-epoch") continue;
    return read_number(text_of(*record.element[index + 1]), epoch) ? epoch : 0;
  }
  return 0;
}

/// {host, port}
bool read_place(const redisReply& reply, RedisUri::Endpoint& place) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return false;
  place.host = text_of(*reply.element[0]);
  return !place.host.empty() && read_number(text_of(*reply.element[1]), place.port) &&
         place.port != 0;
}

}  // namespace

SentinelSession::SentinelSession(RedisUri uri, const TlsContext* tls, std::string master,
                                 std::chrono::milliseconds patience)
    : uri_(std::move(uri)),
      master_(std::move(master)),
      patience_(patience),
      transport_(tls, patience),
      tcp_connector_(uri_, transport_) {}

void SentinelSession::ask(TimePoint now) {
  state_ = State::asked;
  deadline_ = later(now, patience_);
  ask_at_ = Clock::never();
  if (stage_ == Stage::down) {
    stage_ = Stage::dialing;
    dialed(tcp_connector_.begin(now), now);
  } else if (stage_ == Stage::talking) {
    say(now);
  }
}

void SentinelSession::go_on(TimePoint now) {
  if (now >= ask_at_) ask(now);
  if (stage_ == Stage::dialing) dialed(tcp_connector_.go_on(now), now);
  if (stage_ == Stage::talking) write(now);
  if (stage_ == Stage::talking) read(now);
  if (state_ == State::asked && now >= deadline_) fail(silence(patience_), now);
}

void SentinelSession::dialed(const Io& io, TimePoint now) {
  if (io.kind == Io::Kind::blocked) return;
  if (io.kind == Io::Kind::broken) return fail(io.failure, now);
  stage_ = Stage::talking;
  reader_.reset();
  out_.clear();
  append_hello(out_, uri_.user, uri_.password, uri_.client_name);
  // The sentinel that leads a failover says +switch-master only when all replicas follow.
  out_.command({"SUBSCRIBE", "+switch-master", "+promoted-slave", "+failover-state-reconf-slaves"});
  // A confirmed SUBSCRIBE answers by pushes only, a refused one by an error.
  out_.command({"PING"});
  expected_ = Question::hello;
  answers_owed_ = ask_again_ = true;
  ears_refused_ = false;
  write(now);
}

// One question at a time, so that each answer is known by its place.
void SentinelSession::say(TimePoint now) {
  ask_again_ = answers_owed_;
  if (ask_again_) return;
  out_.command({"SENTINEL", "MASTER", master_});
  out_.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_});
  expected_ = Question::master;
  answers_owed_ = true;
  write(now);
}

void SentinelSession::write(TimePoint now) {
  while (!out_.empty()) {
    Io io = transport_.write(out_.bytes());
    if (io.kind == Io::Kind::blocked) return;
    if (io.kind != Io::Kind::moved) {
      return fail(io.kind == Io::Kind::ended ? closed_by_server(true) : std::move(io.failure), now);
    }
    out_.drop_front(io.count);
  }
}

void SentinelSession::read(TimePoint now) {
  std::array<char, 4'096> bytes;
  for (;;) {
    Io io = transport_.read(bytes);
    if (io.kind == Io::Kind::blocked) return;
    if (io.kind == Io::Kind::broken) return fail(std::move(io.failure), now);
    if (io.kind == Io::Kind::ended) return fail(closed_by_server(answer_.has_value()), now);
    if (!reader_.feed({bytes.data(), io.count})) {
      return fail(not_redis(reader_.error(), answer_.has_value()), now);
    }
    while (stage_ == Stage::talking) {
      const redisReply* const reply = reader_.next();
      if (reply == nullptr) break;
      hear(*reply, now);
    }
    if (stage_ != Stage::talking) return;
    if (!reader_.error().empty()) return fail(not_redis(reader_.error(), answer_.has_value()), now);
  }
}

void SentinelSession::hear(const redisReply& reply, TimePoint now) {
  if (reply.type == REDIS_REPLY_PUSH) {
    if (reply.elements < 3 || text_of(*reply.element[0]) != "message") return;
    state_ = State::asked;
    deadline_ = later(now, patience_);
    return say(now);
  }
  if (!answers_owed_) return fail(not_redis("an answer that nobody asked for", true), now);
  told(reply, now);
  if (stage_ == Stage::talking && !answers_owed_ && ask_again_) say(now);
}

void SentinelSession::told(const redisReply& reply, TimePoint now) {
  const bool error = reply.type == REDIS_REPLY_ERROR;
  switch (expected_) {
    case Question::hello:
      if (error) return fail(sentinel_refused(reply, uri_.logs_in()), now);
      expected_ = Question::ears;
      return;
    case Question::ears:
      // Refused: what it would have said is found out by asking.
      answers_owed_ = error && !std::exchange(ears_refused_, true);
      return;
    case Question::master:
      if (error) {
        answer_.reset();
        return fail(master_refused(master_, reply), now);
      }
      heard_.epoch = epoch_of(reply);
      expected_ = Question::address;
      return;
    case Question::address: break;
  }
  if (!read_place(reply, heard_.master)) return fail(master_refused(master_, reply), now);
  answers_owed_ = false;
  answer_ = heard_;
  answered_at_ = now;
  state_ = State::answered;
  deadline_ = Clock::never();
  ask_at_ = later(now, question_pause);
}

void SentinelSession::fail(Failure failure, TimePoint now) {
  stage_ = Stage::down;
  state_ = State::failed;
  answers_owed_ = ask_again_ = false;
  deadline_ = Clock::never();
  ask_at_ = later(now, redial_pause);
  failure_ = std::move(failure);
  tcp_connector_.give_up();
}

bool SentinelSession::is_out_of_date(TimePoint now) const noexcept {
  return state_ == State::failed && now - answered_at_ > believed_for;
}

Clock::time_point SentinelSession::due() const noexcept { return std::min(deadline_, ask_at_); }

void SentinelSession::wait_for(PollSet& set, PollSet::Source source) const {
  if (stage_ == Stage::dialing) tcp_connector_.wait_for(set, source);
  if (stage_ != Stage::talking) return;
  set.add(transport_.fd(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), source);
}

void SentinelSession::abandon() noexcept {
  transport_.abandon();
  tcp_connector_.give_up();
  stage_ = Stage::down;
  state_ = State::failed;
  answers_owed_ = ask_again_ = false;
  deadline_ = ask_at_ = Clock::never();
  out_.clear();
}

}  // namespace latchkey::detail::redis
