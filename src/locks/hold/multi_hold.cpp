// The state behind a Hold of several keys.
// SPDX-License-Identifier: BSL-1.0
#include "locks/hold/multi_hold.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "locks/coordinator/coordinator.hpp"
#include "locks/space/blocking_call.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

/// The extend or the release of one of the holds.
struct MultiHold::Part {
  explicit Part(const SingleHold& its)
      : hold(its), space(its.remote().space), key(its.remote().home->key.view()), call(*space) {}

  SingleHold hold;
  LockSpace* space;
  std::string key;  ///< with its prefix, for an error, which is thrown when the hold is gone
  BlockingCall call;

  [[nodiscard]] bool failed() const noexcept {
    const bool is_value = call.answer() == Answer::lost || call.answer() == Answer::too_long;
    return call.answer() != Answer::granted && !is_value;
  }
  [[noreturn]] void fail(const ErrorContext* context = nullptr) {
    call.fail(call.answer(), key, call.call().asked, context);
  }
  void report() noexcept {
    const LockType type = hold.terms().type;
    try {
      fail();
    } catch (const LockError& error) {
      space->reporter().unlock_failed(error);
    } catch (const std::bad_alloc&) {
      space->reporter().error(Event::Kind::unlock_error, space->without_prefix(key), type,
                              "out of memory");
    }
  }

  /// Waits for all. Throws about the first that failed; otherwise returns whether all succeeded.
  static bool finish(std::list<Part>& parts, const ErrorContext* context = nullptr) {
    for (Part& part : parts) part.call.finish();
    bool all = true;
    for (Part& part : parts) {
      if (part.failed()) part.fail(context);
      all = all && part.call.answer() == Answer::granted;
    }
    return all;
  }
};

// Memory that only many keys need is freed, not kept for the next use.
void MultiHold::reset() noexcept LATCHKEY_NO_THREAD_SAFETY_ANALYSIS {
  constexpr std::size_t few = 16, short_name = 512;
  if (holds_.capacity() > few) holds_ = std::vector<SingleHold>();
  if (name_.capacity() > short_name) name_ = std::string();
  if (named_.capacity() > few) named_ = std::vector<std::uint16_t>();
  holds_.clear();
  named_.clear();
  name_.clear();
  end_forwards();
  loss_.source = revocation_.source = std::stop_source(std::nostopstate);
}

bool MultiHold::covers(std::string_view key) const noexcept {
  return std::ranges::any_of(holds_, [&](const SingleHold& hold) { return hold.covers(key); });
}

void MultiHold::hold_for(std::chrono::milliseconds time) noexcept {
  for (SingleHold& hold : holds_) hold.hold_for(time);
}

std::string MultiHold::id() const {
  std::string text;
  for (const SingleHold& hold : holds_) {
    if (!text.empty()) text += ',';
    text += hold.id();
  }
  return text;
}

std::chrono::milliseconds MultiHold::remaining() const noexcept {
  auto least = std::chrono::milliseconds::max();
  for (const SingleHold& hold : holds_) least = std::min(least, hold.remaining());
  return least;
}

std::optional<std::uint64_t> MultiHold::fencing_token(std::string_view key) const noexcept {
  const auto found = std::ranges::find(holds_, key, &SingleHold::key);
  return found == holds_.end() ? std::nullopt : found->fencing_token();
}

std::optional<Fence> MultiHold::fence(std::string_view key) const {
  const auto found = std::ranges::find(holds_, key, &SingleHold::key);
  return found == holds_.end() ? std::nullopt : found->fence(key);
}

const SingleHold* MultiHold::named_at(std::size_t index) const noexcept {
  if (index >= (named_.empty() ? holds_.size() : named_.size())) return nullptr;
  return &holds_[named_.empty() ? index : named_[index]];
}

std::optional<std::uint64_t> MultiHold::fencing_token(std::size_t index) const noexcept {
  const SingleHold* const found = named_at(index);
  return found == nullptr ? std::nullopt : found->fencing_token();
}

std::optional<Fence> MultiHold::fence(std::size_t index) const {
  const SingleHold* const found = named_at(index);
  return found == nullptr ? std::nullopt : found->fence(found->key());
}

bool MultiHold::lost() const noexcept {
  return std::ranges::any_of(holds_, [](const SingleHold& hold) { return hold.lost(); });
}

template <class TokenOf, class Requested>
std::stop_token MultiHold::joint_token(JointStop& stop, const TokenOf& token_of,
                                       const Requested& requested) {
  if (!stop.source.stop_possible()) {
    stop.source = std::stop_source();
    for (const SingleHold& hold : holds_) {
      if (hold.inherited()) continue;
      stop.forwards.emplace_back(token_of(hold), ForwardStop{*hold.remote().space, stop.source});
    }
    if (requested()) stop.source.request_stop();  // no callback is registered yet
  }
  return stop.source.get_token();
}

std::stop_token MultiHold::stop_token() {
  const ScopedLock lock(mutex_);
  return joint_token(
      loss_, [](const SingleHold& hold) { return hold.stop_token(); }, [&] { return lost(); });
}

// Each is asked, so that each listens.
bool MultiHold::revoked() const noexcept {
  bool any = false;
  for (const SingleHold& hold : holds_) any = hold.revoked() || any;
  return any;
}

std::stop_token MultiHold::revocation_token() {
  const ScopedLock lock(mutex_);
  return joint_token(
      revocation_, [](const SingleHold& hold) { return hold.revocation_token(); },
      [&] { return revoked(); });
}

void MultiHold::ForwardStop::operator()() noexcept { space.reporter().post(std::move(to)); }

bool MultiHold::extend(std::chrono::milliseconds lease) {
  std::list<Part> parts;
  for (const SingleHold& hold : holds_) {
    if (hold.inherited()) continue;
    hold.remote().space->require_offered(Lease(lease));
    parts.emplace_back(hold);
  }
  for (Part& part : parts) {
    part.call.start_extend(part.hold.remote(), part.hold.terms().type, lease);
  }
  return Part::finish(parts) && parts.size() == holds_.size();
}

// A release that is answered at once waits for nobody, so one may follow the other.
void MultiHold::release_at_once(std::span<SingleHold>& left,
                                std::chrono::milliseconds linger) noexcept {
  const auto released = [&](const SingleHold& hold) {
    if (hold.inherited()) return false;
    return hold.remote().space->release_at_once(hold.remote(), hold.terms(), linger);
  };
  while (!left.empty() && released(left.front())) left = left.subspan(1);
}

// Throws std::bad_alloc; `left` then has what is still to be released.
void MultiHold::start_release(std::list<Part>& parts, std::span<SingleHold>& left,
                              std::chrono::milliseconds linger) {
  require_parker();
  for (; !left.empty(); left = left.subspan(1)) {
    const SingleHold& hold = left.front();
    if (hold.inherited()) continue;
    parts.emplace_back(hold).call.start_release(hold.remote(), hold.terms(), linger);
  }
}

// Releases one hold after the other, which needs no memory.
void MultiHold::release_each_quietly(std::span<SingleHold> holds,
                                     std::chrono::milliseconds linger) noexcept {
  for (SingleHold& hold : holds) hold.release_quietly(linger);
}

bool MultiHold::release(std::chrono::milliseconds linger, const ErrorContext* context) {
  end_forwards();
  std::span<SingleHold> left(holds_);
  release_at_once(left, linger);
  if (left.empty()) return true;
  const std::size_t size = left.size();
  std::list<Part> parts;
  try {
    start_release(parts, left, linger);
  } catch (const std::bad_alloc&) {
    release_each_quietly(left, linger);
    throw;
  }
  const bool all = Part::finish(parts, context) && parts.size() == size;
  if (all || context == nullptr || parts.empty()) return all;
  const auto lost =
      std::ranges::find(parts, Answer::lost, [](const Part& part) { return part.call.answer(); });
  Part& part = lost != parts.end() ? *lost : parts.front();
  const std::string key = part.space->options().prefix + name_;
  part.call.fail(Answer::lost, key, part.call.call().asked, context);
}

void MultiHold::release_quietly(std::chrono::milliseconds linger) noexcept {
  end_forwards();
  if (holds_.front().terms().detached) return release_each_quietly(holds_, linger);
  std::span<SingleHold> left(holds_);
  release_at_once(left, linger);
  if (left.empty()) return;
  std::list<Part> parts;
  try {
    start_release(parts, left, linger);
  } catch (const std::bad_alloc&) {
    release_each_quietly(left, linger);
  }
  for (Part& part : parts) {
    part.call.finish();
    if (part.failed()) part.report();
  }
}

}  // namespace latchkey::inline v1::detail
