// The leases of etcd that keep the keys of this process.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/sessions.hpp"

#include <algorithm>
#include <utility>

#include "stores/etcd/queue_keys.hpp"
#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {

Sessions::Sessions(EtcdConnection& link, Clock& clock, std::chrono::seconds timeout,
                   std::function<void(Session&)> on_lost)
    : link_(link), clock_(clock), timeout_(timeout), on_lost_(std::move(on_lost)) {}

Session* Sessions::find(const Suits& suits) {
  const Clock::time_point now = clock_.now();
  for (Session& session : sessions_) {
    const bool alive = session.stage == Session::Stage::alive && session.assured_until > now;
    if (alive && suits(session)) return &session;
  }
  return nullptr;
}

void Sessions::obtain(Suits suits, OnSession on_session) {
  if (Session* const session = find(suits)) return on_session(session, {});
  claims_.push_back({std::move(suits), std::move(on_session)});
  if (!granting_) grant();
}

void Sessions::grant() {
  granting_ = true;
  const Clock::time_point sent = clock_.now();
  link_.call(Method::grant, encode_grant(timeout_.count()),
             [this, sent](CallEnd&& end) { on_granted(std::move(end), sent); });
}

// Each claim takes the first session that suits it; the first one left over starts another grant.
void Sessions::on_granted(CallEnd&& end, Clock::time_point sent) {
  granting_ = false;
  std::vector<Claim> claims = std::exchange(claims_, {});
  const LeaseReply lease = decode_lease(end.reply);
  if (end.ok() && lease.id == 0) {  // a key without a lease would stay for ever
    end.status = GrpcStatus::no_answer;
    end.text = "malformed reply to LeaseGrant";
  }
  if (!end.ok()) {
    for (Claim& claim : claims) claim.on_session(nullptr, CallEnd(end));
    return;
  }
  Session made;
  made.lease = lease.id;
  made.hex = hex_of(lease.id);
  made.assured_until = later(sent, timeout_);
  sessions_.push_back(std::move(made));
  for (Claim& claim : claims) obtain(std::move(claim.suits), std::move(claim.on_session));
}

void Sessions::assure(Session& session, Clock::time_point until, Clock::time_point asked,
                      OnAssured on_assured) {
  if (session.stage == Session::Stage::lost) return on_assured(Assurance::lost);
  const bool known = asked == Clock::time_point{} && session.assured_until >= until;
  if (known) return on_assured(Assurance::given);
  wishes_.push_back({&session, until, asked, std::move(on_assured)});
  if (!session.keeping_alive) keep_alive(session);
}

void Sessions::keep_alive(Session& session) {
  session.keeping_alive = true;
  session.keep_alive_sent = clock_.now();
  link_.call(Method::keep_alive, encode_lease(session.lease),
             [this, &session](CallEnd&& end) { on_kept_alive(session, std::move(end)); });
}

void Sessions::on_kept_alive(Session& session, CallEnd&& end) {
  session.keeping_alive = false;
  const LeaseReply lease = decode_lease(end.reply);
  const bool malformed = lease.id != session.lease;
  if (!end.ok() || malformed) return answer_wishes(session, false);
  if (lease.ttl <= 0) return lose(session);
  session.assured_until = std::max(session.assured_until, later(session.keep_alive_sent, timeout_));
  answer_wishes(session, true);
}

// A wish for an answer to a later question stays.
void Sessions::answer_wishes(Session& session, bool answered) {
  const bool lost = session.stage == Session::Stage::lost;
  std::vector<Wish> done;
  std::erase_if(wishes_, [&](Wish& wish) {
    if (wish.session != &session) return false;
    const bool fits = wish.asked <= session.keep_alive_sent && wish.until <= session.assured_until;
    if (answered && !lost && !fits) return false;
    done.push_back(std::move(wish));
    return true;
  });
  const bool more = std::ranges::find(wishes_, &session, &Wish::session) != wishes_.end();
  if (more && !session.keeping_alive) keep_alive(session);
  const Assurance result = lost       ? Assurance::lost
                           : answered ? Assurance::given
                                      : Assurance::unknown;
  for (Wish& wish : done) wish.on_assured(result);
}

void Sessions::lose(Session& session) {
  if (std::exchange(session.stage, Session::Stage::lost) == Session::Stage::lost) return;
  on_lost_(session);
  answer_wishes(session, true);
}

void Sessions::retire_of(std::string_view key) noexcept {
  for (Session& session : sessions_) {
    if (session.stage == Session::Stage::alive && session.has(key)) retire(session);
  }
}

void Sessions::release(Session& session) { --session.keys; }

// A session that nobody uses any more is forgotten, and one that may still get a key is revoked.
void Sessions::drop_unused(Clock::time_point now) {
  for (auto session = sessions_.begin(); session != sessions_.end();) {
    const bool busy = session->keys > 0 || session->keeping_alive;
    const bool over = session->stage != Session::Stage::alive || session->assured_until <= now;
    if (busy || !over) {
      ++session;
      continue;
    }
    if (session->stage != Session::Stage::lost) {
      link_.call(Method::revoke, encode_lease(session->lease), [](CallEnd&&) {});
    }
    session = sessions_.erase(session);
  }
}

Clock::time_point Sessions::keep_alive_at(const Session& session) const noexcept {
  if (session.keeping_alive || session.stage == Session::Stage::lost) return Clock::never();
  // A question that was answered with an error is not repeated at once.
  return std::max(session.assured_until - timeout_ + timeout_ / 4,
                  later(session.keep_alive_sent, timeout_ / 20));
}

void Sessions::advance(Clock::time_point now) {
  if (!link_.is_up()) return;
  drop_unused(now);
  for (Session& session : sessions_) {
    if (keep_alive_at(session) <= now) keep_alive(session);
  }
}

Clock::time_point Sessions::due() const noexcept {
  Clock::time_point first = Clock::never();
  if (!link_.is_up()) return first;
  for (const Session& session : sessions_) first = std::min(first, keep_alive_at(session));
  return first;
}

void Sessions::on_link_up() {
  for (Session& session : sessions_) {
    if (session.keys > 0 && !session.keeping_alive) keep_alive(session);
  }
}

void Sessions::start_over() noexcept {
  for (Session& session : sessions_) session.keeping_alive = false;
  claims_.clear();
  wishes_.clear();
  granting_ = false;
}

void Sessions::forget() noexcept {
  start_over();
  sessions_.clear();
}

}  // namespace latchkey::inline v1::detail::etcd
