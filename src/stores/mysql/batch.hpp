// The requests of a connection: what waits, and what is under way.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/driver/outbox.hpp"
#include "stores/driver/poll_pacing.hpp"
#include "stores/mysql/layout.hpp"

namespace latchkey::inline v1::detail::mysql {

/// Sends what waits as one transaction, so that many requests cost one round trip and one commit.
/// The requests of a transaction are sorted by key: so transactions lock the rows of keys in one
/// order, and never wait for each other in a circle. Requests for one key keep their order.
///
/// A request that is the only one for its key in a transaction takes its shortcut, if it has one.
/// If that changes nothing, the request goes again, before all that wait, and without the shortcut.
///
/// If all that wait can take part in a joint statement, those of the first one's kind are sent as
/// one, without the others: it is executed once, and has one result. Callers that lock and unlock
/// at the same pace then stay together.
///
/// A server error undoes the whole transaction. Its requests have not run, and go again, each in a
/// transaction of its own, so that only the one that fails has the error as its outcome.
class Batch {
 public:
  using TimePoint = Clock::time_point;

  /// `poll`: the longest pause of a waiter between attempts.
  Batch(const Layout& layout, std::chrono::milliseconds poll) : layout_(layout), polls_(poll) {}

  /// All or none. Throws std::bad_alloc.
  void add(std::span<Request* const> requests, Sink& sink, TimePoint now);
  /// Whether the server executes joint statements.
  void permit_joint(bool permitted) noexcept { joint_permitted_ = permitted; }

  /// A transaction that is not the batch's has failed, and may still be open: the next text of
  /// `send` ends it before all else.
  void roll_back_first() noexcept { undo_ = true; }

  /// How many requests wait, and how many are under way.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::size_t under_way() const noexcept { return sent_.size(); }

  /// The text of the next transaction, which is then under way.
  [[nodiscard]] std::string send();
  /// Whether the results of a transaction that has succeeded are such as its text has.
  [[nodiscard]] bool fits(const std::vector<StatementResult>& results) const;
  /// The transaction is over. Its requests are completed, or wait again.
  void finish(const std::vector<StatementResult>& results, const SqlError& error, TimePoint now,
              stores::Outbox& outbox);
  /// The connection was lost: nobody knows whether the transaction ran.
  void lose(const std::string& why, stores::Outbox& outbox);

  /// Completes what has waited in vain. `gives_up_at(request, submitted)`: until when it waits.
  template <class GivesUpAt>
  void expire(TimePoint now, GivesUpAt gives_up_at, const std::string& why,
              stores::Outbox& outbox) {
    std::erase_if(waiting_, [&](const Entry& entry) {
      if (gives_up_at(*entry.request, entry.submitted) > now) return false;
      outbox.complete_unknown(*entry.request, *entry.sink, why, true);
      return true;
    });
  }
  /// When the next request that waits gives up.
  template <class GivesUpAt>
  [[nodiscard]] TimePoint expires_at(GivesUpAt gives_up_at) const noexcept {
    TimePoint first = Clock::never();
    for (const Entry& entry : waiting_) {
      first = std::min(first, gives_up_at(*entry.request, entry.submitted));
    }
    return first;
  }
  /// Refuses all that wait: the server serves nobody until somebody changes a configuration.
  void refuse_waiting(const std::string& why, stores::Outbox& outbox);
  /// In a forked child.
  void forget() noexcept;

 private:
  struct Entry {
    Request* request;
    Sink* sink;
    TimePoint submitted;
    int deadlocks = 0;
    /// It may take its shortcut; once it is sent: it takes it.
    bool takes_shortcut = true;
    std::size_t results = 0;  ///< how many results its statements have
  };

  /// The kind of the joint statement that comes next.
  [[nodiscard]] Layout::Joint next_joint() const;
  /// Takes those out of `waiting_` that this joint statement takes; none: the first ones. Sorted
  /// by their keys.
  [[nodiscard]] std::vector<Entry> take(Layout::Joint kind);
  [[nodiscard]] std::string joint_text() const;
  void finish_joint(const Rows& rows, stores::Outbox& outbox);
  void grant(const Entry& entry, stores::Outbox& outbox);
  void complete(const Entry& entry, const Rows& rows, TimePoint now, stores::Outbox& outbox);
  void append(std::string& text, Entry& entry, bool alone) const;
  /// `singly`: each in a transaction of its own.
  void send_again(std::vector<Entry>&& entries, bool singly);
  void undo(std::vector<Entry>&& entries, std::size_t results, const SqlError& error,
            stores::Outbox& outbox);
  void fail_one(Entry& entry, const SqlError& error, bool at_commit, stores::Outbox& outbox);

  const Layout& layout_;
  stores::PollPacing polls_;
  std::deque<Entry> waiting_;
  std::vector<Entry> sent_;         ///< in the order of the text
  std::size_t results_before_ = 0;  ///< results of the text before the first entry's
  std::size_t results_after_ = 0;
  std::size_t singles_ = 0;  ///< so many of the first go in transactions of their own
  bool joint_ = false;       ///< a joint statement was sent
  bool joint_permitted_ = false;
  bool undo_ = false;  ///< the last transaction has failed, and may still be open
};

}  // namespace latchkey::inline v1::detail::mysql
