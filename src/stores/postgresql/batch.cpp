// Sends batches and reads their results.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/batch.hpp"

#include <algorithm>
#include <utility>

#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

/// libpq writes whenever it has collected 8 KiB. One request may be longer, alone.
constexpr std::size_t most_bytes = 7'000;
constexpr std::size_t most_requests = 64;

/// Requests that lock several keys, or rows of others, are alone in their transaction.
bool is_alone(const QueuedRequest& queued) noexcept {
  return queued.request == nullptr || queued.request->verb == Verb::acquire_all;
}

/// Whether the outcome counts only once it is on the server's disk. The statements of the others
/// end with `as_not_durable`.
bool needs_disk(const QueuedRequest& queued) noexcept {
  if (queued.request == nullptr) return false;
  switch (queued.request->verb) {
    case Verb::release:
    case Verb::leave:
    case Verb::subscribe:
    case Verb::unsubscribe: return false;
    default: return true;
  }
}

bool is_renewal(const QueuedRequest& queued) noexcept {
  return queued.request != nullptr && queued.request->verb == Verb::renew;
}

bool is_of_one_hold(const QueuedRequest& one, const QueuedRequest& other) noexcept {
  return one.request != nullptr && other.request != nullptr && one.request->id == other.request->id;
}

std::string_view key_of(const QueuedRequest& queued) noexcept {
  return queued.request == nullptr ? std::string_view() : queued.request->key;
}

bool send_call(PGconn* connection, const Call& call) {
  std::vector<const char*> values;
  values.reserve(call.parameters.size());
  for (const auto& each : call.parameters) values.push_back(each ? each->c_str() : nullptr);
  return ::PQsendQueryPrepared(connection, call.statement, static_cast<int>(values.size()),
                               values.data(), nullptr, nullptr, 0) == 1;
}

}  // namespace

Call Batch::call_of(const QueuedRequest& queued) const {
  if (queued.request == nullptr) return {"upkeep", {subscriptions_.channel()}};
  const bool stays =
      queued.request->verb == Verb::unsubscribe && subscriptions_.wanted(*queued.request);
  if (stays) return {};
  return layout_.call(*queued.request, subscriptions_.channel(), queued.is_own);
}

bool Batch::take(const QueuedRequest& queued, std::size_t& bytes, stores::Outbox& outbox) {
  Call call = call_of(queued);
  if (call.statement == nullptr) {
    outbox.complete(*queued.request, *queued.sink, Outcome::Kind::granted);
    return true;
  }
  bytes += call.size();
  if (!entries_.empty() && bytes > most_bytes) return false;
  entries_.push_back({queued, std::move(call), entries_.size(), Entry::State::sent, {}});
  return true;
}

// A renewal goes before requests of other holds, also of its key.
void Batch::choose_renewals(RequestQueue& queue, stores::Outbox& outbox) {
  std::size_t bytes = 0, place = 0;  // `place`: the index of `at` in the queue
  for (auto at = queue.begin(); at != queue.end() && entries_.size() < most_requests;) {
    const QueuedRequest queued = *at;
    const bool follows =
        is_renewal(queued) && std::any_of(queue.begin(), at, [&](const QueuedRequest& earlier) {
          return is_of_one_hold(earlier, queued);
        });
    if (!is_renewal(queued) || follows) {
      ++at;
      ++place;
      continue;
    }
    if (!take(queued, bytes, outbox)) break;
    if (place < undone_requests_) --undone_requests_;
    at = queue.erase(at);
  }
}

void Batch::choose(bool durable, RequestQueue& queue, stores::Outbox& outbox) {
  const std::size_t most = undone_requests_ > 0 ? undone_requests_ : most_requests;
  std::size_t bytes = 0;
  std::vector<std::string_view> passed;  // keys of earlier requests that stay in the queue
  for (auto at = queue.begin(); at != queue.end();) {
    if (entries_.size() == most || passed.size() == most) break;
    const QueuedRequest queued = *at;
    const bool first = entries_.empty() && passed.empty();
    if (is_alone(queued) && !first) break;
    if (needs_disk(queued) != durable || std::ranges::count(passed, key_of(queued)) > 0) {
      if (is_alone(queued)) break;
      passed.push_back(key_of(queued));
      ++at;
      continue;
    }
    if (!take(queued, bytes, outbox)) break;
    at = queue.erase(at);
    if (is_alone(queued)) break;
  }
}

void Batch::choose_all(RequestQueue& queue, stores::Outbox& outbox) {
  if (!renews_) choose_renewals(queue, outbox);
  renews_ = !entries_.empty();
  if (renews_) {
    durable_ = true;
    return;
  }
  durable_ = !durable_;
  choose(durable_, queue, outbox);
  if (entries_.empty() && !queue.empty()) {
    durable_ = needs_disk(queue.front());
    choose(durable_, queue, outbox);
  }
  undone_requests_ = 0;
}

bool Batch::send(PGconn* connection, RequestQueue& queue, stores::Outbox& outbox) {
  next_ = 0;
  undone_ = false;
  failure_.clear();
  choose_all(queue, outbox);
  if (entries_.empty()) return true;
  std::ranges::sort(entries_, [](const Entry& one, const Entry& other) {
    const auto ordering = key_of(one.queued) <=> key_of(other.queued);
    return ordering < 0 || (ordering == 0 && one.order < other.order);
  });
  for (const Entry& entry : entries_) {
    if (!send_call(connection, entry.call)) return false;
  }
  return ::PQpipelineSync(connection) == 1;
}

Batch::Progress Batch::receive(PGconn* connection, RequestQueue& queue, stores::Outbox& outbox) {
  int nothing = 0;  // one null result ends each statement
  while (is_under_way() && ::PQisBusy(connection) == 0) {
    const ResultHandle result(::PQgetResult(connection));
    if (!result) {
      if (++nothing > 2) return Progress::broken;
      continue;
    }
    nothing = 0;
    if (::PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) {
      if (!is_complete()) return Progress::malformed;
      finish(queue, outbox);
      return Progress::done;
    }
    if (!on_result(result.get())) return Progress::malformed;
  }
  return ::PQstatus(connection) == CONNECTION_BAD ? Progress::broken : Progress::waiting;
}

bool Batch::is_complete() const noexcept {
  const auto succeeded = [](const Entry& entry) { return entry.state == Entry::State::succeeded; };
  return next_ == entries_.size() && (undone_ || std::ranges::all_of(entries_, succeeded));
}

bool Batch::on_result(const PGresult* result) {
  const ExecStatusType status = ::PQresultStatus(result);
  if (next_ == entries_.size()) {  // the commit
    failure_ = error_text(result);
    return status == PGRES_FATAL_ERROR;
  }
  Entry& entry = entries_[next_++];
  switch (status) {
    case PGRES_TUPLES_OK:
      entry.state = Entry::State::succeeded;
      if (entry.queued.request != nullptr) {
        entry.outcome = layout_.outcome(*entry.queued.request, result);
      } else {
        upkeep_ = static_cast<std::uint64_t>(sql::number_in(cell(result, 0, 0)));
      }
      break;
    case PGRES_PIPELINE_ABORTED: entry.state = Entry::State::not_run; break;
    case PGRES_FATAL_ERROR: on_error(entry, result); break;
    default: return false;
  }
  return true;
}

void Batch::on_error(Entry& entry, const PGresult* result) {
  undone_ = true;
  entry.state = Entry::State::failed;
  const bool transient = is_transient(sql_state(result));
  entry.outcome.kind = transient ? Outcome::Kind::unknown : Outcome::Kind::refused;
  entry.outcome.never_ran = true;
  entry.outcome.reason = error_text(result);
}

// The request that failed is completed; the server has undone those before it, and skipped those
// after it.
void Batch::finish(RequestQueue& queue, stores::Outbox& outbox) {
  if (!failure_.empty()) return fail(failure_, outbox);
  std::ranges::sort(entries_, {}, &Entry::order);
  std::vector<QueuedRequest> again;
  for (Entry& entry : std::exchange(entries_, {})) {
    if (entry.queued.request == nullptr) continue;  // upkeep is made again in time
    if (undone_ && entry.state != Entry::State::failed) {
      again.push_back(entry.queued);
      continue;
    }
    Request& request = *entry.queued.request;
    if (entry.outcome.kind == Outcome::Kind::gone) {
      subscriptions_.unwatch(request, *entry.queued.sink);
    }
    outbox.complete(request, *entry.queued.sink, std::move(entry.outcome));
  }
  queue.insert(queue.begin(), again.begin(), again.end());
  undone_requests_ += again.size();
}

void Batch::fail(const std::string& why, stores::Outbox& outbox) {
  undone_requests_ = 0;
  std::ranges::sort(entries_, {}, &Entry::order);
  for (const Entry& entry : std::exchange(entries_, {})) {
    if (entry.queued.request == nullptr) continue;
    outbox.complete_unknown(*entry.queued.request, *entry.queued.sink, why, false);
  }
}

void Batch::forget() noexcept {
  entries_.clear();
  undone_requests_ = 0;
  upkeep_.reset();
}

}  // namespace latchkey::inline v1::detail::postgresql
