// The connection to one sentinel, and which server it names as the master.
// SPDX-License-Identifier: BSL-1.0
#include "redis/connect/sentinel_session.hpp"

#include <poll.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "core/text/number.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/session/handshake.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using namespace std::chrono_literals;

/// Between a failure and the next attempt; between an answer and the next query, which notices a
/// sentinel that vanished without a trace.
constexpr auto reconnect_pause = 1s, query_pause = 2s;
/// How long an answer counts after its sentinel is gone. The other sentinels report a failover much
/// sooner.
constexpr auto valid_for = 30s;

/// The config epoch in the reply to SENTINEL MASTER; 0: there is none.
std::uint64_t epoch_of(const redisReply& record) noexcept {
  for (std::size_t index = 0; index + 1 < record.elements; index += 2) {
    std::uint64_t epoch = 0;
    if (text_of(*record.element[index]) != "config-epoch") continue;
    return read_number(text_of(*record.element[index + 1]), epoch) ? epoch : 0;
  }
  return 0;
}

/// {host, port}
bool read_endpoint(const redisReply& reply, RedisUri::Endpoint& endpoint) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return false;
  endpoint.host = text_of(*reply.element[0]);
  return !endpoint.host.empty() && read_number(text_of(*reply.element[1]), endpoint.port) &&
         endpoint.port != 0;
}

}  // namespace

SentinelSession::SentinelSession(RedisUri uri, const TlsContext* tls, std::string master,
                                 std::chrono::milliseconds patience)
    : uri_(std::move(uri)),
      master_(std::move(master)),
      patience_(patience),
      transport_(tls, patience),
      tcp_connector_(uri_, transport_) {}

void SentinelSession::query(TimePoint now) {
  state_ = State::querying;
  deadline_ = later(now, patience_);
  query_at_ = Clock::never();
  if (stage_ == Stage::down) {
    stage_ = Stage::connecting;
    on_connect_result(tcp_connector_.start(now), now);
  } else if (stage_ == Stage::connected) {
    send_query(now);
  }
}

void SentinelSession::resume(TimePoint now) {
  if (now >= query_at_) query(now);
  if (stage_ == Stage::connecting) on_connect_result(tcp_connector_.resume(now), now);
  if (stage_ == Stage::connected) write(now);
  if (stage_ == Stage::connected) read(now);
  if (state_ == State::querying && now >= deadline_) fail(silence(patience_), now);
}

// The sentinel that leads a failover publishes +switch-master only after all replicas follow the
// new master, so the two earlier events are subscribed to as well.
void SentinelSession::on_connect_result(const Io& io, TimePoint now) {
  if (io.kind == Io::Kind::blocked) return;
  if (io.kind == Io::Kind::broken) return fail(io.failure, now);
  stage_ = Stage::connected;
  reader_.reset();
  out_.clear();
  append_hello(out_, uri_.user, uri_.password, uri_.client_name);
  out_.command({"SUBSCRIBE", "+switch-master", "+promoted-slave", "+failover-state-reconf-slaves"});
  // A confirmed SUBSCRIBE is answered by pushes only, a rejected one by an error.
  out_.command({"PING"});
  expected_ = Expected::hello;
  query_again_ = true;
  write(now);
}

// At most one query is in flight, so that its place identifies each reply.
void SentinelSession::send_query(TimePoint now) {
  query_again_ = expected_ != Expected::nothing;
  if (query_again_) return;
  out_.command({"SENTINEL", "MASTER", master_});
  out_.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_});
  expected_ = Expected::master;
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
  while (stage_ == Stage::connected) {
    Io io = transport_.read(bytes);
    if (io.kind == Io::Kind::blocked) return;
    if (io.kind == Io::Kind::broken) return fail(std::move(io.failure), now);
    if (io.kind == Io::Kind::ended) return fail(closed_by_server(answer_.has_value()), now);
    if (!reader_.feed({bytes.data(), io.count})) {
      return fail(not_redis(reader_.error(), answer_.has_value()), now);
    }
    read_replies(now);
  }
}

void SentinelSession::read_replies(TimePoint now) {
  while (stage_ == Stage::connected) {
    const redisReply* const reply = reader_.next();
    if (reply == nullptr) break;
    on_reply(*reply, now);
  }
  if (stage_ != Stage::connected || reader_.error().empty()) return;
  fail(not_redis(reader_.error(), answer_.has_value()), now);
}

void SentinelSession::on_reply(const redisReply& reply, TimePoint now) {
  if (reply.type == REDIS_REPLY_PUSH) {
    if (reply.elements < 3 || text_of(*reply.element[0]) != "message") return;
    state_ = State::querying;
    deadline_ = later(now, patience_);
    return send_query(now);
  }
  on_command_reply(reply, now);
  if (stage_ == Stage::connected && expected_ == Expected::nothing && query_again_) send_query(now);
}

void SentinelSession::on_command_reply(const redisReply& reply, TimePoint now) {
  const bool error = reply.type == REDIS_REPLY_ERROR;
  switch (expected_) {
    case Expected::nothing: return fail(not_redis("an answer that nobody asked for", true), now);
    case Expected::hello:
      if (error) return fail(sentinel_refused(reply, uri_.logs_in()), now);
      expected_ = Expected::subscribe;
      return;
    case Expected::subscribe:
      // If SUBSCRIBE is forbidden, the repeated query notices a failover.
      expected_ = error ? Expected::ping : Expected::nothing;
      return;
    case Expected::ping: expected_ = Expected::nothing; return;
    case Expected::master:
      if (error) {
        answer_.reset();
        return fail(master_refused(master_, reply), now);
      }
      incoming_.epoch = epoch_of(reply);
      expected_ = Expected::address;
      return;
    case Expected::address: return on_address(reply, now);
  }
}

void SentinelSession::on_address(const redisReply& reply, TimePoint now) {
  if (!read_endpoint(reply, incoming_.master)) return fail(master_refused(master_, reply), now);
  expected_ = Expected::nothing;
  answer_ = incoming_;
  answered_at_ = now;
  failed_since_ = false;
  state_ = State::answered;
  deadline_ = Clock::never();
  query_at_ = later(now, query_pause);
}

void SentinelSession::fail(Failure failure, TimePoint now) {
  stage_ = Stage::down;
  state_ = State::failed;
  failed_since_ = true;
  expected_ = Expected::nothing;
  query_again_ = false;
  deadline_ = Clock::never();
  query_at_ = later(now, reconnect_pause);
  failure_ = std::move(failure);
  tcp_connector_.cancel();
}

bool SentinelSession::is_out_of_date(TimePoint now) const noexcept {
  return failed_since_ && now - answered_at_ > valid_for;
}

Clock::time_point SentinelSession::due() const noexcept { return std::min(deadline_, query_at_); }

void SentinelSession::wait_for(PollSet& set, PollSet::Source source) const {
  if (stage_ == Stage::connecting) tcp_connector_.wait_for(set, source);
  if (stage_ != Stage::connected) return;
  set.add(transport_.fd(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), source);
}

void SentinelSession::abandon() noexcept {
  transport_.abandon();
  tcp_connector_.cancel();
  stage_ = Stage::down;
  state_ = State::failed;
  expected_ = Expected::nothing;
  query_again_ = false;
  deadline_ = query_at_ = Clock::never();
  out_.clear();
}

}  // namespace latchkey::inline v1::detail::redis
