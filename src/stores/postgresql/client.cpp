// Connects, exchanges batches, and notices what is lost.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/client.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "backend/verbs.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

/// The server keeps a subscription that is not renewed for a minute, and sweeps every 5 s at most.
constexpr std::chrono::seconds upkeep_interval{5};

std::string new_channel() {
  const std::array<std::uint64_t, 2> space = HoldId::new_space();
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "latchkey_%016llx%016llx",
                static_cast<unsigned long long>(space[0]),
                static_cast<unsigned long long>(space[1]));
  return text.data();
}

}  // namespace

PostgresqlClient::PostgresqlClient(PostgresqlUri uri, const Options& options)
    : uri_(std::move(uri)),
      timeout_(options.command_timeout),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      layout_(Layout::make(uri_)),
      subscriptions_(new_channel(), options.watch_holds),
      connection_(uri_, *layout_, subscriptions_, descriptors_, timeout_),
      batch_(*layout_, subscriptions_),
      policy_(std::random_device{}()) {}

Capabilities PostgresqlClient::capabilities() const noexcept {
  Capabilities offered = layout_->capabilities();
  offered.watches = offered.watches && connection_.is_told_of_losses();
  offered.in_order = !uri_.session_pooler;  // behind a pooler the last session may still work
  return offered;
}

stores::StoreClient::Start PostgresqlClient::start_state() const noexcept {
  if (connection_.is_up()) return Start::up;
  const ConnectionFailure* const known = policy_.last_failure();
  return known != nullptr && known->is_certain() ? Start::failed : Start::connecting;
}

bool PostgresqlClient::add_listener(const Request& request, Sink& sink) {
  if (request.verb == Verb::subscribe) return subscriptions_.add(request, sink);
  return request.watch && connection_.is_told_of_losses() && subscriptions_.watch(request, sink);
}

void PostgresqlClient::remove_listener(const Request& request, Sink& sink) noexcept {
  if (request.verb == Verb::subscribe || request.verb == Verb::unsubscribe) {
    subscriptions_.remove(request, sink);
  } else {
    subscriptions_.unwatch(request, sink);
  }
}

void PostgresqlClient::submit(std::span<Request* const> requests, Sink& sink) {
  const Clock::time_point now = clock_.now();
  const std::size_t before = queue_.size();
  std::size_t taken = 0;
  std::vector<bool> added(requests.size());  // subscriptions and watches that are new
  try {
    for (; taken < requests.size(); ++taken) {
      Request& request = *requests[taken];
      if (request.verb == Verb::acquire) last_acquired_ = request.id;
      if (!request.members.empty()) last_acquired_ = request.members.front().id;
      queue_.push_back({&request, &sink, now, is_own(request)});
      added[taken] = add_listener(request, sink);
    }
  } catch (...) {
    queue_.resize(before);
    for (std::size_t index = 0; index < taken; ++index) {
      if (added[index]) remove_listener(*requests[index], sink);
    }
    throw;
  }
  for (Request* const request : requests) {
    const bool ends = request->verb == Verb::unsubscribe || request->verb == Verb::release ||
                      request->verb == Verb::leave;
    if (ends) remove_listener(*request, sink);
  }
  policy_.want(now);
  if (!connection_.is_up()) policy_.hasten();
}

void PostgresqlClient::send(Clock::time_point now) {
  if (connection_.is_up() && !send_batch(now)) go_down({false, "the connection ended"}, now);
}

bool PostgresqlClient::send_batch(Clock::time_point now) {
  if (batch_.is_under_way() || !pacing_.is_ready(queue_.size(), now)) return true;
  std::erase_if(queue_, [&](const QueuedRequest& queued) {
    if (queued.request == nullptr) return false;
    std::string why = layout_->why_not(*queued.request);
    if (why.empty()) return false;
    outbox_.refuse(*queued.request, *queued.sink, std::move(why));
    return true;
  });
  if (!batch_.send(connection_.connection(), queue_, outbox_)) return false;
  batch_sent_ = now;
  batch_ends_at_ = batch_.is_under_way() ? later(now, timeout_) : Clock::never();
  return connection_.flush();
}

void PostgresqlClient::advance(Clock::time_point now) {
  if (!connection_.is_up()) connect(now);
  if (connection_.is_up()) exchange(now);
  if (!queue_.empty()) give_up(now);
}

void PostgresqlClient::connect(Clock::time_point now) {
  if (connection_.state() == PostgresqlConnection::State::down) {
    if (now < policy_.next_attempt_at()) return;
    connection_.start(now);
  }
  if (const std::optional<ConnectionFailure> failure = connection_.advance(now))
    return go_down(*failure, now);
  if (connection_.is_up()) go_up(now);
}

void PostgresqlClient::go_up(Clock::time_point now) {
  policy_.connected(now);
  upkeep_at_ = layout_->capabilities().pushes ? now : Clock::never();
  outbox_.link(true, {});
}

void PostgresqlClient::go_down(const ConnectionFailure& failure, Clock::time_point now) {
  connection_.close();
  batch_ends_at_ = upkeep_at_ = Clock::never();
  batch_.fail(failure.text, outbox_);
  std::erase_if(queue_, [](const QueuedRequest& queued) { return queued.request == nullptr; });
  const bool wanted = !queue_.empty() || !subscriptions_.empty() || subscriptions_.watches();
  policy_.failed(failure, now, wanted);
  outbox_.link(false, failure.text);
}

void PostgresqlClient::exchange(Clock::time_point now) {
  PGconn* const connection = connection_.connection();
  bool good = connection_.flush() && connection_.read();
  const std::string why = good ? "the connection ended" : connection_.why_broken();
  if (good && batch_.is_under_way()) {
    const std::size_t size = batch_.size(), results = batch_.results();
    const Batch::Progress progress = batch_.receive(connection, queue_, outbox_);
    if (progress == Batch::Progress::done) {
      batch_ends_at_ = Clock::never();
      pacing_.ended(size, queue_.size(), batch_sent_, now, batch_.is_durable());
    }
    if (progress == Batch::Progress::malformed)
      return go_down({false, std::string(sql::malformed)}, now);
    good = progress != Batch::Progress::broken;
    if (progress == Batch::Progress::done || batch_.results() != results)
      connection_.result_ended();
  }
  static_cast<void>(::PQisBusy(connection));  // parses notifications
  read_notifications();
  if (good && has_lost_subscriptions()) {
    return go_down({false, "the server has dropped the subscriptions of a stopped process"}, now);
  }
  if (good && now >= upkeep_at_) {
    queue_.push_back({});
    upkeep_at_ = later(now, upkeep_interval);
  }
  if (!good || !send_batch(now)) return go_down({false, why}, now);
  if (now >= batch_ends_at_) {
    go_down({false, "no reply for " + std::to_string(timeout_.count()) + " ms"}, now);
  }
}

void PostgresqlClient::read_notifications() {
  while (const NotificationHandle notification{::PQnotifies(connection_.connection())}) {
    connection_.result_ended();
    if (notification->relname != Subscriptions::forced_releases) {
      subscriptions_.deliver(notification->extra, outbox_);
    } else if (!connection_.is_served_by(notification->be_pid)) {
      subscriptions_.deliver_forced(notification->extra, outbox_);
    }
  }
}

// The server keeps subscriptions for a minute after the last upkeep.
bool PostgresqlClient::has_lost_subscriptions() {
  const auto found = batch_.take_upkeep();
  return found && *found < subscriptions_.rows().keys.size() && queue_.empty();
}

Clock::time_point PostgresqlClient::gives_up_at(const QueuedRequest& queued) const noexcept {
  if (queued.request == nullptr) return Clock::never();
  const Clock::time_point latest = later(queued.submitted, timeout_);
  if (!fails_fast(queued.request->verb) || connection_.is_up()) return latest;
  return std::min(latest, policy_.gives_up_at(queued.submitted));
}

void PostgresqlClient::give_up(Clock::time_point now) {
  const ConnectionFailure* const known = policy_.last_failure();
  const std::string why =
      known != nullptr ? known->text : "no reply for " + std::to_string(timeout_.count()) + " ms";
  std::erase_if(queue_, [&](const QueuedRequest& queued) {
    if (queued.request == nullptr || now < gives_up_at(queued)) return false;
    outbox_.complete_unknown(*queued.request, *queued.sink, why, true);
    return true;
  });
}

Clock::time_point PostgresqlClient::due() const noexcept {
  Clock::time_point at = Clock::never();
  if (connection_.is_up()) {
    at = std::min(batch_ends_at_, upkeep_at_);
    if (!queue_.empty() && !batch_.is_under_way()) at = std::min(at, pacing_.due());
  } else if (connection_.state() == PostgresqlConnection::State::down) {
    at = policy_.next_attempt_at();
  } else {
    at = connection_.due();
  }
  for (const QueuedRequest& queued : queue_) at = std::min(at, gives_up_at(queued));
  return at;
}

// The next session ends this one at the server before it sends anything.
void PostgresqlClient::start_over(Clock::time_point now) noexcept {
  connection_.close();
  forget_requests();
  policy_.failed(no_memory(), now, true);
}

void PostgresqlClient::abandon() noexcept {
  connection_.abandon();
  forget_requests();
  subscriptions_.clear();
  policy_.reset();
}

void PostgresqlClient::forget_requests() noexcept {
  batch_.forget();
  queue_.clear();
  batch_ends_at_ = upkeep_at_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::postgresql
