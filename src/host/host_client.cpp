// The client of a segment, which DrivenBackend drives.
// SPDX-License-Identifier: BSL-1.0
#include "host/host_client.hpp"

#include <poll.h>

#include <algorithm>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "host/host_backend.hpp"
#include "stores/driver/driven_backend.hpp"

namespace latchkey::inline v1::detail::host {
namespace {

constexpr std::chrono::seconds place_check_interval{1};

std::string damage(const Damaged& what) {
  return std::string("the segment is damaged (") + what.what() + "): " + repair_hint;
}

void set_unknown(Outcome& outcome, std::string reason) {
  outcome = Outcome{};
  outcome.reason = std::move(reason);
  outcome.never_ran = true;
}

}  // namespace

HostClient::HostClient(SegmentPlace place, const Options& options)
    : clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      session_(std::move(place)),
      table_(session_, thin_, clock_, *this),
      watched_(session_.place().path) {
  enter();
  outbox_.link(true, {});
}

HostClient::~HostClient() {
  thin_.detach();
  if (!session_.has_slot()) return;
  try {
    table_.leave();
  } catch (...) {
    session_.abandon();  // the segment is full or damaged: others reap what is left
  }
}

void HostClient::answer(Request& request, Outcome& outcome, Sink& sink) {
  try {
    join();
    check_place(request);
    const std::uint32_t number = number_of(sink);
    known_sink_.store(&sink, std::memory_order_relaxed);
    const bool of_lock = request.verb == Verb::acquire || request.verb == Verb::release;
    if (of_lock && request.hash == 0) request.hash = hash_key(request.key);
    if (grant_thin(request)) {
      outcome.kind = Outcome::Kind::granted;
      return;
    }
    table_.apply(request, number, outcome);
    remember(request, number);
    note_turn(request);
  } catch (const Unusable& why) {
    set_unknown(outcome, why.what());
  } catch (const Damaged& what) {
    // A process whose segment was truncated does not see that another one was put in its place.
    if (!session_.is_in_place()) return replaced(outcome);
    outcome = Outcome{};
    outcome.kind = Outcome::Kind::refused;
    outcome.reason = damage(what);
  } catch (const Replaced&) {
    replaced(outcome);
  } catch (const std::bad_alloc&) {
    set_unknown(outcome, "no memory left");  // short enough to need no allocation
  }
}

void HostClient::replaced(Outcome& outcome) {
  set_unknown(outcome, "another segment has taken its place");
  rejoin();
}

void HostClient::submit(std::span<Request* const> requests, Sink& sink) {
  for (Request* const request : requests) {
    Outcome outcome;
    answer(*request, outcome, sink);
    outbox_.complete(*request, sink, std::move(outcome));
  }
}

// First it says that it sleeps, and then it looks: see Session::wake. A process that wakes it may
// write the byte later than that, so the FIFO is emptied whenever there is something in it.
void HostClient::advance(Clock::time_point now) {
  try {
    join();
    end_turns(now);
    const std::vector<stores::DescriptorSet::Ready> ready = descriptors_.ready();
    const int wake = session_.fifos().wake.get();
    const bool is_woken =
        std::ranges::find(ready, wake, &stores::DescriptorSet::Ready::descriptor) != ready.end();
    if (is_woken) session_.fifos().clear();
    session_.own_slot().sleeps.store(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    table_.drain();
    for (const stores::DescriptorSet::Ready& each : ready) {
      if ((each.events & POLLERR) != 0) reap_owner_of(each.descriptor);
    }
    watch_members();
  } catch (const Unusable&) {
    return;  // the next request says why
  } catch (const Damaged&) {
    return;
  } catch (const Replaced&) {
    rejoin();
  }
}

Clock::time_point HostClient::due() const noexcept {
  const auto first = std::ranges::min_element(turns_, {}, &AwaitedEnd::ends);
  return first == turns_.end() ? Clock::never() : first->ends;
}

void HostClient::note_turn(const Request& request) {
  if (request.verb != Verb::acquire || !request.queues) return;
  std::erase_if(turns_, [&](const AwaitedEnd& each) { return each.key == request.key; });
  const Clock::time_point ends = table_.turn_ends();
  if (ends != Clock::never()) turns_.push_back({std::string(request.key), ends});
}

void HostClient::end_turns(Clock::time_point now) {
  while (due() <= now) {
    const auto its = std::ranges::min_element(turns_, {}, &AwaitedEnd::ends);
    const std::string key = std::move(its->key);
    turns_.erase(its);
    table_.end_turn(key);
  }
}

void HostClient::watch_own() { descriptors_.watch(session_.fifos().wake.get(), POLLIN); }

void HostClient::unwatch(std::size_t slot) noexcept {
  if (const int life = watched_.known_life(slot); life >= 0) descriptors_.forget(life);
  watched_.forget(slot);
}

void HostClient::reap_owner_of(int life) {
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    if (watched_.known_life(slot) != life) continue;
    const std::uint64_t name = watched_.known_name(slot);
    unwatch(slot);
    if (session_.name_of(slot) == name) table_.reap(slot, name);
    return;
  }
}

void HostClient::watch_members() {
  const std::uint64_t members = session_.layout().header.members.load();
  if (std::exchange(members_, members) == members) return;
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    const std::uint64_t name = slot == session_.slot() ? 0 : session_.name_of(slot);
    if (watched_.known_name(slot) == name) continue;
    unwatch(slot);
    if (name == 0) continue;
    const int life = watched_.life(slot, name);
    if (life >= 0) {
      descriptors_.watch(life, 0);
    } else if (session_.is_dead(slot)) {
      watched_.forget(slot);
      table_.reap(slot, name);
    }
  }
}

void HostClient::join() {
  if (!session_.has_slot()) take_slot();
  if (!outbox_.is_up()) outbox_.link(true, {});
}

void HostClient::enter() {
  table_.settle_inheritance();
  table_.make_thin_cells();
  thin_.attach(session_.layout(), session_.slot());
  watch_own();
}

void HostClient::take_slot() {
  thin_.detach();
  session_.rejoin();
  enter();
  for (const Subscription& each : subscriptions_) {
    Request request;
    request.verb = Verb::subscribe;
    request.key = each.key;
    request.type = each.type;
    request.id = each.id;
    request.queues = each.queues;
    request.in_line = each.in_line;
    request.latch = each.latch;
    request.revocations = each.revocations;
    Outcome outcome;
    table_.apply(request, each.sink, outcome);
  }
}

// Each hold of this process was in the other segment: that is found when the holds are checked,
// which a lost connection leads to.
void HostClient::rejoin() {
  try {
    for (std::size_t slot = 0; slot < slot_count; ++slot) unwatch(slot);
    if (session_.has_slot()) descriptors_.forget(session_.fifos().wake.get());
    members_ = 0;
    turns_.clear();
    take_slot();
  } catch (const std::exception&) {
    session_.abandon();  // the next request tries again, and says why it fails
  }
  outbox_.link(false, "another segment has taken its place");
  if (session_.has_slot()) outbox_.link(true, {});
}

void HostClient::check_place(const Request& request) {
  if (request.verb != Verb::renew && request.verb != Verb::verify) return;
  const Clock::time_point now = clock_.now();
  if (now < later(place_checked_, place_check_interval)) return;
  place_checked_ = now;
  if (session_.is_in_place()) return;
  session_.mark_replaced();
  throw Replaced();
}

std::uint32_t HostClient::number_of(Sink& sink) {
  const auto known = std::ranges::find(sinks_, &sink);
  if (known != sinks_.end()) return static_cast<std::uint32_t>(known - sinks_.begin());
  sinks_.push_back(&sink);
  return static_cast<std::uint32_t>(sinks_.size() - 1);
}

void HostClient::remember(const Request& request, std::uint32_t sink) {
  const bool begins = request.verb == Verb::subscribe;
  if (!begins && request.verb != Verb::unsubscribe) return;
  Subscription its{std::string(request.key), request.type,  request.id,          request.queues,
                   request.in_line,          request.latch, request.revocations, sink};
  const auto known = std::ranges::find(subscriptions_, its);
  if (begins && known == subscriptions_.end()) subscriptions_.push_back(std::move(its));
  if (!begins && known != subscriptions_.end()) subscriptions_.erase(known);
}

void HostClient::abandon() noexcept {
  thin_.detach();
  known_sink_.store(nullptr, std::memory_order_relaxed);
  turns_.clear();
  session_.abandon();
  for (std::size_t slot = 0; slot < slot_count; ++slot) watched_.forget(slot);
  members_ = 0;
  subscriptions_.clear();
}

void HostClient::notified(std::uint32_t sink, const Notification& notification) {
  if (sink >= sinks_.size()) throw Damaged("a notification for nobody");
  Sink& to = *sinks_[sink];
  if (notification.kind == Notification::Kind::granted) {
    outbox_.notify_granted(to, notification.key, notification.id, notification.place,
                           notification.token);
  } else {
    outbox_.notify(to, notification.kind, notification.key, notification.id);
  }
}

void HostClient::missed() {
  outbox_.link(false, "notifications were dropped");
  outbox_.link(true, {});
}

void HostClient::abandoned(const std::string& key, LockType type, std::uint64_t pid) {
  outbox_.notify_all(Notification::Kind::abandoned, key,
                     "abandoned by pid " + std::to_string(pid) +
                         ", which has ended while it held " + std::string(to_string(type)));
}

std::unique_ptr<Backend> make_host_backend(std::string_view uri, const Options& options) {
  SegmentPlace place = SegmentPlace::parse(uri);
  const LockSite site{{}, {}, place.description};
  try {
    return stores::drive_client(std::make_unique<HostClient>(std::move(place), options), options);
  } catch (const Unusable& why) {
    throw BackendRefused(site, why.what());
  } catch (const Damaged& what) {
    throw BackendRefused(site, what.what());
  } catch (const Replaced&) {
    throw BackendRefused(site, "the segment is being replaced: try again");
  }
}

}  // namespace latchkey::inline v1::detail::host
