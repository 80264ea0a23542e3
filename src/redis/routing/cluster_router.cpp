// Which node of a cluster a request goes to: requests and redirections.
// SPDX-License-Identifier: BSL-1.0
#include "redis/routing/cluster_router.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "backend/verbs.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using namespace std::chrono_literals;

/// After so many redirections a request is delayed before it follows the next one.
constexpr std::uint8_t most_hops = 5;
/// How long a request that fails fast waits if no node can be reached.
constexpr auto patience = 250ms;

bool is_acquire(const Request& request) noexcept {
  return request.verb == Verb::acquire || request.verb == Verb::acquire_all;
}

bool acquires_hold(const Request& request, const HoldId& id) noexcept {
  if (request.verb == Verb::acquire) return request.id == id;
  return request.verb == Verb::acquire_all &&
         std::ranges::any_of(request.members, [&](const Member& each) { return each.id == id; });
}

/// A request for the whole listing, which all masters answer in part.
bool lists_all(const Request& request) noexcept {
  return request.verb == Verb::list && request.part == nullptr;
}

/// The outcome of one part of a listing.
bool ended_part(const Delivery& delivery) noexcept {
  return delivery.request != nullptr && delivery.request->part != nullptr &&
         delivery.outcome.kind == Outcome::Kind::granted;
}

}  // namespace

// Every request that is accepted has an outcome: if memory runs out, it is unknown.
void ClusterRouter::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  reserve_completions(requests.size());
  for (Request* const request : requests) {
    const TimePoint from = request->sent != TimePoint{} ? request->sent : now;
    try {
      route({request, &sink, later(from, settings_.timeout), 0}, now);
    } catch (const std::bad_alloc&) {
      end(*request, sink, "out of memory");
    }
  }
}

// From now on the requests that the router keeps itself, and `more` others, can end without memory.
void ClusterRouter::reserve_completions(std::size_t more) {
  completions_.reserve(completions_.size() + delayed_.size() + listings_.size() + more + 1);
}

void ClusterRouter::route(const QueuedRequest& request, TimePoint now) {
  if (lists_all(*request.request)) return start_listing(request, now);
  if (is_release(request.request->verb)) drop_overtaken(*request.request);
  ServerConnection* const owner = owner_of(*request.request);
  if (owner == nullptr) return route_without_owner(request, now);
  owner->session.resubmit(request, false, now);
}

void ClusterRouter::route_without_owner(const QueuedRequest& request, TimePoint now) {
  want_map(now);
  const Failure* const why = fails_fast(request.request->verb) ? why_unreachable() : nullptr;
  if (why != nullptr) {
    for (const auto& each : connections_) each->session.want_connection(now);
    const TimePoint submitted_at = request.deadline - settings_.timeout;
    if (why->is_certain() || now >= later(submitted_at, patience)) {
      return end(*request.request, *request.sink, why->text,
                 why->permanent ? Outcome::Kind::refused : Outcome::Kind::unknown);
    }
  }
  delay(request, now,
        has_map_
            ? "no node of the cluster serves slot " + std::to_string(slot_for(*request.request))
            : "no node of the cluster has said yet which has which keys");
}

// Why no node can be reached; null: a node can be reached, or is being connected to.
const Failure* ClusterRouter::why_unreachable() const noexcept {
  const Failure* why = nullptr;
  for (const auto& each : connections_) {
    const Failure* const failure = each->session.last_failure();
    if (failure == nullptr) return nullptr;
    if (why == nullptr || failure->permanent || !failure->is_certain()) why = failure;
  }
  return why;
}

void ClusterRouter::delay(const QueuedRequest& request, TimePoint now, std::string why) {
  reserve_completions(1);
  delayed_.add(request, request.deadline - settings_.timeout, now, std::move(why));
}

// A delayed acquire has not run, and must not run after its release.
void ClusterRouter::drop_overtaken(const Request& release) {
  using Delayed = DelayedRequests::Delayed;
  delayed_.drop_acquires(
      [&](const Request& request) { return acquires_hold(request, release.id); },
      [&](Delayed& each) { end(*each.request.request, *each.request.sink, each.why); });
}

void ClusterRouter::send_delayed(TimePoint now) {
  delayed_.take_due(now, [&](DelayedRequests::Delayed& each) {
    const QueuedRequest& request = each.request;
    try {
      if (now < request.deadline) return route(request, now);
    } catch (const std::bad_alloc&) {
      each.why = "out of memory";
    }
    end(*request.request, *request.sink, each.why);
  });
}

// Ends a request that no node has run. `reserve_completions` has made room for it.
void ClusterRouter::end(Request& request, Sink& sink, std::string_view why,
                        Outcome::Kind kind) noexcept {
  Completion& completion = completions_.emplace_back(Completion{&request, &sink, {}});
  completion.outcome.kind = kind;
  completion.outcome.never_ran = true;
  try {
    completion.outcome.reason = why;
  } catch (const std::bad_alloc&) {
    completion.outcome.reason.clear();
  }
}

bool ClusterRouter::take_completion(Delivery& delivery) noexcept {
  if (completions_.empty()) return false;
  Completion& completion = completions_.back();
  delivery.type = Delivery::Type::sink_event;
  delivery.request = completion.request;
  delivery.sink = completion.sink;
  delivery.outcome = std::move(completion.outcome);
  completions_.pop_back();
  return true;
}

bool ClusterRouter::next(Delivery& delivery, TimePoint now) noexcept {
  for (;;) {
    const auto has_one = [&](const auto& each) { return each->session.next(delivery); };
    if (!take_completion(delivery) && std::ranges::none_of(connections_, has_one)) return false;
    const bool is_event = delivery.type == Delivery::Type::sink_event;
    if (is_event && delivery.sink != &part_sink_) {
      if (ended_part(delivery)) go_to_next_master(*delivery.request->part);
      return true;
    }
    on_delivery(delivery, now);
  }
}

void ClusterRouter::on_delivery(Delivery& delivery, TimePoint now) noexcept {
  try {
    switch (delivery.type) {
      case Delivery::Type::sink_event: return on_part_listed(delivery);
      case Delivery::Type::redirect: return on_redirect(delivery, now);
      case Delivery::Type::slot_map: return apply_map(delivery.slots, now);
    }
  } catch (const std::bad_alloc&) {
    const bool has_request =
        delivery.type == Delivery::Type::redirect && delivery.request != nullptr;
    if (has_request) end(*delivery.request, *delivery.sink, "out of memory");
  }
}

void ClusterRouter::on_redirect(const Delivery& delivery, TimePoint now) {
  const Redirect& redirect = delivery.redirect;
  const bool asks = redirect.kind == Redirect::Kind::ask;
  if (!asks) want_map(now);
  if (redirect.kind == Redirect::Kind::moved) {
    assign_slot(redirect.slot, connection_to(redirect.endpoint), now);
  }
  if (delivery.request == nullptr) return;
  if (is_release(delivery.request->verb)) drop_overtaken(*delivery.request);
  const QueuedRequest request{delivery.request, delivery.sink, delivery.deadline, delivery.hops};
  if (redirect.kind != Redirect::Kind::later && delivery.hops <= most_hops) {
    return connection_to(redirect.endpoint).session.resubmit(request, asks, now);
  }
  if (delivery.overtaken && is_acquire(*delivery.request)) {
    return end(*delivery.request, *delivery.sink, delivery.outcome.reason);
  }
  delay(request, now, delivery.outcome.reason);
}

void ClusterRouter::start_listing(const QueuedRequest& request, TimePoint now) {
  if (request.sink == &part_sink_) {  // the part's node has lost its slots
    Delivery gone;
    gone.request = request.request;
    gone.outcome.reason = "the keys moved while they were listed";
    return on_part_listed(gone);
  }
  const auto serves = [](const auto& each) { return each->slots > 0; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(connections_, serves));
  if (count == 0) {
    want_map(now);
    return delay(request, now, "no node of the cluster serves any slot");
  }
  reserve_completions(1);
  for (const auto& each : connections_) each->session.reserve(1, part_sink_);
  Listing& listing = listings_.emplace_back(
      Listing{request.request, request.sink, {count, *request.request}, count, {}});
  listing.outcome.kind = Outcome::Kind::granted;
  auto part = listing.parts.begin();
  for (const auto& each : connections_) {
    if (!serves(each)) continue;
    part->context = &listing;
    each->session.resubmit({&*part++, &part_sink_, request.deadline, 0}, false, now);
  }
}

void ClusterRouter::on_part_listed(Delivery& delivery) noexcept {
  if (delivery.request == nullptr) return;  // a notification
  auto* const listing = static_cast<Listing*>(delivery.request->context);
  if (delivery.outcome.kind != Outcome::Kind::granted) {
    listing->outcome = std::move(delivery.outcome);
  }
  if (--listing->unanswered > 0) return;
  completions_.push_back({listing->request, listing->sink, std::move(listing->outcome)});
  std::erase_if(listings_, [&](const Listing& each) { return &each == listing; });
}

// A listing in parts goes from master to master. The cursor's part is a slot of the master that is
// listed; the next master is the one with the next larger first slot.
void ClusterRouter::go_to_next_master(ListPart& part) noexcept {
  const auto serves = [](const auto& each) { return each->slots > 0; };
  const bool of_all_masters = !part.awaited;  // a page of awaited keys counts those of its master
  if (of_all_masters) {
    part.total *= static_cast<std::uint64_t>(std::ranges::count_if(connections_, serves));
  }
  if (part.cursor.position != 0) return;
  for (auto slot = part.cursor.part + 1U; slot < owners_.size(); ++slot) {
    const auto begin = owners_.begin();
    const auto here = begin + static_cast<std::ptrdiff_t>(slot);
    if (*here == nullptr || *here == *(here - 1) || std::find(begin, here, *here) != here) continue;
    part.cursor.part = slot;
    return;
  }
  part.cursor = {};
}

bool ClusterRouter::has_news() const noexcept {
  return !completions_.empty() || std::ranges::any_of(connections_, [](const auto& each) {
    return each->session.has_news();
  });
}

std::size_t ClusterRouter::outstanding() const noexcept {
  std::size_t count = delayed_.size();
  for (const auto& each : connections_) count += each->session.unanswered();
  return count;
}

void ClusterRouter::tick(TimePoint now) {
  now_ = now;
  send_delayed(now);
  if (misses_an_owner(now)) want_map(now);
  if (wants_map_ && now >= query_at_) query_map(now);
  retire_useless(now);
}

Clock::time_point ClusterRouter::due() const noexcept {
  if (!completions_.empty()) return TimePoint{};
  TimePoint at = wants_map_ ? query_at_ : Clock::never();
  at = std::min(at, delayed_.due());
  for (const auto& each : connections_) {
    const TimePoint silent_at = each->session.silent_at();
    if (silent_at > now_) at = std::min(at, silent_at);
  }
  return at;
}

void ClusterRouter::forget() noexcept {
  for (const auto& each : connections_) each->session.forget();
  delayed_.clear();
  completions_.clear();
  listings_.clear();
  query_at_ = {};
}

}  // namespace latchkey::inline v1::detail::redis
