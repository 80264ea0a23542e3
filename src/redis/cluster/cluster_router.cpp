// Which node of a cluster a request goes to: requests and redirections.
#include "redis/cluster/cluster_router.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "redis/session/requests.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

/// A request that was sent on so often waits a moment before it goes on.
constexpr std::uint8_t most_hops = 5;
/// How long one waits that no node can serve just now.
constexpr auto try_again_after = 20ms;
/// How long a question waits where no node can be reached.
constexpr auto patience = 250ms;

bool is_acquire(const Request& request) noexcept {
  return request.verb == Verb::acquire || request.verb == Verb::acquire_all;
}

bool asks_for(const Request& request, const HoldId& id) noexcept {
  if (request.verb == Verb::acquire) return request.id == id;
  return request.verb == Verb::acquire_all &&
         std::ranges::any_of(request.members, [&](const Member& each) { return each.id == id; });
}

}  // namespace

// After what may throw, every request has an end: in the worst case an unknown one.
void ClusterRouter::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  make_room(requests.size());
  for (Request* const request : requests) {
    const TimePoint from = request->sent != TimePoint{} ? request->sent : now;
    try {
      route({request, &sink, later(from, settings_.timeout), 0}, now);
    } catch (const std::bad_alloc&) {
      end(*request, sink, "out of memory");
    }
  }
}

// Why no node can be reached; null: one can, or may yet.
const Failure* ClusterRouter::nowhere_to_ask() const noexcept {
  const Failure* why = nullptr;
  for (const auto& wire : connections_) {
    const Failure* const failure = wire->link.last_failure();
    if (failure == nullptr) return nullptr;
    if (why == nullptr || failure->refused || !failure->is_certain()) why = failure;
  }
  return why;
}

// Whatever is under way here can end without more memory, and so can one that comes back.
void ClusterRouter::make_room(std::size_t more) {
  ended_.reserve(ended_.size() + parked_.size() + listings_.size() + more + 1);
}

void ClusterRouter::route(const QueuedRequest& request, TimePoint now) {
  const Request& asked = *request.request;
  if (asked.verb == Verb::list) return begin_listing(request, now);
  if (gives_back(asked.verb)) forget_overtaken(asked);
  if (ServerConnection* const owner = owner_of(asked))
    return owner->link.submit_again(request, false, now);
  want_map(now);
  if (const Failure* const why = nowhere_to_ask(); why != nullptr && is_question(asked.verb)) {
    for (const auto& wire : connections_) wire->link.want(now);
    const TimePoint asked_at = request.deadline - settings_.timeout;
    if (why->is_certain() || now >= later(asked_at, patience)) {
      const bool refused = why->refused;
      return end(*request.request, *request.sink, why->text,
                 refused ? Outcome::Kind::refused : Outcome::Kind::unknown);
    }
  }
  park(request, later(now, try_again_after),
       has_map_ ? "no node of the cluster serves slot " + std::to_string(slot_of(key_of(asked)))
                : "no node of the cluster has said yet which has which keys");
}

void ClusterRouter::park(const QueuedRequest& request, TimePoint at, std::string why) {
  make_room(1);
  parked_.push_back({request, std::min(at, request.deadline), std::move(why)});
}

// It has not run, and must not run behind its release.
void ClusterRouter::forget_overtaken(const Request& release) {
  std::erase_if(parked_, [&](const Parked& each) {
    if (!asks_for(*each.request.request, release.id)) return false;
    end(*each.request.request, *each.request.sink, each.why);
    return true;
  });
}

void ClusterRouter::send_parked(TimePoint now) {
  // What is parked anew goes to the end, and is not due.
  for (std::size_t left = parked_.size(), index = 0; left > 0; --left) {
    if (now < parked_[index].at) {
      ++index;
      continue;
    }
    const Parked each = std::move(parked_[index]);
    parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(index));
    const bool overdue = now >= each.request.deadline;
    try {
      if (!overdue) route(each.request, now);
    } catch (const std::bad_alloc&) {
      end(*each.request.request, *each.request.sink, "out of memory");
    }
    if (overdue) end(*each.request.request, *each.request.sink, each.why);
    if (parked_.size() < left + index - 1) break;  // a release took some out: the next tick
  }
}

// It has not run: what did is answered by its node.
void ClusterRouter::end(Request& request, Sink& sink, std::string_view why,
                        Outcome::Kind kind) noexcept {
  Ended& ended = ended_.emplace_back(Ended{&request, &sink, {}});  // there is room
  ended.outcome.kind = kind;
  ended.outcome.never_ran = true;
  try {
    ended.outcome.text = why;
  } catch (const std::bad_alloc&) {
    ended.outcome.text.clear();
  }
}

bool ClusterRouter::next(Delivery& delivery, TimePoint now) noexcept {
  for (;;) {
    if (!ended_.empty()) {
      Ended& ended = ended_.back();
      delivery.what = Delivery::What::told;
      delivery.request = ended.request;
      delivery.sink = ended.sink;
      delivery.outcome = std::move(ended.outcome);
      ended_.pop_back();
      return true;
    }
    const auto has_one = [&](const auto& wire) { return wire->link.next(delivery); };
    if (std::ranges::none_of(connections_, has_one)) return false;
    if (delivery.what == Delivery::What::told && delivery.sink != &parts_) return true;
    try {
      switch (delivery.what) {
        case Delivery::What::told: listed(delivery); break;
        case Delivery::What::redirected: redirect(delivery, now); break;
        case Delivery::What::slots: learn(delivery.slots, now); break;
      }
    } catch (const std::bad_alloc&) {
      const bool asked = delivery.what == Delivery::What::redirected && delivery.request != nullptr;
      if (asked) end(*delivery.request, *delivery.sink, "out of memory");
    }
  }
}

void ClusterRouter::redirect(const Delivery& delivery, TimePoint now) {
  const Redirect& where = delivery.redirect;
  if (where.kind != Redirect::Kind::ask) want_map(now);
  if (where.kind == Redirect::Kind::moved) give(where.slot, wire_at(where.place), now);
  if (delivery.request == nullptr) return;
  if (gives_back(delivery.request->verb)) forget_overtaken(*delivery.request);
  const QueuedRequest request{delivery.request, delivery.sink, delivery.deadline, delivery.hops};
  if (where.kind != Redirect::Kind::later && delivery.hops <= most_hops) {
    ServerConnection& there = wire_at(where.place);
    return there.link.submit_again(request, where.kind == Redirect::Kind::ask, now);
  }
  if (delivery.overtaken && is_acquire(*delivery.request)) {
    return end(*delivery.request, *delivery.sink, delivery.outcome.text);
  }
  park(request, later(now, try_again_after), delivery.outcome.text);
}

void ClusterRouter::begin_listing(const QueuedRequest& request, TimePoint now) {
  if (request.sink == &parts_) {  // its node is gone, and what it had is told by others, or not
    Delivery gone;
    gone.request = request.request;
    gone.outcome.text = "the keys moved while they were listed";
    return listed(gone);
  }
  make_room(1);
  for (const auto& wire : connections_) wire->link.make_room(1, parts_);
  Listing& listing = listings_.emplace_back(Listing{request.request, request.sink, {}, 0, {}});
  const auto serves = [](const auto& wire) { return wire->slots > 0; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(connections_, serves));
  listing.outcome.kind = Outcome::Kind::granted;
  listing.parts.assign(count, *request.request);
  listing.left = count;
  if (count == 0) {
    listings_.pop_back();
    want_map(now);
    return park(request, later(now, try_again_after), "no node of the cluster serves any slot");
  }
  auto part = listing.parts.begin();
  for (const auto& wire : connections_) {
    if (!serves(wire)) continue;
    part->context = &listing;
    wire->link.submit_again({&*part++, &parts_, request.deadline, 0}, false, now);
  }
}

void ClusterRouter::listed(const Delivery& delivery) noexcept {
  if (delivery.request == nullptr) return;  // what happens to the link is no part's concern
  auto* const listing = static_cast<Listing*>(delivery.request->context);
  if (delivery.outcome.kind != Outcome::Kind::granted) listing->outcome = delivery.outcome;
  if (--listing->left > 0) return;
  ended_.push_back({listing->request, listing->sink, std::move(listing->outcome)});
  std::erase_if(listings_, [&](const Listing& each) { return &each == listing; });
}

bool ClusterRouter::has_news() const noexcept {
  return !ended_.empty() ||
         std::ranges::any_of(connections_, [](const auto& wire) { return wire->link.has_news(); });
}

std::size_t ClusterRouter::outstanding() const noexcept {
  std::size_t count = parked_.size();
  for (const auto& wire : connections_) count += wire->link.unanswered();
  return count;
}

void ClusterRouter::tick(TimePoint now) {
  now_ = now;
  send_parked(now);
  if (in_trouble(now)) want_map(now);
  if (wanted_ && now >= ask_at_) ask_for_map(now);
  retire_useless(now);
}

Clock::time_point ClusterRouter::due() const noexcept {
  if (!ended_.empty()) return TimePoint{};
  TimePoint at = wanted_ ? ask_at_ : Clock::never();
  for (const Parked& each : parked_) at = std::min(at, each.at);
  for (const auto& wire : connections_) {
    const TimePoint silent_at = wire->link.silent_at();
    if (silent_at > now_) at = std::min(at, silent_at);
  }
  return at;
}

void ClusterRouter::forget() noexcept {
  for (const auto& wire : connections_) wire->link.forget();
  parked_.clear();
  ended_.clear();
  listings_.clear();
  ask_at_ = {};
}

}  // namespace latchkey::detail::redis
