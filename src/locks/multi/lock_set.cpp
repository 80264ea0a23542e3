// Sorting several locks, and refusing sets that contradict themselves.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/lock_set.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <latchkey/error.hpp>

#include "locks/hold/key_names.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

bool same_lock(const LockMember& left, const LockMember& right) noexcept {
  return left.key == right.key && &left.space->space() == &right.space->space();
}

void require_agreement(const LockMember& left, const LockMember& right) {
  if (left.type != right.type) {
    throw KeyError("several locks at once name the key '" + left.key + "' as " +
                   std::string(to_string(left.type)) + " and as " +
                   std::string(to_string(right.type)) +
                   ": one key has one type, say WRITE for both");
  }
  if (left.owner != right.owner) {
    throw KeyError(
        "several locks at once name the key '" + left.key +
        "' for two owners, of which one would wait for the other for ever: name it once");
  }
}

}  // namespace

LockSet::LockSet(std::vector<LockMember> members) : members_(std::move(members)) {
  if (members_.empty()) {
    throw KeyError("several locks at once need at least 1 key: there is none");
  }
  // A backend's description is the same in every process; two of one description are sorted by age.
  // Descriptions are only composed for sets of several backends, which are rare.
  std::map<const LockSpace*, std::string> names;
  const SpaceRef* const space_of_first = members_.front().space.get();
  const bool one_space = std::ranges::all_of(
      members_, [&](const LockMember& one) { return one.space.get() == space_of_first; });
  for (const LockMember& one : members_) {
    const LockSpace& space = one.space->space();
    if (!one_space && !names.contains(&space)) names.emplace(&space, space.describe());
  }
  std::vector<std::size_t> order(members_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t first, std::size_t second) {
    const LockMember &left = members_[first], &right = members_[second];
    if (one_space || left.key != right.key) return left.key < right.key;
    const LockSpace& one = left.space->space();
    const LockSpace& other = right.space->space();
    return std::tuple(names[&one], one.number()) < std::tuple(names[&other], other.number());
  });
  arrange(order);
  if (members_.size() > most) {
    throw KeyError("several locks at once are at most 1000 keys: these are " +
                   std::to_string(members_.size()));
  }
}

// `order` has the numbers of the given locks, sorted. A lock that was given twice stays once.
void LockSet::arrange(std::span<const std::size_t> order) {
  std::vector<LockMember> sorted;
  sorted.reserve(order.size());
  places_.resize(order.size());
  for (const std::size_t given : order) {
    LockMember& member = members_[given];
    const bool again = !sorted.empty() && same_lock(sorted.back(), member);
    if (again) require_agreement(sorted.back(), member);
    if (!again) sorted.push_back(std::move(member));
    places_[given] = static_cast<std::uint16_t>(sorted.size() - 1);  // at most 1000 are accepted
  }
  members_ = std::move(sorted);
}

std::string LockSet::name() const {
  std::string text;
  append_keys(text, members_.size(), [&](std::size_t index) {
    return members_[index].space->space().without_prefix(key_of(index));
  });
  return text;
}

}  // namespace latchkey::inline v1::detail
