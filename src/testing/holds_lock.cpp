// How HoldsLock checks holds, and how it explains the result.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/holds_lock.hpp>

#include <ostream>

namespace latchkey::inline v1::testing {
namespace {

/// GoogleMock may pass a null stream to a matcher.
template <class... Words>
void say(std::ostream* out, const Words&... words) {
  if (out != nullptr) (*out << ... << words);
}

LockType family(LockType type) noexcept {
  const bool read_write = type == LockType::READ || type == LockType::WRITE;
  return read_write ? type : LockType::REENTRANT;
}

}  // namespace

bool HoldsLockMatcher::MatchAndExplain(const Hold& hold, std::ostream* out) const {
  if (hold.key().empty()) {
    say(out, "which is empty");
    return false;
  }
  say(out, "which is the ", to_string(hold.type()), " lock '", hold.key(), "'",
      hold.lost() ? ", and lost" : "");
  return hold.covers(key_) && fits(hold.type()) && !hold.lost();
}

bool HoldsLockMatcher::MatchAndExplain(const Hold* hold, std::ostream* out) const {
  if (hold != nullptr) return MatchAndExplain(*hold, out);
  say(out, "which is null: no decorated call of this thread holds anything");
  return false;
}

bool HoldsLockMatcher::MatchAndExplain(const Locks& locks, std::ostream* out) const {
  const LockInfo info = locks.inspect(key_);
  if (!info.locked) {
    say(out, "where nobody holds '", info.key, "'");
    return false;
  }
  say(out, "where '", info.key, "' is held as ", to_string(info.type), " by ",
      info.holders.empty() ? "somebody" : info.holders.front().id);
  return fits(info);
}

bool HoldsLockMatcher::MatchAndExplain(const ScopedLocks& locks, std::ostream* out) const {
  return MatchAndExplain(locks.locks(), out);
}

bool HoldsLockMatcher::fits(const LockInfo& info) const noexcept {
  return !type_ || family(*type_) == family(info.type);
}

void HoldsLockMatcher::DescribeTo(std::ostream* out) const {
  say(out, "holds the ", type_ ? to_string(*type_) : "", type_ ? " " : "", "lock '", key_, "'");
}

void HoldsLockMatcher::DescribeNegationTo(std::ostream* out) const {
  say(out, "does not hold the ", type_ ? to_string(*type_) : "", type_ ? " " : "", "lock '", key_,
      "'");
}

}  // namespace latchkey::inline v1::testing
