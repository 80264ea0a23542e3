// The locks that `latchkey top` has seen so far, with a history of each.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/observed_locks.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "cli/look/lock_state.hpp"

namespace latchkey::inline v1::cli {
namespace {

using std::chrono::milliseconds;

/// The contention of a lock counts its last samples, at most so many.
constexpr unsigned most_samples = 64;

/// Empty: the backend cannot read who holds the lock.
std::string_view first_holder(const LockInfo& info) {
  return info.holders.empty() ? std::string_view() : info.holders.front().id;
}

bool same_holder(const LockInfo& one, const LockInfo& other) {
  return one.locked && other.locked && first_holder(one) == first_holder(other);
}

}  // namespace

ObservedLocks::Lock& ObservedLocks::at(const std::string& key) {
  const auto [place, added] = locks_.try_emplace(key);
  if (added) rotation_.push_back(key);
  return place->second;
}

void ObservedLocks::found(std::span<const std::string> keys) {
  for (const std::string& key : keys) at(key).scan = scan_;
}

void ObservedLocks::end_scan() {
  std::erase_if(locks_, [this](const auto& entry) {
    const Lock& lock = entry.second;
    return lock.scan != scan_ && lock.waiters == 0;
  });
  std::erase_if(rotation_, [this](const std::string& key) { return !locks_.contains(key); });
  ++scan_;
}

void ObservedLocks::awaited(const ListPage& page) {
  for (auto& [key, lock] : locks_) lock.waiters = lock.listed = 0;
  for (std::size_t index = 0; index < page.names.size(); ++index) {
    Lock& lock = at(page.names[index]);
    lock.waiters = lock.listed = page.waiters[index];
  }
  awaited_ = page.names;  // from several servers, so not in order
  std::ranges::sort(awaited_, std::greater(),
                    [this](const std::string& key) { return locks_.at(key).waiters; });
  awaited_keys_ = std::max<std::size_t>(page.total, awaited_.size());
  all_waiters_ = std::accumulate(page.waiters.begin(), page.waiters.end(), std::uint64_t{0});
  for (auto& [key, lock] : locks_) {
    lock.samples = (lock.samples << 1) | (lock.waiters > 0 ? 1U : 0U);
    lock.sampled = std::min(lock.sampled + 1, most_samples);
  }
}

void ObservedLocks::update(Lock& lock, const LockInfo& info, TimePoint now) {
  if (!lock.info || !same_holder(*lock.info, info)) {
    lock.since_is_exact = lock.info.has_value();
    lock.held_since = now;
  }
  lock.info = info;
  lock.inspected_at = now;
  lock.waiters = std::max(lock.listed, waiters(info).value_or(0));
}

void ObservedLocks::inspected(std::span<const LockInfo> infos, TimePoint now) {
  for (const LockInfo& info : infos) {
    const auto lock = locks_.find(info.key);
    if (lock == locks_.end()) continue;
    update(lock->second, info, now);
  }
}

std::vector<std::string> ObservedLocks::to_inspect(std::span<const std::string> visible,
                                                   std::size_t most) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> chosen;
  const auto choose = [&](const std::string& key) {
    if (keys.size() < most && locks_.contains(key) && chosen.insert(key).second) {
      keys.push_back(key);
    }
  };
  for (const std::string& key : visible) choose(key);
  for (const std::string& key : awaited_) choose(key);
  for (std::size_t left = rotation_.size(); left > 0 && keys.size() < most; --left) {
    std::string key = std::move(rotation_.front());
    rotation_.pop_front();
    if (!locks_.contains(key)) continue;
    choose(key);
    rotation_.push_back(std::move(key));
  }
  return keys;
}

// A lock that has been released stays known until a scan does not find it, but is not shown.
bool ObservedLocks::is_shown(const Lock& lock) noexcept {
  return !lock.info || lock.info->locked || lock.waiters > 0;
}

std::size_t ObservedLocks::size() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(locks_, [](const auto& entry) { return is_shown(entry.second); }));
}

LockRow ObservedLocks::row_of(const std::string& key, const Lock& lock, TimePoint now) {
  LockRow row;
  row.key = key;
  row.waiters = lock.waiters;
  const std::uint64_t valid =
      lock.sampled >= most_samples ? ~std::uint64_t{0} : (std::uint64_t{1} << lock.sampled) - 1;
  const auto waited = static_cast<unsigned>(std::popcount(lock.samples & valid));
  row.contention = lock.sampled == 0 ? 0 : waited * 100 / lock.sampled;
  if (!lock.info) return row;
  const LockInfo& info = *lock.info;
  row.type = info.locked ? std::string(type_text(info)) : "free";
  if (!info.locked) return row;
  row.held = std::chrono::floor<milliseconds>(now - lock.held_since);
  row.held_longer = !lock.since_is_exact;
  if (info.holders.empty()) return row;
  const HolderInfo& holder = info.holders.front();
  row.holder = holder.announced.empty() ? holder.id : holder.announced;
  row.holders = info.holders.size();
  row.endless = !holder.left;
  const auto since = std::chrono::floor<milliseconds>(now - lock.inspected_at);
  if (holder.left) row.left = std::max(*holder.left - since, milliseconds(0));
  for (const HolderInfo& each : info.holders) {
    if (!each.revoked) continue;
    row.revoked = std::min(row.revoked.value_or(milliseconds::max()), *each.revoked + since);
  }
  return row;
}

std::vector<LockRow> ObservedLocks::rows(const RowOrder& order, TimePoint now) const {
  std::vector<LockRow> rows;
  for (const auto& [key, lock] : locks_) {
    if (!is_shown(lock)) continue;
    LockRow row = row_of(key, lock, now);
    if (fits(row, order)) rows.push_back(std::move(row));
  }
  std::ranges::sort(
      rows, [&](const LockRow& one, const LockRow& other) { return precedes(one, other, order); });
  return rows;
}

}  // namespace latchkey::inline v1::cli
