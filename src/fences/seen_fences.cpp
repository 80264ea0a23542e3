// The table of the highest tokens, in the order of their last use.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/fences/seen_fences.hpp>

#include <algorithm>
#include <list>
#include <string>
#include <unordered_map>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1 {

class SeenFences::Table {
 public:
  explicit Table(std::size_t most_keys) : most_keys_(std::max<std::size_t>(1, most_keys)) {}

  void admit(const Fence& fence) {
    const detail::ScopedLock lock(mutex_);
    const auto found = by_key_.find(fence.key);
    if (found == by_key_.end()) return add(fence);
    const std::uint64_t highest = found->second->token;
    if (fence.token < highest) throw FenceRejected(fence.key, fence.token, highest);
    found->second->token = fence.token;
    last_used_first_.splice(last_used_first_.begin(), last_used_first_, found->second);
  }

  [[nodiscard]] std::optional<std::uint64_t> highest(std::string_view key) {
    const detail::ScopedLock lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    return found->second->token;
  }

 private:
  struct Seen {
    std::string key;
    std::uint64_t token;
  };
  using SeenList = std::list<Seen>;

  void add(const Fence& fence) LATCHKEY_REQUIRES(mutex_) {
    if (fence.token < highest_forgotten_) {
      throw FenceRejected(fence.key, fence.token, highest_forgotten_, FenceRejected::Forgotten{});
    }
    SeenList added;
    added.push_back({fence.key, fence.token});
    by_key_.emplace(added.front().key, added.begin());
    last_used_first_.splice(last_used_first_.begin(), added);
    if (by_key_.size() > most_keys_) forget_one();
  }

  void forget_one() noexcept LATCHKEY_REQUIRES(mutex_) {
    const Seen& oldest = last_used_first_.back();
    highest_forgotten_ = std::max(highest_forgotten_, oldest.token);
    by_key_.erase(oldest.key);
    last_used_first_.pop_back();
  }

  const std::size_t most_keys_;
  detail::Mutex mutex_;
  std::uint64_t highest_forgotten_ LATCHKEY_GUARDED_BY(mutex_) = 0;
  SeenList last_used_first_ LATCHKEY_GUARDED_BY(mutex_);
  /// The keys are those of the list.
  std::unordered_map<std::string_view, SeenList::iterator> by_key_ LATCHKEY_GUARDED_BY(mutex_);
};

SeenFences::SeenFences(std::size_t most_keys) : table_(std::make_unique<Table>(most_keys)) {}
SeenFences::SeenFences(SeenFences&& other) noexcept = default;
SeenFences& SeenFences::operator=(SeenFences&& other) noexcept = default;
SeenFences::~SeenFences() = default;

void SeenFences::admit(const Fence& fence) { table_->admit(fence); }

std::optional<std::uint64_t> SeenFences::highest(std::string_view key) const {
  return table_->highest(key);
}

}  // namespace latchkey::inline v1
