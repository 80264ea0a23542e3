// The lock table of the memory backend as a store, some of whose keys may be moving to another
// node.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/simulator/store/store.hpp"

namespace latchkey::inline v1::sim {
namespace {

/// The rule of lua/parts/dead_readers.lua: a reader is dead if its timeout is missing and this node
/// is known to have every key of the slot.
bool is_dead(bool timeout_is_here, bool slot_is_whole) noexcept {
  return !timeout_is_here && slot_is_whole;
}

/// Which keys of a READ or WRITE lock have reached the new node.
struct Migration {
  bool hash = false;
  std::vector<HoldId> timeouts;

  [[nodiscard]] bool has(const HoldId& reader) const noexcept {
    return std::find(timeouts.begin(), timeouts.end(), reader) != timeouts.end();
  }
  /// Whether one node has both the hash and the reader's timeout.
  [[nodiscard]] bool beside_the_hash(const HoldId& reader) const noexcept {
    return has(reader) == hash;
  }
};

/// Behaves as scripts on two nodes of a cluster: the node that has the lock's hash carries a
/// request out, and a node that has some of a request's keys but not all rejects it.
class TableStore final : public Store {
 public:
  using Store::Store;

  [[nodiscard]] Capabilities offers() const noexcept override {
    Capabilities all;
    all.fair = all.read_write = all.fenced = all.pushes = all.administration = true;
    all.grants = all.permits = all.tokens = all.recalls = true;
    return all;
  }

  Outcome apply(const Request& request, detail::Subscriber* connection) override {
    const auto moving = migrations_.find(request.key);
    const bool of_a_client = connection != nullptr && moving != migrations_.end();
    const bool about_channels =
        request.verb == Verb::subscribe || request.verb == Verb::unsubscribe;
    if (request.verb == Verb::acquire_all && !migrations_.empty()) return in_two_places();
    if (of_a_client && !about_channels) {
      if (needs_timeout(request)) {
        const bool all_here = holds(request.key, request.id, LockType::READ) &&
                              moving->second.beside_the_hash(request.id);
        if (!all_here) return in_two_places();
      } else if (readers_of(request.key).empty() && request.verb == Verb::acquire) {
        moving->second.hash = true;  // a new key of a moving slot is created on the new node
      }
      if (request.verb == Verb::release && request.type == LockType::READ) {
        drop_dead_readers(request, moving->second, connection);
      }
    }
    Outcome outcome = table_->apply(request, clock().now(), connection);
    if (request.verb == Verb::acquire && outcome.place != 0) {
      tell(recalls_, request.key, connection, Notification::Kind::wanted);
    }
    if (outcome.kind == Outcome::Kind::granted && changes_key(request.verb)) {
      tell(watchers_, request.key, connection, Notification::Kind::changed);
    }
    if (request.recall) watch_queue(request, connection, outcome);
    const bool reads = (request.verb == Verb::acquire && request.type == LockType::READ) ||
                       request.verb == Verb::downgrade;
    if (reads && outcome.kind == Outcome::Kind::granted) {
      readers_[std::string(request.key)].push_back(request.id);
    }
    return outcome;
  }

  void unsubscribe(const detail::Subscriber& connection) noexcept override {
    table_->forget(connection);
    for (Watchers* const all : {&recalls_, &watchers_}) {
      std::erase_if(*all, [&](const auto& each) { return each.second == &connection; });
    }
  }
  void restart() override {
    table_ = std::make_unique<detail::LockTable>();
    end_migrations();
  }

  void migrate(const std::string& key, Random& random) override {
    const auto [place, begins] = migrations_.try_emplace(key);
    if (begins) return;
    Migration& moving = place->second;
    std::vector<HoldId> left;
    for (const HoldId& reader : readers_of(key)) {
      if (!moving.has(reader)) left.push_back(reader);
    }
    const std::uint64_t choice = random.below(left.size() + 2);
    if (choice < left.size()) {
      moving.timeouts.push_back(left[choice]);
    } else if (!moving.hash) {
      moving.hash = true;
    } else if (choice > left.size()) {
      migrations_.erase(place);
    }
  }
  void end_migrations() override { migrations_.clear(); }

  [[nodiscard]] std::size_t left(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      (void)Store::holds(key, HoldId{});
      if (!is_locked(key)) force_release(key);  // a semaphore of which all permits are available
    }
    return table_->size();
  }

 private:
  /// By key.
  using Watchers = std::multimap<std::string, detail::Subscriber*, std::less<>>;

  static Outcome in_two_places() {
    Outcome outcome;
    outcome.kind = Outcome::Kind::unknown;
    outcome.reason = "the key is moving to another node of the cluster";
    return outcome;
  }

  /// The script of this request has the reader's timeout among its keys.
  static bool needs_timeout(const Request& request) noexcept {
    const bool read_or_write = request.type == LockType::READ || request.type == LockType::WRITE;
    return request.type == LockType::READ || request.verb == Verb::downgrade ||
           (request.verb == Verb::leave && read_or_write);
  }

  bool holds(std::string_view key, const HoldId& id, LockType type) {
    Request request;
    request.verb = Verb::verify;
    request.key = key;
    request.id = id;
    request.type = type;
    return table_->apply(request, clock().now()).kind == Outcome::Kind::granted;
  }

  std::vector<HoldId>& readers_of(std::string_view key) {
    std::vector<HoldId>& all = readers_[std::string(key)];
    std::erase_if(all, [&](const HoldId& id) { return !holds(key, id, LockType::READ); });
    return all;
  }

  /// The READs of all clients have one key, whose lease is the longest of theirs.
  static bool changes_key(Verb verb) noexcept {
    switch (verb) {
      case Verb::acquire:
      case Verb::release:
      case Verb::leave:
      case Verb::downgrade:
      case Verb::renew:
      case Verb::expire:
      case Verb::force_release: return true;
      default: return false;
    }
  }

  /// The connection is told of the next waiter in line and of the next change, and whether somebody
  /// waits already.
  void watch_queue(const Request& request, detail::Subscriber* connection, Outcome& outcome) {
    const auto* const record = table_->find(request.key, detail::hash_key(request.key));
    outcome.wanted = record != nullptr && (!record->processes.empty() || !record->queue.empty());
    if (outcome.kind != Outcome::Kind::granted) return;
    for (Watchers* const all : {&recalls_, &watchers_}) {
      all->emplace(std::string(request.key), connection);
    }
  }
  /// Tells each of them once. The one that has caused a change is not told, and not of the next.
  static void tell(Watchers& watchers, std::string_view key, const detail::Subscriber* cause,
                   Notification::Kind kind) {
    const auto [first, last] = watchers.equal_range(key);
    for (auto each = first; each != last;) {
      detail::Subscriber* const told = each->second;
      if (told == cause && kind != Notification::Kind::changed) {
        ++each;
        continue;
      }
      each = watchers.erase(each);
      if (told != cause) told->notify({.kind = kind, .key = key});
    }
  }

  void drop_dead_readers(const Request& release, const Migration& moving,
                         detail::Subscriber* connection) {
    for (const HoldId& reader : readers_of(release.key)) {
      if (reader == release.id) continue;
      if (!is_dead(moving.beside_the_hash(reader), false)) continue;
      Request drop = release;
      drop.id = reader;
      (void)table_->apply(drop, clock().now(), connection);
    }
  }

  std::unique_ptr<detail::LockTable> table_ = std::make_unique<detail::LockTable>();
  std::map<std::string, Migration, std::less<>> migrations_;
  Watchers recalls_;   ///< whom to tell of the next waiter
  Watchers watchers_;  ///< whom to tell of the next change
  std::map<std::string, std::vector<HoldId>> readers_;
};

}  // namespace

std::unique_ptr<Store> make_table_store(const Clock::duration& truth) {
  return std::make_unique<TableStore>(truth);
}

}  // namespace latchkey::inline v1::sim
