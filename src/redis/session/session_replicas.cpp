// The conversation with one Redis server: what its replicas have to confirm.
//
// One WAIT at a time is under way, for all that was granted before it: while it lasts the server
// does nothing else on this connection.
#include <algorithm>
#include <new>
#include <utility>

#include "redis/session/requests.hpp"
#include "redis/session/session.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

}  // namespace

// What a server must not forget when a replica takes its place.
bool Session::wants_replicas(Verb verb) const noexcept {
  if (settings_.min_replicas == 0) return false;
  return verb == Verb::acquire || verb == Verb::acquire_all || verb == Verb::renew ||
         verb == Verb::downgrade || gives_back(verb);
}

// Where replicas are known to be missing it is a look only, three quarters of the time: the others
// may be too far away for that.
void Session::ask_replicas() {
  if (!replicas_wanted_ || replicas_asked_ || stage_ != Stage::up || trouble_) return;
  replicas_wanted_ = false;
  replicas_asked_ = true;
  const auto longest = std::max<std::chrono::milliseconds>(settings_.timeout / 2, 1ms);
  const bool look = replicas_missing_ && now_ < long_wait_at_;
  if (!look) long_wait_at_ = now_ + 4 * longest;
  replica_wait_ = look ? std::min<std::chrono::milliseconds>(longest, 10ms) : longest;
  ask_own(InFlightCommand::Ask::replicas, Verb::verify, "", now_);
}

// Too few: whether it was granted is as unknown as if no answer had come, and who asked gives it
// back or asks again. What was given back is given back; who takes over is told once more.
void Session::replicas_answered(const redisReply& reply) {
  const bool counted = reply.type == REDIS_REPLY_INTEGER;
  const bool enough = counted && reply.integer >= settings_.min_replicas;
  std::string why;
  if (!enough && counted) {
    why = "only " + std::to_string(reply.integer) + " of " +
          std::to_string(settings_.min_replicas) + " replicas confirmed it within " +
          std::to_string(replica_wait_.count()) + " ms";
  } else if (!enough) {
    why = "the replicas could not be asked: " + error_text(reply);
  }
  replicas_asked_ = false;
  if (counted) replicas_missing_ = !enough;
  if (enough) unreplicated_releases_.clear();  // they came before it
  for (UnconfirmedGrant& each : unconfirmed_) settle(each, why);
  unconfirmed_.clear();
  ask_replicas();
}

/// `why` is empty where enough replicas have it.
void Session::settle(const UnconfirmedGrant& one, std::string_view why) noexcept {
  const bool given_back = gives_back(one.request->verb);
  try {
    if (given_back && !why.empty()) keep_in_mind(*one.request);
  } catch (const std::bad_alloc&) {
    // Then its lease ends it, wherever it still is.
  }
  const bool granted = given_back || why.empty();
  end(one.request, one.sink, granted ? Outcome::Kind::granted : Outcome::Kind::unknown, why);
  if (granted) ended_[ended_.size() - 1].token = one.token;
}

// A connection or a time is over: nobody can tell.
void Session::give_up_unconfirmed(std::string_view why, TimePoint overdue_at) noexcept {
  std::erase_if(unconfirmed_, [&](const UnconfirmedGrant& each) {
    if (each.deadline > overdue_at) return false;
    end(each.request, each.sink, Outcome::Kind::unknown, why);
    return true;
  });
}

void Session::keep_in_mind(const Request& release) {
  constexpr std::size_t most = 1'000;
  if (unreplicated_releases_.size() == most) unreplicated_releases_.pop_front();
  unreplicated_releases_.push_back({std::string(release.key), release});
}

// To what may be another server. An id is never used again after its release, so once more is as
// good as once.
void Session::release_once_more() {
  for (UnreplicatedRelease& each : unreplicated_releases_) {
    each.release.key = each.key;
    each.release.note = {};
    ask_own(InFlightCommand::Ask::release, each.release.verb, "", now_, &each.release);
  }
  // Until replicas have confirmed these, too, they are kept in mind.
  if (!unreplicated_releases_.empty()) replicas_wanted_ = true;
  ask_replicas();
}

}  // namespace latchkey::detail::redis
