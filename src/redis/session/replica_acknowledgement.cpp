// Grants that count only after replicas have confirmed them.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/replica_acknowledgement.hpp"

#include <algorithm>
#include <new>

#include "backend/verbs.hpp"
#include "redis/protocol/failure.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::size_t most_remembered_releases = 1'000;
/// How long a WAIT lasts while replicas are known to be missing.
constexpr milliseconds short_wait = 10ms;

}  // namespace

Request ReplicaAcknowledgement::UnreplicatedRelease::request() const noexcept {
  Request request = release;
  request.key = key;
  request.note = {};
  return request;
}

// These are the commands that a replica must know of when it takes the server's place.
bool ReplicaAcknowledgement::applies_to(Verb verb) const noexcept {
  if (min_replicas_ == 0) return false;
  return verb == Verb::acquire || verb == Verb::acquire_all || verb == Verb::renew ||
         verb == Verb::downgrade || is_release(verb);
}

void ReplicaAcknowledgement::require() noexcept {
  if (wait_ == Wait::idle) wait_ = Wait::due;
  if (wait_ == Wait::in_flight) wait_ = Wait::in_flight_again;
}

// While replicas are known to be missing three quarters of the time pass with short waits, so that
// other commands are served. Replicas that are far away may need the whole time.
std::optional<milliseconds> ReplicaAcknowledgement::start_wait(TimePoint now) noexcept {
  if (wait_ != Wait::due) return std::nullopt;
  wait_ = Wait::in_flight;
  const milliseconds longest = std::max(timeout_ / 2, 1ms);
  const bool is_short = last_wait_failed_ && now < full_wait_at_;
  if (!is_short) full_wait_at_ = now + 4 * longest;
  length_ = is_short ? std::min(longest, short_wait) : longest;
  return length_;
}

milliseconds ReplicaAcknowledgement::wait_in_flight() const noexcept {
  return wait_ == Wait::in_flight || wait_ == Wait::in_flight_again ? length_ : 0ms;
}

void ReplicaAcknowledgement::await(const DeliveryQueue::Completion& grant, TimePoint deadline) {
  grants_.push_back({grant, deadline});
}

void ReplicaAcknowledgement::on_wait_reply(const redisReply& reply, DeliveryQueue& deliveries) {
  const bool counted = reply.type == REDIS_REPLY_INTEGER;
  const bool enough = counted && reply.integer >= min_replicas_;
  std::string why;
  if (!enough && counted) {
    why = "only " + std::to_string(reply.integer) + " of " + std::to_string(min_replicas_) +
          " replicas confirmed it within " + std::to_string(length_.count()) + " ms";
  } else if (!enough) {
    why = "the replicas could not be asked: " + error_text(reply);
  }
  wait_ = wait_ == Wait::in_flight_again ? Wait::due : Wait::idle;
  if (counted) last_wait_failed_ = !enough;
  if (enough) unreplicated_releases_.clear();  // they were sent before this WAIT
  for (const UnconfirmedGrant& each : grants_) settle(each, why, deliveries);
  grants_.clear();
}

// `why` is empty if enough replicas confirmed. Otherwise an acquire is as unknown as if its reply
// were lost, so the caller releases or repeats it. A release counts as done, and is repeated on the
// server that takes over.
void ReplicaAcknowledgement::settle(const UnconfirmedGrant& unconfirmed, std::string_view why,
                                    DeliveryQueue& deliveries) noexcept {
  DeliveryQueue::Completion completion = unconfirmed.grant;
  const bool releases = is_release(completion.request->verb);
  try {
    if (releases && !why.empty()) remember_release(*completion.request);
  } catch (const std::bad_alloc&) {
    // A hold that survives on the new master ends with its lease.
  }
  const bool granted = releases || why.empty();
  completion.kind = granted ? Outcome::Kind::granted : Outcome::Kind::unknown;
  if (!granted) completion.token = 0;
  deliveries.complete(completion, why);
}

void ReplicaAcknowledgement::on_connection_lost(std::string_view why,
                                                DeliveryQueue& deliveries) noexcept {
  end_unknown(why, Clock::never(), deliveries);
  wait_ = Wait::idle;
  last_wait_failed_ = false;
}

void ReplicaAcknowledgement::expire(TimePoint now, DeliveryQueue& deliveries) noexcept {
  end_unknown("no replica has confirmed it in time", now, deliveries);
}

void ReplicaAcknowledgement::end_unknown(std::string_view why, TimePoint overdue_at,
                                         DeliveryQueue& deliveries) noexcept {
  std::erase_if(grants_, [&](const UnconfirmedGrant& each) {
    if (each.deadline > overdue_at) return false;
    deliveries.complete({each.grant.request, each.grant.sink, Outcome::Kind::unknown}, why);
    return true;
  });
}

ReplicaAcknowledgement::TimePoint ReplicaAcknowledgement::next_expiry() const noexcept {
  TimePoint at = Clock::never();
  for (const UnconfirmedGrant& each : grants_) at = std::min(at, each.deadline);
  return at;
}

void ReplicaAcknowledgement::remember_release(const Request& release) {
  if (unreplicated_releases_.size() == most_remembered_releases) unreplicated_releases_.pop_front();
  unreplicated_releases_.push_back({std::string(release.key), release});
}

void ReplicaAcknowledgement::adopt_releases(const ReplicaAcknowledgement& retired) {
  unreplicated_releases_.insert(unreplicated_releases_.end(),
                                retired.unreplicated_releases_.begin(),
                                retired.unreplicated_releases_.end());
}

void ReplicaAcknowledgement::clear() noexcept {
  wait_ = Wait::idle;
  last_wait_failed_ = false;
  grants_.clear();
  unreplicated_releases_.clear();
}

}  // namespace latchkey::inline v1::detail::redis
