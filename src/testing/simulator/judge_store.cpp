// The judge's eye on what goes to the store and comes back.
#include <algorithm>
#include <string>
#include <utility>

#include "testing/simulator/judge.hpp"

namespace latchkey::sim {

void Judge::submitted(std::uint32_t client, std::uint32_t key, const Request& request,
                      bool closing) {
  if (request.id.number == 0) return;
  AttemptRecord& its = facts(client, request.id.number);
  const std::string id =
      "client " + std::to_string(client) + " hold " + std::to_string(request.id.number);
  switch (request.verb) {
    case Verb::release:
    case Verb::leave: {
      its.ended = true;
      ++clients[client].releasing[key];
      const auto& grips = books[key].grips;
      const bool held = std::any_of(grips.begin(), grips.end(), [&](const GrantedHold& grip) {
        return grip.client == client && grip.number == request.id.number;
      });
      if (held && !closing) world_.fail("a release was sent while a local hold is left: " + id);
      return;
    }
    case Verb::unsubscribe: return;
    case Verb::acquire: its.asked_at = world_.now; break;
    default: break;
  }
  if (its.ended) {
    world_.fail(std::string(to_string(request.verb)) + " was sent after its release: " + id);
  }
}

void Judge::applied(std::uint32_t client, std::uint32_t key, const Request& request,
                    const Outcome& outcome) {
  KeyHistory& book = books[key];
  const bool acquires = request.verb == Verb::acquire;
  const KeyHistory::Held who{client, request.id.number};
  if (acquires && outcome.kind == Outcome::Kind::granted) {
    for (const GrantedHold& grip : book.grips) {
      const bool same = grip.client == client && grip.number == who.number;
      if (same || shared(grip.type, request.type) || grip.excused || !live(grip)) continue;
      world_.fail("the store granted to client " + std::to_string(client) + " hold " +
                  std::to_string(who.number) + " what is not lost to " + name(grip));
    }
    for (const KeyHistory::Kept& kept : book.kept) {
      const bool ended = clients[kept.client].clock->now() >= kept.until;
      const bool same = kept.client == client && kept.number == who.number;
      if (same || ended || kept.excused || shared(kept.type, request.type)) continue;
      world_.fail("the store granted what was to be kept for a while");
    }
    if (outcome.token != 0) {
      AttemptRecord& its = facts(client, who.number);
      const bool new_one = its.token != outcome.token;
      if (new_one && outcome.token <= book.token) world_.fail("a fencing token did not rise");
      if (new_one) its.token = book.token = outcome.token;
    }
  }
  if (world_.plan.good) given(book, client, request, outcome);
}

// On a good network the answers alone say who holds and who is next.
void Judge::given(KeyHistory& book, std::uint32_t client, const Request& request,
                  const Outcome& outcome) {
  const KeyHistory::Held who{client, request.id.number};
  const bool granted = outcome.kind == Outcome::Kind::granted;
  if (request.verb == Verb::acquire && granted) {
    if (request.type == LockType::FAIR) grant_in_order(book, who);
    grant_promptly(book);
    if (std::find(book.holders.begin(), book.holders.end(), who) == book.holders.end()) {
      book.holders.push_back(who);
    }
  } else if (request.verb == Verb::acquire && request.type == LockType::FAIR &&
             request.queue_wait.count() > 0) {
    if (std::find(book.queue.begin(), book.queue.end(), who) == book.queue.end()) {
      book.queue.push_back(who);
    }
  } else if (request.verb == Verb::release || request.verb == Verb::leave) {
    std::erase(book.queue, who);
    const bool last = granted && std::erase(book.holders, who) > 0 && book.holders.empty();
    if (last) book.free_since = world_.now;
    if (!granted) std::erase(book.holders, who);
  }
}

// A lost wake-up shows as a lock that stays free until somebody's safety poll, 1 s later.
void Judge::grant_promptly(KeyHistory& book) {
  const Clock::duration since = std::exchange(book.free_since, Clock::duration::min());
  const Clock::duration bound = 10 * world_.plan.slowest + milliseconds(20);
  const bool free = since != Clock::duration::min();
  if (!free || !world_.plan.settings.pushes || world_.now - since <= bound) return;
  for (const KeyHistory::Waiting& each : book.waiting) {
    if (each.since >= since) continue;
    world_.fail("client " + std::to_string(each.client) + " waited although the lock was free");
  }
}

void Judge::grant_in_order(KeyHistory& book, KeyHistory::Held who) {
  const auto place = std::find(book.queue.begin(), book.queue.end(), who);
  if (place != book.queue.begin()) {
    world_.fail("FAIR: client " + std::to_string(who.client) + " hold " +
                std::to_string(who.number) + " was granted before its turn");
  }
  if (place != book.queue.end()) book.queue.erase(place);
}

void Judge::answered(std::uint32_t client, std::uint32_t key, const Request& request,
                     const Outcome& outcome) {
  if (request.verb == Verb::release || request.verb == Verb::leave) {
    --clients[client].releasing[key];
  }
  const bool leases = request.verb == Verb::acquire || request.verb == Verb::renew ||
                      request.verb == Verb::downgrade;
  if (!leases || outcome.kind != Outcome::Kind::granted) return;
  AttemptRecord& its = facts(client, request.id.number);
  const Clock::duration least = milliseconds(5);
  const Clock::duration margin = std::max(Clock::duration(request.lease) / 100, least);
  its.allowed = std::max(its.allowed, request.sent + request.lease - margin);
}

void Judge::fault(std::uint32_t key) {
  KeyHistory& book = books[key];
  book.fault_at = world_.now;
  ++book.faults;
  for (KeyHistory::Kept& kept : book.kept) kept.excused = true;
  for (GrantedHold& grip : book.grips) grip.excused = true;
}

}  // namespace latchkey::sim
