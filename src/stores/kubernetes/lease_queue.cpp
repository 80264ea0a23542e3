// The requests of this process about one Lease.
// tidy: long-file because the steps of one request are one state machine
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/lease_queue.hpp"

#include <algorithm>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/kubernetes/api_reply.hpp"
#include "stores/kubernetes/lease_info.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

using Kind = Outcome::Kind;

/// How often a request begins anew because somebody else has changed the Lease.
constexpr int most_rounds = 32;
/// How often a waiter asks if the API server tells of no changes: client-go's RetryPeriod.
constexpr std::chrono::milliseconds poll_period{2'000};

std::int64_t whole_seconds(Clock::duration time) noexcept {
  const std::int64_t seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
  return std::clamp<std::int64_t>(seconds, 1, largest_number);
}

}  // namespace

LeaseQueue::LeaseQueue(LeaseContext& context, std::string key, std::string name)
    : context_(context), key_(std::move(key)), name_(std::move(name)) {}

void LeaseQueue::submit(Request& request, Sink& sink) {
  requests_.push_back({&request, &sink, context_.clock.now()});
  if (stage_ == Stage::idle) begin();
}

// A holder writes without reading first: nobody else has changed the Lease, as a rule, and the API
// server refuses the version if somebody has.
void LeaseQueue::begin() {
  rounds_ = 0;
  ++serial_;
  const Request& request = *current().request;
  const bool writes =
      request.verb == Verb::release || (request.verb == Verb::renew && !lasts_long_enough());
  if (writes && own_ && own_->id == request.id && context_.link.is_up()) {
    const LeaseObject lease = own_->lease;
    return decide(&lease);
  }
  read();
}

void LeaseQueue::read() {
  if (!context_.link.is_up()) {
    const ConnectionFailure* const why = context_.link.failure();
    return malformed(why == nullptr ? "the connection is down" : why->text, true);
  }
  stage_ = Stage::reading;
  context_.link.get("/" + name_, [this, serial = serial_](http2::HttpEnd&& end) {
    if (serial == serial_) on_read(std::move(end));
  });
}

void LeaseQueue::on_read(http2::HttpEnd&& end) {
  if (end.status == HttpStatus::not_found && !read_status(end.body).reason.empty()) {
    context_.observed.forget(name_);
    return decide(nullptr);
  }
  if (end.status != HttpStatus::ok) return fail(end, "get");
  std::string why;
  const auto lease = read_lease(end.body, why);
  if (!lease) return malformed(why, true);
  if (lease->name != name_) return malformed("malformed reply: it is another Lease", true);
  context_.observed.see(*lease, context_.clock.now());
  decide(&*lease);
}

void LeaseQueue::decide(const LeaseObject* lease) {
  const Verb verb = current().request->verb;
  const bool is_mine = lease != nullptr && lease->record.holder == identity();
  switch (verb) {
    case Verb::acquire: return acquire(lease);
    case Verb::renew: return renew(is_mine ? lease : nullptr);
    case Verb::verify: {
      const bool holds =
          context_.observed.standing(name_, identity(), context_.clock.now()) == Standing::mine;
      return finish(is_mine && holds ? Kind::granted : Kind::gone);
    }
    case Verb::release:
    case Verb::leave: return give_up(lease, is_mine);
    case Verb::force_release:
      return give_up(lease, lease != nullptr && !lease->record.holder.empty());
    case Verb::inspect: return inspect(lease);
    default: break;
  }
  Outcome outcome;
  outcome.kind = Kind::refused;
  outcome.never_ran = true;
  outcome.reason = "Kubernetes offers no " + std::string(to_string(verb));
  finish(std::move(outcome));
}

void LeaseQueue::acquire(const LeaseObject* lease) {
  const Request& request = *current().request;
  LeaseRecord record{identity(), whole_seconds(request.lease), 0, {}, {}};
  const std::int64_t fences =
      request.wants_token() ? std::max<std::uint32_t>(request.tokens, 1) : 1;
  record.renewed = record.acquired = stamp_after(lease == nullptr ? "" : lease->record.renewed);
  if (lease == nullptr) {
    record.transitions = fences;
    return create(std::move(record));
  }
  const LeaseRecord& before = lease->record;
  const Standing standing = context_.observed.standing(name_, record.holder, context_.clock.now());
  if (before.holder == record.holder) {
    record.acquired = before.acquired;
    record.transitions = before.transitions;
    return update(*lease, std::move(record));
  }
  if (standing == Standing::busy) return finish(busy(before));
  if (before.transitions > largest_number - fences) {
    Outcome outcome;
    outcome.kind = Kind::refused;
    outcome.never_ran = true;
    outcome.reason = "the leaseTransitions of the Lease " + in_quotes(name_) + " are " +
                     std::to_string(before.transitions) +
                     ", and cannot rise any more; delete it once nobody holds it";
    return finish(std::move(outcome));
  }
  record.transitions = before.transitions + fences;
  update(*lease, std::move(record));
}

void LeaseQueue::renew(const LeaseObject* lease) {
  const Clock::time_point now = context_.clock.now();
  if (lease == nullptr || context_.observed.standing(name_, identity(), now) != Standing::mine) {
    return finish(Kind::gone);
  }
  if (lasts_long_enough()) return finish(Kind::granted);
  LeaseRecord record = lease->record;
  record.seconds = std::max(whole_seconds(current().request->lease),
                            whole_seconds(context_.observed.left(name_, now)));
  record.renewed = stamp_after(record.renewed);
  update(*lease, std::move(record));
}

// Each renewal is rounded up to whole seconds: a hold that ends at a time of its own, and is
// renewed until then, would last longer with each of them.
bool LeaseQueue::lasts_long_enough() const {
  const Entry& entry = requests_.front();
  return own_ && own_->id == entry.request->id &&
         later(entry.submitted, entry.request->lease) <= own_->ends;
}

// client-go's release: the next candidate need not wait, and the count of transitions stays.
void LeaseQueue::give_up(const LeaseObject* lease, bool is_mine) {
  if (!is_mine) return finish(Kind::gone);
  LeaseRecord record;
  record.seconds = 1;
  record.transitions = lease->record.transitions;
  record.renewed = record.acquired = stamp_after(lease->record.renewed);
  update(*lease, std::move(record));
}

void LeaseQueue::inspect(const LeaseObject* lease) {
  LockInfo& info = *current().request->info;
  info.key = key_;
  if (lease != nullptr) describe(lease->record, info);
  finish(Kind::granted);
}

void LeaseQueue::create(LeaseRecord record) {
  stage_ = Stage::writing;
  written_at_ = context_.clock.now();
  std::string body = new_lease(name_, context_.link.name_space(), record);
  context_.link.write("POST", {}, std::move(body),
                      [this, serial = serial_, record](http2::HttpEnd&& end) {
                        if (serial == serial_) on_written(std::move(end), "create", record);
                      });
}

void LeaseQueue::update(const LeaseObject& lease, LeaseRecord record) {
  stage_ = Stage::writing;
  written_at_ = context_.clock.now();
  context_.link.write("PUT", "/" + name_, changed_lease(lease, record),
                      [this, serial = serial_, record](http2::HttpEnd&& end) {
                        if (serial == serial_) on_written(std::move(end), "update", record);
                      });
}

void LeaseQueue::on_written(http2::HttpEnd&& end, std::string_view verb,
                            const LeaseRecord& record) {
  const bool is_status =
      end.status >= HttpStatus::first_of_errors && !read_status(end.body).reason.empty();
  const bool other_version =
      is_status && (end.status == HttpStatus::conflict ||
                    (end.status == HttpStatus::not_found && verb == "update"));
  if (other_version && ++rounds_ < most_rounds) return read();
  if (other_version) {
    return malformed("other clients change the Lease again and again", true);
  }
  if (end.status != HttpStatus::ok && end.status != HttpStatus::created) return fail(end, verb);
  std::string why;
  auto lease = read_lease(end.body, why);
  if (!lease) return malformed(why, false);
  if (lease->name != name_ || lease->record.holder != record.holder ||
      lease->record.transitions != record.transitions) {
    return malformed("malformed reply: the Lease is not the one that was written", false);
  }
  context_.observed.see(*lease, context_.clock.now());
  if (!record.holder.empty()) return granted(std::move(*lease));
  if (own_ && own_->id == current().request->id) own_.reset();
  finish(Kind::granted);
}

void LeaseQueue::granted(LeaseObject&& lease) {
  const Request& request = *current().request;
  Outcome outcome;
  outcome.kind = Kind::granted;
  if (request.verb == Verb::acquire && request.wants_token()) {
    outcome.token = static_cast<std::uint64_t>(lease.record.transitions);
  }
  const Clock::time_point ends = later(written_at_, std::chrono::seconds(lease.record.seconds));
  own_ = Own{request.id, std::move(lease), ends, request.watch ? current().sink : nullptr};
  finish(std::move(outcome));
}

Outcome LeaseQueue::busy(const LeaseRecord& record) const {
  Outcome outcome;
  outcome.kind = Kind::busy;
  outcome.holder = record.holder;
  outcome.holder_is_foreign = !HoldId::parse(record.holder);
  auto left = std::chrono::ceil<std::chrono::milliseconds>(
      context_.observed.left(name_, context_.clock.now()));
  if (!context_.watch.is_open()) left = std::min(left, poll_period);
  outcome.retry_after = std::max(left, std::chrono::milliseconds(1));
  return outcome;
}

void LeaseQueue::fail(const http2::HttpEnd& end, std::string_view verb) {
  const Clock::time_point now = context_.clock.now();
  if (is_throttled(end)) {
    resumes_at_ = later(now, pause_of(end));
    if (resumes_at_ <= later(current().submitted, context_.timeout)) {
      stage_ = Stage::paused;
      return;
    }
  }
  finish(outcome_of(end, {verb, context_.link.name_space()}));
}

void LeaseQueue::malformed(const std::string& why, bool never_ran) {
  Outcome outcome;
  outcome.reason = why;
  outcome.never_ran = never_ran;
  finish(std::move(outcome));
}

void LeaseQueue::finish(Kind kind) {
  Outcome outcome;
  outcome.kind = kind;
  finish(std::move(outcome));
}

void LeaseQueue::finish(Outcome&& outcome) {
  const Entry done = requests_.front();
  if (own_ && own_->id == done.request->id) {
    if (outcome.kind == Kind::gone) {
      own_.reset();
    } else if (done.request->verb != Verb::acquire && outcome.kind == Kind::granted) {
      own_->watcher = done.request->watch ? done.sink : nullptr;
    }
  }
  requests_.pop_front();
  stage_ = Stage::idle;
  context_.outbox.complete(*done.request, *done.sink, std::move(outcome));
  if (!requests_.empty()) begin();
}

void LeaseQueue::on_event(const WatchEvent& event) {
  if (!own_ || is_not_after(event.lease.version, own_->lease.version)) return;
  const bool is_deleted = event.kind == WatchEvent::Kind::deleted;
  if (!is_deleted && event.lease.record.holder == own_->id.text()) {
    own_->lease = event.lease;
    return;
  }
  if (Sink* const watcher = std::exchange(own_->watcher, nullptr)) {
    context_.outbox.notify(*watcher, Notification::Kind::changed, key_);
  }
}

void LeaseQueue::on_watch_begins() {
  if (!own_) return;
  if (Sink* const watcher = std::exchange(own_->watcher, nullptr)) {
    context_.outbox.notify(*watcher, Notification::Kind::changed, key_);
  }
}

void LeaseQueue::advance(Clock::time_point now) {
  if (stage_ == Stage::paused && resumes_at_ <= now) read();
  if (!own_ || !requests_.empty()) return;
  // A hold that nobody renewed, or that somebody has taken, is a note of the past.
  if (context_.observed.standing(name_, own_->id.text(), now) != Standing::mine) own_.reset();
}

void LeaseQueue::start_over() noexcept {
  requests_.clear();
  stage_ = Stage::idle;
  ++serial_;
}

}  // namespace latchkey::inline v1::detail::kubernetes
