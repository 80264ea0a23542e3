// What a Hold of several keys holds.
#include "locks/hold/multi_hold.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "locks/multi/lock_set.hpp"
#include "locks/space/blocking_call.hpp"

namespace latchkey::detail {

/// One member's part in an extend or a release.
struct MultiHold::Part {
  Part(const Hold& of, RemoteHold& remote)
      : hold(&remote),
        space(remote.space),
        type(of.terms_.type),
        watched(of.terms_.watchdog),
        key(remote.home->key.view()),
        call(*space) {}

  RemoteHold* hold;
  LockSpace* space;
  LockType type;
  bool watched;
  std::string key;  ///< for the sentence that is said when the hold is gone
  BlockingCall call;

  [[nodiscard]] bool failed() const noexcept {
    return call.answer() != Answer::granted && call.answer() != Answer::lost;
  }
  [[noreturn]] void fail(const Asker* asker = nullptr) {
    call.fail(call.answer(), key, call.call().asked, asker);
  }

  /// Waits for all, then says of all what there is to say of one: the first that failed, else
  /// whether all went well.
  static bool finish(std::deque<Part>& parts, const Asker* asker = nullptr) {
    for (Part& part : parts) part.call.finish();
    bool all = true;
    for (Part& part : parts) {
      if (part.failed()) part.fail(asker);
      all = all && part.call.answer() == Answer::granted;
    }
    return all;
  }
};

MultiHold::MultiHold(const LockSet& set, std::vector<Hold> holds)
    : name_(set.name()), holds_(std::move(holds)) {}

Hold MultiHold::wrap(const LockSet& set, std::vector<Hold> holds) {
  const LockType type = holds.front().type();
  auto together = std::make_unique<MultiHold>(set, std::move(holds));
  return Hold(together.release(), {.type = type, .several = true});
}

std::string MultiHold::ids() const {
  std::string text;
  for (const Hold& hold : holds_) {
    if (!text.empty()) text += ',';
    text += hold.id();
  }
  return text;
}

std::chrono::milliseconds MultiHold::remaining() const noexcept {
  auto least = std::chrono::milliseconds::max();
  for (const Hold& hold : holds_) least = std::min(least, hold.remaining());
  return least;
}

bool MultiHold::lost() const noexcept {
  return std::ranges::any_of(holds_, [](const Hold& hold) { return hold.lost(); });
}

bool MultiHold::covers(std::string_view key) const noexcept {
  return std::ranges::any_of(holds_, [&](const Hold& hold) { return hold.key() == key; });
}

std::optional<std::uint64_t> MultiHold::fencing_token(std::string_view key) const noexcept {
  for (const Hold& hold : holds_) {
    if (hold.key() == key) return hold.fencing_token();
  }
  return std::nullopt;
}

std::stop_token MultiHold::stop_token() {
  const std::lock_guard guard(mutex_);
  if (!stop_.stop_possible()) {
    stop_ = std::stop_source();
    for (const Hold& hold : holds_) {
      RemoteHold* const remote = hold.remote();
      if (remote == nullptr) continue;  // lost to a fork
      passed_on_.emplace_back(hold.stop_token(), PassOn{*remote->space, stop_});
    }
    if (lost()) stop_.request_stop();  // nobody listens to it yet
  }
  return stop_.get_token();
}

void MultiHold::PassOn::operator()() noexcept { space.request_stop(std::move(to)); }

bool MultiHold::extend(std::chrono::milliseconds lease) {
  std::deque<Part> parts;
  for (const Hold& hold : holds_) {
    if (RemoteHold* const remote = hold.remote()) parts.emplace_back(hold, *remote);
  }
  for (Part& part : parts)
    part.call.begin_extend(*part.hold, part.type, Lease(lease).length(lease));
  return Part::finish(parts) && parts.size() == holds_.size();
}

void MultiHold::begin_release(std::deque<Part>& parts, std::chrono::milliseconds linger) {
  {
    const std::lock_guard guard(mutex_);
    passed_on_.clear();  // a stop request that comes from now on is about nothing that is held
  }
  for (Hold& hold : holds_) {
    RemoteHold* const remote = hold.remote();
    if (remote == nullptr) continue;
    Part& part = parts.emplace_back(hold, *remote);
    part.call.begin_release(*remote, part.type, part.watched, linger);
    hold.held_ = nullptr;  // from here on it is the call's
  }
}

bool MultiHold::release(std::chrono::milliseconds linger, const Asker* asker) {
  std::deque<Part> parts;
  begin_release(parts, linger);
  const bool all = Part::finish(parts, asker) && parts.size() == holds_.size();
  if (all || asker == nullptr || parts.empty()) return all;
  const auto lost =
      std::ranges::find(parts, Answer::lost, [](const Part& part) { return part.call.answer(); });
  Part& part = lost != parts.end() ? *lost : parts.front();
  part.call.fail(Answer::lost, name_, part.call.call().asked, asker);
}

void MultiHold::release_quietly(std::chrono::milliseconds linger) noexcept {
  std::deque<Part> parts;
  try {
    begin_release(parts, linger);
  } catch (const std::bad_alloc&) {
    // One after the other then, which needs no memory.
    for (Hold& hold : holds_) hold.release_quietly_after(linger);
  }
  for (Part& part : parts) {
    part.call.finish();
    if (!part.failed()) continue;
    try {
      part.fail();
    } catch (const LockError& error) {
      part.space->report(Event::Kind::unlock_error, part.key, part.type, error.what());
    } catch (const std::bad_alloc&) {
      part.space->report(Event::Kind::unlock_error, part.key, part.type, "out of memory");
    }
  }
}

}  // namespace latchkey::detail
