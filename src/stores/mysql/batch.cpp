// The requests of a connection: what waits, and what is under way.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/batch.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>

#include "stores/mysql/server_errors.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

constexpr std::size_t longest_batch = 64;
/// Room for the statement of one request.
constexpr std::size_t usual_text = 320;
/// A request whose transactions are undone so often has an outcome: unknown.
constexpr int most_deadlocks = 5;

/// The transaction was undone, and would succeed another time.
bool is_transient(unsigned error) noexcept {
  return error == deadlock || error == lock_wait_timeout || error == interrupted ||
         error == record_changed || error == lock_table_full || error == too_many_transactions ||
         error == statement_too_long || error == query_too_long;
}

/// Stable, in place, and fast for the few that one transaction has.
template <class Entries, class KeyOf>
void sort_by_key(Entries& entries, KeyOf key_of) {
  for (auto at = entries.begin(); at != entries.end(); ++at) {
    std::rotate(std::ranges::upper_bound(entries.begin(), at, key_of(*at), {}, key_of), at, at + 1);
  }
}

/// The rows of a request's text; null: there are none, or rows that no text has. `joined`: where to
/// join them.
const Rows* rows_of(std::span<const StatementResult> results, Rows& joined) {
  const Rows* found = nullptr;
  for (const StatementResult& each : results) {
    if (each.rows == nullptr) continue;
    if (found == nullptr) {
      found = each.rows;
      continue;
    }
    if (found->size() != 1 || each.rows->size() != 1) return nullptr;
    if (found != &joined) joined = *found;
    found = &joined;
    const auto& cells = each.rows->front();
    joined.front().insert(joined.front().end(), cells.begin(), cells.end());
  }
  return found;
}

}  // namespace

void Batch::add(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  std::vector<Entry> entries;
  entries.reserve(requests.size());
  for (Request* const request : requests) entries.push_back({request, &sink, now});
  waiting_.insert(waiting_.end(), entries.begin(), entries.end());
}

Layout::Joint Batch::next_joint() const {
  using Joint = Layout::Joint;
  if (!joint_permitted_ || singles_ > 0 || undo_) return Joint::none;
  if (waiting_.size() < 2 || waiting_.size() > longest_batch) return Joint::none;
  std::vector<std::string_view> keys;
  for (const Entry& entry : waiting_) {
    if (!entry.takes_shortcut || layout_.joint(*entry.request) == Joint::none) return Joint::none;
    keys.emplace_back(entry.request->key);
  }
  std::ranges::sort(keys);
  const bool differ = std::ranges::adjacent_find(keys) == keys.end();
  return differ ? layout_.joint(*waiting_.front().request) : Joint::none;
}

std::vector<Batch::Entry> Batch::take(Layout::Joint kind) {
  std::vector<Entry> entries;
  if (kind == Layout::Joint::none) {
    const std::size_t most = singles_ > 0 ? 1 : longest_batch;
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
    entries.assign(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    if (singles_ > 0) --singles_;
  } else {
    const auto joins = [&](const Entry& entry) { return layout_.joint(*entry.request) == kind; };
    std::ranges::copy_if(waiting_, std::back_inserter(entries), joins);
    std::erase_if(waiting_, joins);
  }
  sort_by_key(entries, [](const Entry& entry) { return entry.request->key; });
  return entries;
}

std::string Batch::joint_text() const {
  std::vector<Request*> requests;
  requests.reserve(sent_.size());
  for (const Entry& entry : sent_) requests.push_back(entry.request);
  std::string text;
  text.reserve(usual_text * sent_.size());
  layout_.append_joint(text, requests);
  return text;
}

// One request alone takes its own statement: for a DELETE of one row by a list, MariaDB reads the
// whole table.
std::string Batch::send() {
  const Layout::Joint kind = next_joint();
  sent_ = take(kind);
  joint_ = kind != Layout::Joint::none && sent_.size() > 1;
  results_before_ = results_after_ = 0;
  if (joint_) return joint_text();
  const auto key_of = [](const Entry& entry) { return entry.request->key; };
  std::string text;
  text.reserve(usual_text * sent_.size());
  for (std::size_t index = 0; index < sent_.size(); ++index) {
    const bool alone =
        (index == 0 || key_of(sent_[index - 1]) != key_of(sent_[index])) &&
        (index + 1 == sent_.size() || key_of(sent_[index + 1]) != key_of(sent_[index]));
    append(text, sent_[index], alone);
  }
  // One statement is a transaction of its own.
  const bool is_one = sent_.size() == 1 && sent_.front().takes_shortcut;
  if (!is_one) {
    text.insert(0, "BEGIN;").append(";COMMIT");
    results_before_ = results_after_ = 1;
  }
  if (std::exchange(undo_, false)) {
    text.insert(0, "ROLLBACK;");
    ++results_before_;
  }
  return text;
}

bool Batch::fits(const std::vector<StatementResult>& results) const {
  if (joint_) {
    return results.size() == 1 && results.front().rows != nullptr &&
           layout_.shape(layout_.joint(*sent_.front().request)).fits(*results.front().rows);
  }
  std::size_t at = results_before_;
  for (const Entry& entry : sent_) {
    if (at + entry.results > results.size()) return false;
    Rows joined;
    const Rows* const rows = rows_of(std::span(results).subspan(at, entry.results), joined);
    const bool fits = entry.takes_shortcut
                          ? rows == nullptr
                          : rows != nullptr && layout_.shape(*entry.request).fits(*rows);
    if (!fits) return false;
    at += entry.results;
  }
  return results.size() == at + results_after_;
}

void Batch::append(std::string& text, Entry& entry, bool alone) const {
  if (!text.empty()) text += ';';
  entry.takes_shortcut =
      entry.takes_shortcut && alone && layout_.append_shortcut(text, *entry.request);
  entry.results = entry.takes_shortcut ? 1 : layout_.append(text, *entry.request);
}

void Batch::grant(const Entry& entry, stores::Outbox& outbox) {
  polls_.forget(entry.request->id);
  outbox.complete(*entry.request, *entry.sink, Outcome::Kind::granted);
}

void Batch::complete(const Entry& entry, const Rows& rows, TimePoint now, stores::Outbox& outbox) {
  const Request& request = *entry.request;
  const bool acquires = request.verb == Verb::acquire;
  const auto poll = acquires ? polls_.pause(request.id, now) : std::chrono::milliseconds(0);
  Outcome outcome = layout_.outcome(request, rows, poll);
  if (outcome.kind != Outcome::Kind::busy) polls_.forget(request.id);
  outbox.complete(*entry.request, *entry.sink, std::move(outcome));
}

void Batch::finish_joint(const Rows& rows, stores::Outbox& outbox) {
  std::vector<Entry> missed;
  for (Entry& entry : std::exchange(sent_, {})) {
    const bool granted = std::ranges::any_of(
        rows, [&](const auto& row) { return layout_.grants(*entry.request, row); });
    entry.takes_shortcut = granted;
    if (granted) {
      grant(entry, outbox);
    } else {
      missed.push_back(entry);
    }
  }
  send_again(std::move(missed), false);
}

void Batch::finish(const std::vector<StatementResult>& results, const SqlError& error,
                   TimePoint now, stores::Outbox& outbox) {
  if (joint_ && error.number == 0) return finish_joint(*results.at(0).rows, outbox);
  std::vector<Entry> entries = std::exchange(sent_, {});
  if (error.number != 0) return undo(std::move(entries), results.size(), error, outbox);
  std::vector<Entry> missed;
  std::size_t at = results_before_;
  for (Entry& entry : entries) {
    const auto own = std::span(results).subspan(at, entry.results);
    at += entry.results;
    if (!entry.takes_shortcut) {
      Rows joined;
      complete(entry, *rows_of(own, joined), now, outbox);
    } else if (own.front().changed == 1) {
      grant(entry, outbox);
    } else {
      entry.takes_shortcut = false;
      missed.push_back(entry);
    }
  }
  send_again(std::move(missed), false);
}

// Nothing of the transaction has happened.
void Batch::undo(std::vector<Entry>&& entries, std::size_t results, const SqlError& error,
                 stores::Outbox& outbox) {
  undo_ = true;
  std::size_t all = results_before_;
  for (const Entry& entry : entries) all += entry.results;
  const bool at_commit = results == all && !joint_;
  if (entries.size() == 1) return fail_one(entries.front(), error, at_commit, outbox);
  if (!at_commit || is_transient(error.number)) return send_again(std::move(entries), true);
  for (Entry& entry : entries) fail_one(entry, error, at_commit, outbox);
}

// Those of one key keep their order.
void Batch::send_again(std::vector<Entry>&& entries, bool singly) {
  if (singly || singles_ > 0) singles_ += entries.size();
  waiting_.insert(waiting_.begin(), entries.begin(), entries.end());
}

void Batch::fail_one(Entry& entry, const SqlError& error, bool at_commit, stores::Outbox& outbox) {
  if (error.number == deadlock && ++entry.deadlocks < most_deadlocks) {
    std::vector<Entry> again{entry};
    return send_again(std::move(again), true);
  }
  if (error.number == lock_wait_timeout) {
    return outbox.complete_unknown(*entry.request, *entry.sink,
                                   "another transaction has locked the row of the key for too long",
                                   true);
  }
  if (is_transient(error.number) || at_commit) {
    return outbox.complete_unknown(*entry.request, *entry.sink, error_text(error),
                                   is_transient(error.number));
  }
  const std::string meaning = layout_.meaning(error);
  outbox.refuse(*entry.request, *entry.sink, meaning.empty() ? error_text(error) : meaning);
}

void Batch::lose(const std::string& why, stores::Outbox& outbox) {
  for (const Entry& entry : std::exchange(sent_, {})) {
    outbox.complete_unknown(*entry.request, *entry.sink, why, false);
  }
  undo_ = false;
}

void Batch::refuse_waiting(const std::string& why, stores::Outbox& outbox) {
  for (const Entry& entry : std::exchange(waiting_, {})) {
    outbox.refuse(*entry.request, *entry.sink, why);
  }
  singles_ = 0;
}

void Batch::forget() noexcept {
  waiting_.clear();
  sent_.clear();
  polls_.clear();
  singles_ = 0;
  undo_ = false;
}

}  // namespace latchkey::inline v1::detail::mysql
