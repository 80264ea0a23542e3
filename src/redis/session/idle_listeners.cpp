// Who listens to the channels of locks that this process keeps idle.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/idle_listeners.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace latchkey::inline v1::detail::redis {
namespace {

/// Whether a request of this kind leaves its lock idle.
bool leaves_idle(const Request& request) noexcept {
  switch (request.verb) {
    case Verb::verify:
    case Verb::subscribe:
    case Verb::unsubscribe:
    case Verb::inspect:
    case Verb::list: return true;
    default: return request.recall;
  }
}

/// The number after the channel at `index` of a reply to PUBSUB NUMSUB.
bool is_listened_to(std::span<redisReply* const> answer, std::size_t index) noexcept {
  const std::size_t at = 2 * index + 1;
  return at >= answer.size() || answer[at]->type != REDIS_REPLY_INTEGER || answer[at]->integer > 0;
}

}  // namespace

void IdleListeners::on_reply(const Request& request, const Outcome& outcome, TimePoint now) {
  if (!request.recall || outcome.kind != Outcome::Kind::granted || outcome.wanted) return;
  const TimePoint until = later(now, request.lease);
  if (request.verb == Verb::renew) {  // a release may have followed it
    const auto found = locks_.find(request.key);
    if (found != locks_.end()) found->second.until = until;
    return;
  }
  locks_.insert_or_assign(std::string(request.key), Idle{channels_of(request, layout_), until});
  if (due_ == Clock::never() && asked_.empty()) plan(now, now);
}

void IdleListeners::note(const Request& request) noexcept {
  if (locks_.empty() || leaves_idle(request)) return;
  const auto found = locks_.find(request.key);
  if (found != locks_.end()) locks_.erase(found);
  if (locks_.empty()) due_ = Clock::never();
}

void IdleListeners::clear() noexcept {
  locks_.clear();
  asked_.clear();
  due_ = Clock::never();
}

void IdleListeners::plan(TimePoint from, TimePoint now) noexcept {
  due_ = std::max(now, later(from, interval * (1 + locks_.size() / locks_for_an_interval)));
}

void IdleListeners::append_question(CommandBuffer& out, bool sharded, TimePoint now) {
  due_ = Clock::never();
  asked_at_ = now;
  std::size_t channels = 0;
  for (const auto& [key, idle] : locks_) {
    asked_.push_back({key, idle.channels.count});
    channels += idle.channels.count;
  }
  out.begin(2 + channels);
  out.word("PUBSUB");
  out.word(sharded ? "SHARDNUMSUB" : "NUMSUB");
  for (const auto& [key, idle] : locks_) {
    for (const std::string& channel : idle.channels.all()) out.word(channel);
  }
}

void IdleListeners::on_answer(const redisReply& answer, TimePoint now, DeliveryQueue& deliveries) {
  std::size_t at = 0;
  for (const Asked& each : std::exchange(asked_, {})) {
    bool listened = false;
    for (const std::size_t end = at + each.channels; at < end; ++at) {
      listened = is_listened_to(elements_of(answer), at) || listened;
    }
    const bool wanted = listened && locks_.erase(each.key) > 0;
    if (wanted) deliveries.notify_all_of(Notification::Kind::wanted, each.key);
  }
  std::erase_if(locks_, [&](const auto& each) { return now >= each.second.until; });
  if (!locks_.empty()) plan(asked_at_, now);
}

}  // namespace latchkey::inline v1::detail::redis
