// Requests that are sent together, and their results.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/driver/outbox.hpp"
#include "stores/postgresql/layout.hpp"
#include "stores/postgresql/subscriptions.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// A request that was submitted.
struct QueuedRequest {
  Request* request = nullptr;  ///< null: the upkeep of this connection
  Sink* sink = nullptr;
  Clock::time_point submitted{};
  bool is_own = true;  ///< as in Layout::call
};
using RequestQueue = std::deque<QueuedRequest>;

/// One transaction: the server runs the requests between two synchronisation points of the pipeline
/// in one, and commits once for all of them (group commit). While a batch is under way, further
/// requests wait for the next one.
///
/// The requests run in the order of their keys, so that batches of several clients do not wait for
/// each other in a circle, and those of one key in the order of submission. The bytes of a batch
/// fit into one write, so that a client which is stopped at any time leaves no transaction half
/// sent. An outcome counts once the server has committed.
///
/// A batch is durable, or it is not. A grant, or a longer lease, counts once it is on the disk.
/// A request that frees something does not wait for the disk: if a crash of the server undoes it,
/// the lock is held until its lease ends, which breaks no promise. The server writes to its disk in
/// order, so a grant after a release is on the disk only together with it. The two kinds of batches
/// take turns while requests of both wait.
///
/// An acquire waits for the mutex of its name, which somebody may keep, and if it fails, its batch
/// is undone. Renewals do without the mutex: they are a batch of their own before the others,
/// though not twice in succession.
class Batch {
 public:
  Batch(const Layout& layout, Subscriptions& subscriptions)
      : layout_(layout), subscriptions_(subscriptions) {}

  [[nodiscard]] bool is_under_way() const noexcept { return !entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// How many of its requests have a result.
  [[nodiscard]] std::size_t results() const noexcept { return next_; }
  /// Whether the server waits for its disk before it reports the commit of the last batch.
  [[nodiscard]] bool is_durable() const noexcept { return durable_; }

  /// Takes requests from the front of the queue and sends them. False: the connection is broken.
  /// Throws std::bad_alloc.
  [[nodiscard]] bool send(PGconn* connection, RequestQueue& queue, stores::Outbox& outbox);

  enum class Progress { waiting, done, broken, malformed };
  /// Reads results. done: all outcomes are in the outbox; requests that the server has not run
  /// because another one failed are in the queue again. malformed: the connection is of no further
  /// use.
  [[nodiscard]] Progress receive(PGconn* connection, RequestQueue& queue, stores::Outbox& outbox);

  /// Completes the requests under way as unknown.
  void fail(const std::string& why, stores::Outbox& outbox);
  void forget() noexcept;

  /// The number of subscriptions that the last upkeep has found at the server; empty: none has been
  /// made since the last call.
  [[nodiscard]] std::optional<std::uint64_t> take_upkeep() noexcept {
    return std::exchange(upkeep_, std::nullopt);
  }

 private:
  struct Entry {
    QueuedRequest queued;
    Call call;
    std::size_t order = 0;  ///< the rank by submission
    enum class State { sent, succeeded, failed, not_run } state = State::sent;
    Outcome outcome{};
  };

  void choose_all(RequestQueue& queue, stores::Outbox& outbox);
  void choose_renewals(RequestQueue& queue, stores::Outbox& outbox);
  /// Takes the requests of this kind that no earlier one for their key precedes.
  void choose(bool durable, RequestQueue& queue, stores::Outbox& outbox);
  /// Takes a request, or completes it if nothing is to be executed. False: it does not fit.
  [[nodiscard]] bool take(const QueuedRequest& queued, std::size_t& bytes, stores::Outbox& outbox);
  [[nodiscard]] Call call_of(const QueuedRequest& queued) const;
  /// False: no statement of latchkey has such a result.
  [[nodiscard]] bool on_result(const PGresult* result);
  /// Whether what the server says agrees with the end of the transaction.
  [[nodiscard]] bool is_complete() const noexcept;
  void on_error(Entry& entry, const PGresult* result);
  void finish(RequestQueue& queue, stores::Outbox& outbox);

  const Layout& layout_;
  Subscriptions& subscriptions_;
  std::vector<Entry> entries_;  ///< in the order of execution
  std::size_t next_ = 0;        ///< the entry whose result is read next
  bool durable_ = false;
  bool renews_ = false;  ///< the last batch consisted of renewals
  bool undone_ = false;  ///< a request has failed: the server has undone all
  /// How many requests at the front of the queue the server has undone or skipped because another
  /// one failed. They run again without newer ones, which may fail in the same way.
  std::size_t undone_requests_ = 0;
  std::string failure_;  ///< an error that belongs to no request
  std::optional<std::uint64_t> upkeep_;
};

}  // namespace latchkey::inline v1::detail::postgresql
